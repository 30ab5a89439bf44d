"""Elo for two to four players: the arithmetic and nothing else.

Everybody is compared with everybody: a pair's result is what two players' Elo would say, weighed so that a game of
more players counts no more than one of two. Everything is decimal, so that a ladder comes out the same to the cent on
every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

START = Decimal("1500.00")
FLOOR = Decimal("100.00")
CENT = Decimal("0.01")
# Until so many rated games a rating is provisional, and its owner on no leaderboard.
PROVISIONAL_GAMES = 10
# How fast ratings move, by the number of rated games before: (fewer than, K).
K_STEPS = ((PROVISIONAL_GAMES, 60), (20, 40))
K_SETTLED = 20

_ARITHMETIC = Context(prec=28, rounding=ROUND_HALF_EVEN)
_ONE, _HALF, _NONE = Decimal(1), Decimal("0.5"), Decimal(0)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a player has before a game: a rating, and how many rated games made it."""

    rating: Decimal = START
    games: int = 0

    @property
    def provisional(self) -> bool:
        return self.games < PROVISIONAL_GAMES

    def __str__(self) -> str:
        """As people see it: a whole number, with a question mark while few games have made it."""
        return f"{self.rating:.0f}{'?' if self.provisional else ''}"


@dataclass(frozen=True, slots=True)
class Change:
    """What one game does to one player; `after` is never below the floor."""

    before: Decimal
    delta: Decimal
    after: Decimal
    k: int
    games_before: int


@dataclass(frozen=True, slots=True)
class Pair:
    """One player against one other of the same game, both named by their number in it; the points add up to `delta`."""

    opponent: int
    expectation: Decimal
    result: Decimal
    points: Decimal


def signed(points: Decimal) -> str:
    """A change as people read it, to the cent."""
    return f"{points:+.2f}".replace("-", "−")


def k_factor(games: int, weight: int = 100) -> int:
    """How much one game counts for a player who has played so many; a game of less weight counts that much less."""
    return next((k for fewer_than, k in K_STEPS if games < fewer_than), K_SETTLED) * weight // 100


@lru_cache(maxsize=1 << 16)
def _expected(ahead: Decimal) -> Decimal:
    return _ARITHMETIC.divide(
        _ONE, _ARITHMETIC.add(_ONE, _ARITHMETIC.power(Decimal(10), _ARITHMETIC.divide(-ahead, Decimal(400))))
    )


def expectation(own: Decimal, other: Decimal) -> Decimal:
    """The share of the points that a player expects against another."""
    return _expected(own - other)


def result(own: int, other: int) -> Decimal:
    """The share of the points that these places give to the first one."""
    if own == other:
        return _HALF
    return _ONE if own < other else _NONE


def changes(standings: Sequence[Standing], places: Sequence[int], weight: int = 100) -> list[Change]:
    """What a game with these places (1 is the best) does to each player, in the order given; `weight` is in percent."""
    _check(standings, places)
    found = []
    for player, standing in enumerate(standings):
        k = k_factor(standing.games, weight)
        delta = _weighed(k, len(standings), [gain for _, gain in _gains(standings, places, player)])
        after = max(FLOOR, standing.rating + delta)
        found.append(Change(standing.rating, delta, after, k, standing.games))
    return found


def pairs(standings: Sequence[Standing], places: Sequence[int], player: int, weight: int = 100) -> list[Pair]:
    """Where this player's change comes from, opponent by opponent."""
    _check(standings, places)
    found: list[Pair] = []
    so_far: list[Decimal] = []
    told = Decimal("0.00")
    k = k_factor(standings[player].games, weight)
    for other, gain in _gains(standings, places, player):
        so_far.append(gain)
        # Rounded as it adds up, so that the last pair brings the sum to the change itself.
        points = _weighed(k, len(standings), so_far) - told
        told += points
        expected = expectation(standings[player].rating, standings[other].rating)
        found.append(Pair(other, expected, result(places[player], places[other]), points))
    return found


def _gains(standings: Sequence[Standing], places: Sequence[int], player: int) -> list[tuple[int, Decimal]]:
    own = standings[player].rating
    return [
        (other, result(places[player], places[other]) - expectation(own, standing.rating))
        for other, standing in enumerate(standings)
        if other != player
    ]


def _weighed(k: int, players: int, gains: Sequence[Decimal]) -> Decimal:
    """K · 2/n · the sum, to the cent; summed by size, so that seats may change places without a cent's difference."""
    total = _NONE
    for gain in sorted(gains):
        total = _ARITHMETIC.add(total, gain)
    product = _ARITHMETIC.multiply(Decimal(2 * k), total)
    return _ARITHMETIC.divide(product, Decimal(players)).quantize(CENT, ROUND_HALF_EVEN) + 0


def _check(standings: Sequence[Standing], places: Sequence[int]) -> None:
    if len(standings) != len(places) or not 2 <= len(places) <= 4:
        raise ValueError(f"{len(standings)} players with {len(places)} places cannot be rated")
