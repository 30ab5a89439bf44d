"""Quick match: people wait, each with a row that their page keeps fresh, and whoever fits together gets a table.

Every beat of a page and a sweep look for a match, in any process and as often as they like: people's rows are locked
in the order of their ids, what was found is looked at again under the locks, and a match takes its people's rows with
it. So nobody is matched twice.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from games import news, rooms
from games.ladder import standing
from games.models import Game, Room, Waiting
from games.ranked import MOST_MEETINGS, households_shared, meetings_today, refusal_of_ranked
from games.rooms import RoomRefusal
from games.rules import terms

# A page says every few seconds that it waits, and so does its open socket, since a browser lets the timers of a page in
# the background wait; one that was not heard of for so long has gone.
BEAT_SECONDS = 3
GONE = timedelta(seconds=15)

# How far ratings may be apart: at first, more after each step, and anybody after so long.
FIRST_WINDOW = 100
STEP_SECONDS = 10
STEP = 50
ANYBODY_SECONDS = 180
# A pair that has met today waits this long for other opponents, once more for each time.
REPEAT_SECONDS = 60

# What is said of how long it takes comes from so many matches of the last day.
LAST_MATCHES = 20


@dataclass(frozen=True, slots=True)
class Outlook:
    """What somebody who waits may know: for how long, among whom, and how long it took others."""

    waiting: Waiting
    seconds: int
    others: int
    near: int
    window: int | None
    usual: int | None

    @property
    def lowest(self) -> int:
        return round(self.waiting.rating) - (self.window or 0)

    @property
    def highest(self) -> int:
        return round(self.waiting.rating) + (self.window or 0)


def enter(person: User, players: int) -> Waiting:
    """Wait for a ranked live game of so many; whoever sits in an open room stands up."""
    if players not in terms.PLAYERS:
        raise ValueError(f"{players} players")
    if refused := refusal_of_ranked([person.pk], person.pk):
        raise RoomRefusal(refused)
    now = timezone.now()
    with transaction.atomic():
        rooms.free_live_seat(person)
        news.ring_on_commit(news.LOBBY)
        return Waiting.objects.update_or_create(
            user=person,
            defaults={
                "players": players,
                "rating": standing(person.pk, Game.Pace.LIVE).rating,
                "since": now,
                "seen": now,
            },
        )[0]


def leave(person_id: int) -> None:
    Waiting.objects.filter(user=person_id).delete()
    news.ring_on_commit(news.LOBBY)


def beat(person_id: int, now: datetime | None = None) -> Waiting | None:
    """This person's page still waits; None where they wait no more, perhaps because this found a match."""
    now = now or timezone.now()
    own = Waiting.objects.filter(user=person_id)
    own.update(seen=now)
    # None where somebody else's beat was faster, at whatever moment.
    for players in own.values_list("players", flat=True):
        match(players, now)
    return own.first()


def keep_fresh(people: Collection[int], now: datetime | None = None) -> None:
    """The pages of these people are open, whatever their browsers do with their timers."""
    if people:
        Waiting.objects.filter(user__in=people).update(seen=now or timezone.now())


def sweep(now: datetime | None = None) -> int:
    """Forget the pages that have gone, and match whoever fits; the answer is how many games that began."""
    now = now or timezone.now()
    Waiting.objects.filter(seen__lt=now - 2 * GONE).delete()
    return sum(match(players, now) for players in terms.PLAYERS)


