"""Who may play ranked: people with an account who are not barred, not paused, and have not met too often today."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from itertools import combinations

from django.utils import timezone

from accounts.models import User
from games.models import Seat

MOST_MEETINGS = 10


def refusal_of_ranked(people: Collection[int]) -> str:
    """Why these people do not start a ranked game together now: a code of `rooms.REFUSALS`, or nothing."""
    for person in User.objects.filter(pk__in=people):
        if person.is_guest:
            return "guest"
        if person.is_barred:
            return "barred"
    if any(number >= MOST_MEETINGS for number in meetings_today(people).values()):
        return "met"
    return ""


def meetings_today(people: Collection[int], now: datetime | None = None) -> Counter[frozenset[int]]:
    """How often each two of these people have met in ranked games since midnight (UTC)."""
    now = now or timezone.now()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    rows = Seat.objects.filter(
        user__in=people, game__ranked=True, game__created__gte=midnight, game__created__lt=midnight + timedelta(days=1)
    )
    at_table: dict[int, set[int]] = {}
    for game_id, person_id in rows.values_list("game_id", "user_id"):
        at_table.setdefault(game_id, set()).add(person_id or 0)
    return Counter(pair for sitting in at_table.values() for pair in _pairs(sitting))


def _pairs(people: Iterable[int]) -> list[frozenset[int]]:
    return [frozenset(pair) for pair in combinations(people, 2)]
