"""Which moderator acted is for the log; and what the log keeps of people, it shows no more once they have left."""

import importlib
import re
from datetime import timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from accounts import closing, export
from accounts.models import FOREVER, Role, Trace, User
from games.models import Act, Message, Reason
from games.moderation import acts, reports, undoing
from games.moderation.acts import Why
from games.moderation.reports import Moment
from tests.games.night_watch import client_of, moderator, refused, somebody

pytestmark = pytest.mark.django_db
WHY = Why(Reason.NAME)


def everything_done_to(person: User, boss: User) -> list[Act]:
    lasting = [do(boss, person, FOREVER, WHY) for do in (acts.mute, acts.bar, acts.suspend)]
    return [*lasting, acts.rename(boss, person, WHY), acts.give_role(boss, person, Role.MODERATOR, WHY)]


def test_people_read_that_staff_acted_and_never_who_of_them() -> None:
    boss, max_ = moderator("Nick Carter", administrator=True), somebody("Max")
    for act in everything_done_to(max_, boss):
        max_.refresh_from_db()
        undoing.undo(act, boss)
    max_.refresh_from_db()
    assert set(Trace.objects.filter(user=max_).values_list("by", flat=True)) == {"staff"}
    assert "Nick" not in str(export.everything(max_))
    shown = client_of(max_).get("/account/sessions/").content.decode()
    assert "Nick" not in shown
    assert re.search(r"<td[^>]*>staff</td>", shown)


def test_earlier_lines_lose_the_moderators_name_and_what_one_did_oneself_stays_so() -> None:
    max_, kept = somebody("Max"), Trace.What
    for what, by in ((kept.MUTED, "Juve"), (kept.RENAMED, "Juve"), (kept.RENAMED, ""), (kept.RESCUED, "root@host")):
        Trace.objects.create(user=max_, what=what, by=by)
    importlib.import_module("accounts.migrations.0007_by_staff").no_names(apps, connection.schema_editor())
    assert list(Trace.objects.order_by("pk").values_list("by", flat=True)) == ["staff", "staff", "", "root@host"]


def test_whoever_has_left_is_not_called_by_a_former_name_and_what_they_said_is_not_shown() -> None:
    juve, max_ = moderator(), somebody("Rude Name")
    message = Message.objects.create(channel="g-x", audience="players", author=max_, words="You fool")
    reports.file_report(somebody("Fandor"), max_, Reason.INSULT, moment=Moment(message=message))
    done = [acts.rename(juve, max_, WHY), acts.hide(juve, message, WHY)]
    done += [undoing.undo(acts.hide(juve, message, WHY), juve)]
    office = client_of(juve)

    def shown() -> str:
        pages = [f"/admin/games/act/{act.pk}/change/" for act in done]
        pages += ["/moderation/acts/", f"/moderation/people/{max_.pk}/", "/admin/games/act/"]
        return "".join(office.get(page).content.decode() for page in pages)

    assert "Rude Name" in shown()
    assert "You fool" in shown()
    closing.delete(User.objects.get(pk=max_.pk))
    assert "Rude Name" not in shown()
    assert "You fool" not in shown()


def test_of_a_guest_whose_row_is_gone_nothing_is_undone_and_nothing_breaks() -> None:
    juve, guest = moderator(), User.objects.create_guest()
    act = acts.mute(juve, guest, timezone.now() + timedelta(days=1), WHY)
    guest.delete()
    assert refused(lambda: undoing.undo(Act.objects.select_related("person").get(pk=act.pk), juve)) == "cannot_undo"
    office = client_of(juve)
    assert office.post(f"/moderation/acts/{act.pk}/undo/").status_code == 302
    assert office.get(f"/admin/games/act/{act.pk}/change/").status_code == 200
