"""Leaving the game for good, and what becomes of a game that is left (R8.8)."""

from .events import Abandoned, GameEnded
from .state import State
from .terms import Pace

# So many rounds in a row without an event of one's own are an abandonment.
ROUNDS_MISSED: dict[Pace, int] = {"live": 2, "relaxed": 1}


def leave(state: State, seat: int, at: int) -> Abandoned:
    return Abandoned(state.seq + 1, at, seat, "player")


def missing(state: State) -> Abandoned | None:
    """The next seat that missed its rounds, as an exchange phase ends."""
    for seat in state.staying():
        player = state.players[seat]
        if not player.acted and player.missed + 1 >= ROUNDS_MISSED[state.terms.pace]:
            return Abandoned(state.seq + 1, state.at, seat, "clock")
    return None


def forsaken(state: State) -> GameEnded | None:
    """The end of a game that one player or nobody is left in."""
    staying = len(state.staying())
    if staying > 1:
        return None
    if staying == 1:
        return GameEnded(state.seq + 1, state.at, "abandoned")
    return GameEnded(state.seq + 1, state.at, "void", "rules")


def abandoned(state: State, event: Abandoned) -> State:
    player = state.players[event.seat]._replace(left_at=event.at)
    return state._replace(
        seq=event.seq,
        at=event.at,
        players=state.with_player(event.seat, player),
        leavers=(*state.leavers, event.seat),
    )
