"""Whoever has a side in a case neither works on it nor reads who said what."""

import importlib

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import User
from games import chat, rooms
from games.models import Case, Message, Reason, Report
from games.moderation import acts, cases, reports, undoing
from games.moderation.acts import Why
from games.moderation.reports import Moment
from tests.games.night_watch import client_of, decided, game_of, moderator, refused, reported, somebody

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def said_in(channel: str, author: User) -> Message:
    return Message.objects.create(channel=channel, audience="players", author=author, words="You fool")


def reported_for(message: Message, reporter: User) -> Case:
    return reports.file_report(reporter, message.author, Reason.INSULT, moment=Moment(message=message)).case


def pages_of(case: Case) -> tuple[str, str]:
    return f"/moderation/cases/{case.pk}/", f"/admin/games/case/{case.pk}/change/"


@pytest.mark.parametrize("side", ["the reported", "one at the table"])
def test_whoever_has_a_side_reads_how_a_case_stands_and_not_who_said_what(
    irma: User, max_: User, juve: User, side: str
) -> None:
    case = (reported(irma, juve) if side == "the reported" else reported(irma, max_, game=game_of(max_, juve))).case
    own, other = client_of(juve), client_of(moderator("Lupin"))
    for address in pages_of(case):
        shown = own.get(address).content.decode()
        assert "Irma Vep" not in shown
        assert "He shouts." not in shown
        assert "He shouts." in other.get(address).content.decode()
    page, _admin = pages_of(case)
    assert "You have a side in this case." in own.get(page).content.decode()
    for word in ("act", "decide"):
        assert "He shouts." not in own.post(f"{page}{word}/", {}).content.decode()


def test_nobody_reads_what_a_decision_about_themselves_says_of_who_reported(irma: User, juve: User) -> None:
    nick = moderator("Nick", administrator=True)
    case = cases.claim(reported(irma, juve).case, nick)
    act = decided(case, nick, words="Irma is believed.")
    undone = undoing.undo(act, nick, "Irma is not believed.")
    listed = ["/moderation/acts/", f"/moderation/people/{juve.pk}/", "/admin/games/act/"]
    for address in (*listed, f"/admin/games/act/{act.pk}/change/", f"/admin/games/act/{undone.pk}/change/"):
        assert "Irma is" not in client_of(juve).get(address).content.decode()
        assert "Irma is" in client_of(nick).get(address).content.decode()
    warned = acts.warn(nick, juve, Why(Reason.INSULT, "Not like this."))
    for address in (*listed, f"/admin/games/act/{warned.pk}/change/"):
        assert "Not like this." in client_of(juve).get(address).content.decode()


def test_whoever_has_a_side_is_not_told_of_further_reports(irma: User, juve: User) -> None:
    case = reported(irma, juve).case
    address = f"{pages_of(case)[0]}?mine=no&last=0"
    assert "Another report has come in" not in client_of(juve).get(address, headers=HTMX).content.decode()


@pytest.mark.parametrize("home", ["sits there", "owns it", "sat at the game"])
def test_nobody_works_on_what_was_said_where_they_are_at_home_even_once_it_is_forgotten(
    irma: User, max_: User, juve: User, home: str
) -> None:
    if home == "sat at the game":
        channel = chat.channel_of(game_of(max_, juve))
    else:
        room = rooms.open_room(juve if home == "owns it" else irma, size=3)
        rooms.sit(room, max_)
        if home == "sits there":
            rooms.sit(room, juve)
        channel = chat.channel_of_room(room)
    message = said_in(channel, max_)
    case = reported_for(message, irma)
    message.delete()
    assert refused(lambda: cases.claim(case, juve)) == "involved"
    assert refused(lambda: acts.warn(juve, max_, Why(Reason.INSULT))) == "involved"
    assert cases.claim(case, moderator("Lupin"))


def test_earlier_reports_learn_where_their_message_stands(irma: User, max_: User) -> None:
    report = reported_for(said_in("r-attic", max_), irma).reports.get()
    forgotten = reported(somebody("Fandor"), max_)
    Report.objects.filter(pk=forgotten.pk).update(message=0)
    Report.objects.update(channel="")
    migration = importlib.import_module("games.migrations.0022_report_channel")
    migration.fill(apps, connection.schema_editor())
    assert Report.objects.get(pk=report.pk).channel == "r-attic"
    assert Report.objects.get(pk=forgotten.pk).channel == ""
