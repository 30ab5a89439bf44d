"""Pairs that meet again on one day: how much a ranked game between them still counts.

A friend who loses on purpose feeds a rating as often as the two meet. So each further ranked game of a pair on one day
(UTC) counts less: soon in a room that a player opened, where players choose each other, later where the quick match
chose. The weight is stored with the game's end, so that a replay of the ladder finds it again.
"""

from collections import Counter
from itertools import combinations

from games.models import Game, Seat

# Percent of the points by how often a pair has met before; the last one stands for all further games.
OPENED = (100, 50, 25, 0)
MATCHED = (100, 100, 100, 50, 50, 25)


def weight_of(game_id: int) -> int:
    """How much this ranked game counts, in percent; its end and number are stored, its ladder's counter is locked."""
    game = Game.objects.select_related("room").get(pk=game_id)
    if game.room is None:
        return OPENED[0]
    steps = OPENED if game.room.waited_seconds is None else MATCHED
    return steps[min(_meetings_before(game), len(steps) - 1)]


def _meetings_before(game: Game) -> int:
    """How often the pair of this table that met most has met on its ladder that day, in games that could be rated."""
    if game.ended is None:
        return 0
    people = list(game.seats.exclude(user=None).values_list("user_id", flat=True))
    midnight = game.ended.replace(hour=0, minute=0, second=0, microsecond=0)
    seats = Seat.objects.filter(
        user__in=people,
        ended__gte=midnight,
        game__ranked=True,
        game__pace=game.pace,
        game__finish_seq__lt=game.finish_seq,
        game__rounds__gte=1,
        game__traded=True,
    ).exclude(game__reason="void")
    at_table: dict[int, set[int]] = {}
    for earlier, person_id in seats.values_list("game_id", "user_id"):
        at_table.setdefault(earlier, set()).add(person_id or 0)
    met = Counter(pair for sitting in at_table.values() for pair in combinations(sorted(sitting), 2))
    return max(met.values(), default=0)