def match(players: int, now: datetime) -> int:
    """Open a game for every group of so many that fits; the answer is how many."""
    opened = 0
    barred: set[int] = set()
    while True:
        fresh = [row for row in _fresh(players, now) if row.user_id not in barred]
        group = choose(fresh, players, now, apart(fresh, now))
        if not group:
            return opened
        with transaction.atomic():
            ids = [row.user_id for row in group]
            list(User.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
            kept = [row for row in _fresh(players, now) if row.user_id in ids]
            if len(kept) < players or rooms.blocked_pairs(ids) or households_shared(ids):
                continue
            out = [person for person in ids if refusal_of_ranked([person], person)]
            if out:
                Waiting.objects.filter(user__in=out).delete()
                barred.update(out)
                continue
            try:
                with transaction.atomic():
                    _seat(kept, now)
            except RoomRefusal:
                # What keeps them apart came about just now: the next beat sees it.
                return opened
            opened += 1


def _fresh(players: int, now: datetime) -> list[Waiting]:
    return list(Waiting.objects.filter(players=players, seen__gte=now - GONE).order_by("since", "pk"))


def _seat(group: Sequence[Waiting], now: datetime) -> Game:
    news.ring_on_commit(news.LOBBY)
    waited = [(now - row.since).total_seconds() for row in group]
    return rooms.open_matched([row.user_id for row in group], waited_seconds=max(0, round(sum(waited) / len(waited))))


def apart(waiting: Collection[Waiting], now: datetime) -> set[frozenset[int]]:
    """The pairs that are not to meet now: they have met too often today, share a household, or one has blocked the
    other. A pair that has met at all today waits a while for other opponents first."""
    waited = {row.user_id: (now - row.since).total_seconds() for row in waiting}
    met = meetings_today(waited, now)
    too_soon = {pair for pair, number in met.items() if min(map(waited.__getitem__, pair)) < REPEAT_SECONDS * number}
    too_often = {pair for pair, number in met.items() if number >= MOST_MEETINGS}
    return too_soon | too_often | households_shared(waited) | rooms.blocked_pairs(waited)


def choose(waiting: Sequence[Waiting], players: int, now: datetime, never: Set[frozenset[int]]) -> list[Waiting] | None:
    """The first group that fits, built around whoever waits longest from those nearest in rating."""
    for first in waiting:
        group = [first]
        for other in sorted(waiting, key=lambda row: (abs(row.rating - first.rating), row.since)):
            if other is not first and all(_fit(one, other, now, never) for one in group):
                group.append(other)
            if len(group) == players:
                return group
    return None


def _fit(one: Waiting, other: Waiting, now: datetime, never: Set[frozenset[int]] = frozenset()) -> bool:
    """Whether each is within the other's window, and nothing keeps them apart."""
    distance = abs(one.rating - other.rating)
    near = distance <= min(window(one, now) or math.inf, window(other, now) or math.inf)
    return near and frozenset((one.user_id, other.user_id)) not in never


def window(row: Waiting, now: datetime) -> int | None:
    """How far away in rating this person's opponents may be by now; None for anybody."""
    seconds = (now - row.since).total_seconds()
    if seconds >= ANYBODY_SECONDS:
        return None
    return FIRST_WINDOW + STEP * max(0, int(seconds // STEP_SECONDS))


def outlook(row: Waiting, now: datetime | None = None) -> Outlook:
    """What this person may know of the queue."""
    now = now or timezone.now()
    others = [other for other in _fresh(row.players, now) if other.user_id != row.user_id]
    return Outlook(
        waiting=row,
        seconds=max(0, int((now - row.since).total_seconds())),
        others=len(others),
        near=sum(_fit(row, other, now) for other in others),
        window=window(row, now),
        usual=usual_seconds(row.players, now),
    )


def usual_seconds(players: int, now: datetime) -> int | None:
    """How long the last matches of this size took, in the middle; None where there was none for a day."""
    matched = Room.objects.filter(
        waited_seconds__isnull=False, size=players, created__gt=now - timedelta(days=1)
    ).order_by("-created")
    waits = [waited or 0 for waited in matched.values_list("waited_seconds", flat=True)[:LAST_MATCHES]]
    return round(median(waits)) if waits else None


def crowd(now: datetime | None = None) -> dict[int, int]:
    """How many wait for a game of each size."""
    now = now or timezone.now()
    counted = Counter(Waiting.objects.filter(seen__gte=now - GONE).values_list("players", flat=True))
    return {players: counted[players] for players in terms.PLAYERS}
