"""Limits, the start of a search, and taking over after a fault (R8.3, R8.4, R8.6, R8.7, R8.10).

Nothing here reads the time: `at` is handed in, and a limit is only ever compared with it.
"""

from .commands import Ready as ReadyCommand
from .errors import Refused
from .events import CountdownStarted, Ready, Resumed, SearchStarted
from .state import Player, State

LEAST_LOST_MS = 2_000  # a server that was away for longer than this writes `resumed` (R8.10)


def ready(state: State, seat: int, command: ReadyCommand, at: int) -> Ready:
    if state.phase != "gathering":
        raise Refused("not_now")
    if state.players[seat].ready == command.on:
        raise Refused("already_ready" if command.on else "not_ready")
    if command.on and readies_left(state, seat) == 0:
        raise Refused("ready_too_often", most=state.players[seat].readies)
    return Ready(state.seq + 1, at, seat, command.on)


def readies_left(state: State, seat: int) -> int | None:
    """How often this seat may still press *ready* in this round; None for as often as it likes (R8.12)."""
    most = state.terms.limits.readies
    return None if most is None else max(0, most - state.players[seat].readies)


def all_ready(state: State) -> CountdownStarted | None:
    """The countdown, where everybody still in the game is ready (R8.7)."""
    if all(state.players[seat].ready for seat in state.staying()):
        return CountdownStarted(state.seq + 1, state.at)
    return None


def wake_at(state: State) -> int | None:
    """When the clock acts next; None before the first event and after the last."""
    if state.phase == "search":
        return max(min(state.limit, *_hands(state)), state.resumes_at)
    return None if state.phase in ("setup", "over") else state.limit


def hand_due(state: State) -> int | None:
    """The seat whose hand has the next limit of the search, unless the search itself ends by then."""
    limit, seat = min((limit, seat) for seat, limit in enumerate(_hands(state)))
    return seat if limit < state.limit else None


def resumed_after(state: State, lost_ms: int, at: int, *, stalled: bool) -> Resumed:
    if not LEAST_LOST_MS < lost_ms <= at - state.at:
        raise ValueError(f"{lost_ms} ms cannot have been lost since {state.at} at {at}")
    return Resumed(state.seq + 1, at, lost_ms, stalled)


def ready_changed(state: State, event: Ready) -> State:
    player = state.players[event.seat]
    player = player._replace(ready=event.on, acted=True, readies=player.readies + event.on)
    return state._replace(seq=event.seq, at=event.at, players=state.with_player(event.seat, player))


def countdown_started(state: State, event: CountdownStarted) -> State:
    return state._replace(
        seq=event.seq, at=event.at, phase="countdown", limit=event.at + state.terms.limits.countdown_ms
    )


def search_started(state: State, event: SearchStarted) -> State:
    return state._replace(seq=event.seq, at=event.at, phase="search", limit=event.at + state.terms.limits.search_ms)


def resumed(state: State, event: Resumed) -> State:
    """All running limits move on; a countdown begins again, and a search gets one of its own (R8.10)."""
    countdown = state.terms.limits.countdown_ms
    state = state._replace(seq=event.seq, at=event.at)
    if state.phase == "countdown":
        return state._replace(limit=event.at + countdown)
    if state.phase == "search":
        by = event.lost_ms + countdown
        return state._replace(
            limit=state.limit + by,
            resumes_at=event.at + countdown,
            players=tuple(_held_longer(player, by) for player in state.players),
        )
    return state._replace(limit=state.limit + event.lost_ms)


def _held_longer(player: Player, by: int) -> Player:
    return player if player.hand is None else player._replace(lifted_at=player.lifted_at + by)


def _hands(state: State) -> list[int]:
    """For each seat when its tile goes back by itself; an empty hand has the limit of the search."""
    hand_ms = state.terms.limits.hand_ms
    return [state.limit if player.hand is None else player.lifted_at + hand_ms for player in state.players]
