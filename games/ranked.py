"""Who may play ranked: people with an account and some games behind them, who are neither barred nor paused.

At one table no two of them share a household, and no two have met too often today.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations

from allauth.account.models import EmailAddress
from django.utils import timezone

from accounts import sessions
from accounts.models import User
from games.models import Rating, Seat

MOST_MEETINGS = 10

# Ranked games open to a person after so many casual games: played to their end, at least one full round, and no shorter
# than a person plays. A confirmed mail address makes it fewer. An account that was made a minute ago feeds no other.
GAMES_FIRST = 5
GAMES_FIRST_WITH_MAIL = 2
SHORTEST_MS = 2 * 60 * 1_000
# So many of a person's latest games are looked at.
LATEST_GAMES = 200

# Leaving ranked games: what counts, and how long one waits after the second time; each time four times as long.
REMEMBERED = timedelta(days=30)
FIRST_PAUSE = timedelta(minutes=10)
LONGER = 4
LONGEST_PAUSE = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Pause:
    """Until when somebody waits before the next ranked game, and how often they left one lately."""

    until: datetime
    times: int


def pause_of(person_id: int, now: datetime | None = None) -> Pause | None:
    """The pause of whoever left ranked games more than once in a month; it begins when they left the last one, which
    may go on without them."""
    now = now or timezone.now()
    left = Seat.objects.filter(
        user=person_id,
        forgiven=False,
        conduct__in=(Seat.Conduct.LEFT, Seat.Conduct.MISSED),
        game__ranked=True,
        left_at__gt=now - REMEMBERED,
    )
    moments = sorted(moment for moment in left.values_list("left_at", flat=True) if moment is not None)
    if len(moments) < 2:
        return None
    until = moments[-1] + pause_after(len(moments))
    return Pause(until, len(moments)) if until > now else None


@dataclass(frozen=True, slots=True)
class Newcomer:
    """How far a person is on the way to ranked games: casual games played, of those needed."""

    played: int
    needed: int
    has_mail: bool

    @property
    def with_mail(self) -> int:
        """How many games are enough with a confirmed mail address."""
        return GAMES_FIRST_WITH_MAIL


def newcomer_of(person: User) -> Newcomer | None:
    """How far this person is on the way to ranked games; None for an established player, who stays one."""
    if person.established_at is not None:
        return None
    has_mail = EmailAddress.objects.filter(user=person.pk, verified=True).exists()
    needed = GAMES_FIRST_WITH_MAIL if has_mail else GAMES_FIRST
    played = min(_games_played(person.pk), GAMES_FIRST)
    if played < needed and not Rating.objects.filter(user=person.pk).exists():
        return Newcomer(played, needed, has_mail)
    if not person.is_guest:
        User.objects.filter(pk=person.pk, established_at=None).update(established_at=timezone.now())
    return None


def _games_played(person_id: int) -> int:
    """How many of this person's latest games count towards ranked ones."""
    seats = Seat.objects.filter(user=person_id, ended__isnull=False).order_by("-ended", "-game")
    columns = ("conduct", "game__ranked", "game__reason", "game__rounds", "game__started_ms", "ended")
    return sum(_counts(*row) for row in seats.values_list(*columns)[:LATEST_GAMES])


def _counts(
    conduct: str, ranked: bool, reason: str, rounds: int, started_ms: int | None, ended: datetime | None
) -> bool:
    if ranked or reason == "void" or rounds < 1 or conduct != Seat.Conduct.FINISHED:
        return False
    if started_ms is None or ended is None:
        return False
    return ended.timestamp() * 1_000 - started_ms >= SHORTEST_MS


def pause_after(times: int) -> timedelta:
    """How long one waits after leaving so often: once is forgiven."""
    if times < 2:
        return timedelta(0)
    longer: int = LONGER ** min(times - 2, 8)
    return min(FIRST_PAUSE * longer, LONGEST_PAUSE)


def refusal_of_ranked(people: Collection[int], reader: int | None) -> str:
    """Why these people do not start a ranked game together now: a code of `rooms.REFUSALS`, or nothing.

    `reader` is who is told. What keeps somebody else from ranked games is nobody's business but theirs.
    """
    for person in sorted(User.objects.filter(pk__in=people), key=lambda person: person.pk != reader):
        if refused := _refusal_of(person):
            return refused if person.pk == reader else "company"
    if households_shared(people):
        return "household"
    if any(number >= MOST_MEETINGS for number in meetings_today(people).values()):
        return "met"
    return ""


def _refusal_of(person: User) -> str:
    if person.is_guest:
        return "guest"
    if person.is_barred or person.is_gone:
        return "barred"
    if newcomer_of(person) is not None:
        return "new"
    return "paused" if pause_of(person.pk) else ""


def households_shared(people: Collection[int]) -> set[frozenset[int]]:
    """The pairs among these people who use the site from one household: each household has one ranked seat."""
    homes = sessions.households_of(people)
    return {frozenset(pair) for pair in combinations(sorted(homes), 2) if homes[pair[0]] & homes[pair[1]]}


def meetings_today(people: Collection[int], now: datetime | None = None) -> Counter[frozenset[int]]:
    """How often each two of these people have met in ranked games since midnight (UTC)."""
    now = now or timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    seats = Seat.objects.filter(user__in=people, game__ranked=True, game__created__gte=midnight)
    at_table: dict[int, set[int]] = {}
    # Asked for by their end, as they are kept: nobody's older games are walked through. A game that ends between the
    # two questions is in both.
    for some in (seats.filter(ended=None), seats.filter(ended__gte=midnight)):
        for game_id, person_id in some.values_list("game_id", "user_id"):
            at_table.setdefault(game_id, set()).add(person_id or 0)
    return Counter(frozenset(pair) for sitting in at_table.values() for pair in combinations(sitting, 2))
