"""What the signs are computed from: a person's last finished games as records, and ranked results in columns."""

from collections import defaultdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from games import archive
from games.models import Figures, Game, Seat
from games.moderation import signs
from games.moderation.signs import Result, Seen, Sign

# So many last games are watched, so many days of results are compared.
GAMES = 20
DAYS = 30
MOST_RESULTS = 5_000


def signs_of(person: User) -> list[Sign]:
    """Everything the person's own games say about their hands and their will to win."""
    seen = Seen()
    for seat in _last_seats(person):
        if record := archive.record_of(seat.game):
            seen.add(signs.see(record["events"], seat.number))
    return [*signs.of_hands(seen), *signs.of_throwing(ranked_results(), person.pk)]


def pairs_of(person: User) -> list[tuple[User, list[Sign]]]:
    """Whom this person meets or loses to beyond chance; nobody else is named."""
    found = signs.of_pairs(ranked_results(), person.pk)
    striking = {other: said for other, said in found.items() if any(sign.raised for sign in said)}
    people = User.objects.in_bulk(striking)
    return [(people[other], said) for other, said in striking.items() if other in people]


def _last_seats(person: User) -> list[Seat]:
    played = Seat.objects.filter(user=person, game__ended__isnull=False).select_related("game")
    return list(played.order_by("-game__ended")[:GAMES])


def ranked_results() -> list[Result]:
    """The ranked games of the last days that have a ranking, the latest ones if there are many."""
    since = timezone.now() - timedelta(days=DAYS)
    games = Game.objects.filter(ranked=True, ended__gt=since).exclude(reason="void").order_by("-ended")
    numbers = list(games.values_list("pk", flat=True)[:MOST_RESULTS])
    seats: dict[int, list[tuple[Any, Any, int]]] = defaultdict(list)
    rows = Seat.objects.filter(game__in=numbers, user__isnull=False, place__isnull=False)
    for game, user, place, pk in rows.values_list("game", "user", "place", "pk"):
        seats[game].append((place, user, pk))
    lifts = dict(Figures.objects.filter(seat__game__in=numbers).values_list("seat", "lifts"))
    return [_result(sorted(sat), lifts) for sat in seats.values()]


def _result(sat: list[tuple[Any, Any, int]], lifts: dict[int, int]) -> Result:
    done = {user: lifts.get(pk) for _place, user, pk in sat}
    idle = {
        user
        for user, own in done.items()
        if own is not None and signs.is_idle(own, [n for one, n in done.items() if one != user and n is not None])
    }
    return Result(tuple(user for _place, user, _pk in sat), frozenset(idle))
