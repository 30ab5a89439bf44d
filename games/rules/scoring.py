"""Points and ranking (R7.3, R7.4, R8.8)."""

from dataclasses import dataclass

from .edition import SILVER, Unique
from .state import Held, Player, Reason, State

SILVER_POINTS = 1
GOLD_POINTS = 2
UNIQUE_POINTS = 3
EMPTY_COLLECTION_POINTS = 2


@dataclass(frozen=True, slots=True)
class Score:
    """Points, not tokens (R7.3)."""

    seat: int
    silver: int
    gold: int
    uniques: int
    collections: int

    @property
    def total(self) -> int:
        return self.silver + self.gold + self.uniques + self.collections

    def as_json(self) -> dict[str, int]:
        """The score as records hold it."""
        return {
            "seat": self.seat,
            "silver": self.silver,
            "gold": self.gold,
            "uniques": self.uniques,
            "collections": self.collections,
            "total": self.total,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; `ranking` is the seats, best first, and empty for a void game (R7.4, R8.8)."""

    reason: Reason
    ranking: tuple[int, ...]
    scores: tuple[Score, ...]


def worth(held: Held) -> int:
    """The points of one card as it is now."""
    if isinstance(held.card, Unique):
        return UNIQUE_POINTS
    return held.card.worth[held.filled - 1] if held.filled else EMPTY_COLLECTION_POINTS


def score(seat: int, player: Player) -> Score:
    """What a player has by now."""
    silver = sum(kind in SILVER for kind in player.art)
    uniques = sum(isinstance(held.card, Unique) for held in player.cards)
    return Score(
        seat,
        silver=silver * SILVER_POINTS,
        gold=(len(player.art) - silver) * GOLD_POINTS,
        uniques=uniques * UNIQUE_POINTS,
        collections=sum(worth(held) for held in player.cards) - uniques * UNIQUE_POINTS,
    )


def result(state: State) -> Result | None:
    """How the game ended, or None while it runs."""
    if state.reason is None:
        return None
    scores = tuple(score(seat, player) for seat, player in enumerate(state.players))
    ranking = () if state.reason == "void" else _ranking(state, scores)
    return Result(state.reason, ranking, scores)


def full_rounds(state: State) -> int:
    """How many rounds were played from their search to the end of their exchange."""
    in_exchange = all(player.token is not None for player in state.players)
    return state.round if in_exchange and state.exchange.turn is None else max(0, state.round - 1)


def _ranking(state: State, scores: tuple[Score, ...]) -> tuple[int, ...]:
    """Who stayed, by points, then by the last tokens (R7.4); then who left, the later the better (R8.8)."""
    order = state.exchange.order

    def place(seat: int) -> tuple[bool, int, int, int, int]:
        left_at = state.players[seat].left_at
        token = order.index(seat) if order else 0
        return (left_at is not None, -(left_at or 0), -scores[seat].total, token, seat)

    return tuple(sorted(range(len(scores)), key=place))
