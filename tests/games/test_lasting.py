"""A mute, a bar and a suspension last as long as the longest of them asks for that still stands."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.models import FOREVER, User
from games.models import Act, Letter, Reason
from games.moderation import acts, undoing
from games.moderation.acts import Why
from games.moderation.statements import statement_of
from tests.games.night_watch import moderator, somebody

pytestmark = pytest.mark.django_db
WHY = Why(Reason.INSULT)
Doing = Callable[[User, User, datetime, Why], Act]
each = pytest.mark.parametrize(
    ("do", "field"),
    [(acts.mute, "muted_until"), (acts.bar, "barred_until"), (acts.suspend, "suspended_until")],
    ids=["mute", "bar", "suspend"],
)


def lasts(person: User, field: str) -> datetime | None:
    until: datetime | None = User.objects.values_list(field, flat=True).get(pk=person.pk)
    return until


@each
def test_a_shorter_one_on_top_shortens_nothing_even_from_a_page_that_is_out_of_date(do: Doing, field: str) -> None:
    juve, max_ = moderator(), somebody("Max")
    stale = User.objects.get(pk=max_.pk)
    do(juve, max_, FOREVER, WHY)
    do(moderator("Lupin"), stale, timezone.now() + timedelta(hours=1), WHY)
    assert lasts(max_, field) == getattr(stale, field) == FOREVER


@each
@pytest.mark.parametrize("first", ["the longer", "the shorter"])
@pytest.mark.both_databases
def test_undoing_either_of_two_leaves_what_the_other_asks_for(do: Doing, field: str, first: str) -> None:
    juve, max_ = moderator(), somebody("Max")
    hour = timezone.now() + timedelta(hours=1)
    longer, shorter = do(juve, max_, FOREVER, WHY), do(juve, max_, hour, WHY)
    one, other, left = (longer, shorter, hour) if first == "the longer" else (shorter, longer, FOREVER)
    undoing.undo(Act.objects.get(pk=one.pk), juve)
    assert lasts(max_, field) == left
    undoing.undo(Act.objects.get(pk=other.pk), juve)
    assert lasts(max_, field) is None


@each
def test_one_that_is_over_lengthens_nothing(do: Doing, field: str) -> None:
    max_, until = somebody("Max"), timezone.now() + timedelta(hours=1)
    User.objects.filter(pk=max_.pk).update(**{field: timezone.now() - timedelta(days=1)})
    do(moderator(), max_, until, WHY)
    assert lasts(max_, field) == until


@each
def test_the_log_has_what_was_asked_for_and_what_came_of_it(do: Doing, field: str) -> None:
    juve, max_, hour = moderator(), somebody("Max"), timezone.now() + timedelta(hours=1)
    do(juve, max_, FOREVER, WHY)
    act = do(juve, max_, hour, WHY)
    assert act.until == hour
    assert act.before == act.after == {"until": FOREVER.isoformat()}


@each
def test_a_letter_about_what_is_for_good_speaks_of_no_end(do: Doing, field: str) -> None:
    do(moderator(), somebody("Max"), FOREVER, WHY)
    said = statement_of(Letter.objects.get())
    (end,) = [fact for fact in said.facts if fact.label == "Until"]
    assert (end.value, end.at) == ("for good", None)
