"""The steps of a game: what a command becomes, what the clock does, what follows, what an event changes.

Whoever runs a game calls `tick` first and `decide` second, both with the same `at`, and applies what they answer.
"""

from collections.abc import Iterable
from typing import assert_never

from . import clock, commands, events, exchange, leaving, rounds, search
from .commands import Command
from .errors import Refused
from .events import Event
from .state import State, VoidBy, blank
from .terms import Terms


def setup(terms: Terms) -> tuple[Event, ...]:
    """The first event of a game: round 1 is laid out, at 0."""
    return (rounds.first_round(terms),)


def replay(terms: Terms, log: Iterable[Event]) -> State:
    """The game after these events, which are all of its events from the first on."""
    state = blank(terms)
    for event in log:
        state = apply(state, event)
    return state


def decide(state: State, seat: int, command: Command, at: int) -> tuple[Event, ...]:
    """What this command makes happen, with everything that follows by itself, or `Refused`.

    A limit that has passed bars the command until the clock has acted: see `tick`.
    """
    _check_now(state, at)
    _check_in_game(state, seat)
    _check_clock(state, at)
    match command:
        case commands.Lift():
            return _by_itself(state, search.lift(state, seat, command, at))
        case commands.Stash():
            return _by_itself(state, search.stash(state, seat, command, at))
        case commands.Return():
            return _by_itself(state, search.put_back(state, seat, command, at))
        case commands.Escape():
            return _with_what_follows(state, search.escape(state, seat, at))
        case commands.Buy():
            return _with_what_follows(state, exchange.buy(state, seat, command, at))
        case commands.OpenBag():
            return _with_what_follows(state, exchange.open_bag(state, seat, command, at))
        case commands.Place():
            return _with_what_follows(state, exchange.place(state, seat, command, at))
        case commands.Pass():
            return _with_what_follows(state, exchange.pass_on(state, seat, at))
        case commands.Ready():
            return _with_what_follows(state, clock.ready(state, seat, command, at))
        case commands.Leave():
            return _with_what_follows(state, leaving.leave(state, seat, at))
        case _:
            assert_never(command)


def legal(state: State, seat: int, at: int) -> tuple[Command, ...]:
    """Every command of this seat that `decide` would accept at this time."""
    if state.phase == "over" or state.players[seat].left_at is not None:
        return ()
    due = clock.wake_at(state)
    if due is not None and due <= at:
        return ()
    found: list[Command] = []
    if state.phase == "gathering":
        if state.players[seat].ready:
            found.append(commands.Ready(False))
        elif clock.readies_left(state, seat) != 0:
            found.append(commands.Ready(True))
    elif state.phase == "search":
        found += search.legal(state, seat, at)
    elif state.phase == "exchange":
        found += exchange.legal(state, seat)
    return (*found, commands.Leave())


def tick(state: State, at: int) -> tuple[Event, ...]:
    """What the clock makes happen by `at`, all of it at `at`; nothing where nothing is due."""
    _check_now(state, at)
    happened: list[Event] = []
    while (due := clock.wake_at(state)) is not None and due <= at:
        for event in _with_what_follows(state, *_clock_acts(state, at)):
            happened.append(event)
            state = apply(state, event)
    return tuple(happened)


def resume(state: State, lost_ms: int, at: int, *, stalled: bool = False) -> tuple[Event, ...]:
    """A server looks after the game again, `lost_ms` after one did last (R8.10).

    `stalled` where it is the one that had the game before. This comes before any `tick`: it moves the limits that
    passed meanwhile.
    """
    _check_running(state)
    return _by_itself(state, clock.resumed_after(state, lost_ms, at, stalled=stalled))


def remove(state: State, seat: int, at: int) -> tuple[Event, ...]:
    """Staff takes this player out of the game (R8.8)."""
    _check_now(state, at)
    _check_in_game(state, seat)
    _check_clock(state, at)
    return _with_what_follows(state, events.Abandoned(state.seq + 1, at, seat, "staff"))


def void(state: State, by: VoidBy, at: int) -> tuple[Event, ...]:
    """The game ends without a ranking, at any moment (R8.10a)."""
    _check_now(state, at)
    _check_running(state)
    return (events.GameEnded(state.seq + 1, at, "void", by),)


def apply(state: State, event: Event) -> State:
    """The game after this event, which `decide`, `tick` or one of the others made for this very state."""
    match event:
        case events.Lifted():
            return search.lifted(state, event)
        case events.Stashed():
            return search.stashed(state, event)
        case events.Returned():
            return search.returned(state, event)
        case events.Passed():
            return exchange.passed(state, event)
        case events.Bought():
            return exchange.bought(state, event)
        case events.BagOpened():
            return exchange.bag_opened(state, event)
        case events.Placed():
            return exchange.placed(state, event)
        case events.Escaped():
            return search.escaped(state, event)
        case events.Ready():
            return clock.ready_changed(state, event)
        case events.CountdownStarted():
            return clock.countdown_started(state, event)
        case events.SearchStarted():
            return clock.search_started(state, event)
        case events.ExchangeStarted():
            return exchange.exchange_started(state, event)
        case events.RoundStarted():
            return rounds.round_started(state, event)
        case events.Abandoned():
            return leaving.abandoned(state, event)
        case events.Resumed():
            return clock.resumed(state, event)
        case events.GameEnded():
            return rounds.game_ended(state, event)
        case _:
            assert_never(event)


def follow(state: State) -> Event | None:
    """The one event that comes next by itself, at the same moment and before anything else; usually none."""
    if state.phase == "over":
        return None
    if end := rounds.too_long(state):
        return end
    if state.phase == "exchange" and state.exchange.turn is None:
        return leaving.missing(state) or leaving.forsaken(state) or rounds.after_exchange(state)
    end = leaving.forsaken(state)
    if end is not None:
        return end
    if state.phase == "gathering":
        return clock.all_ready(state)
    if state.phase == "search":
        return search.follow(state)
    if state.phase == "exchange":
        return exchange.follow(state)
    return None


def _clock_acts(state: State, at: int) -> list[Event]:
    """What the one limit that is due first brings about."""
    if state.phase == "gathering":
        return [events.CountdownStarted(state.seq + 1, at)]
    if state.phase == "countdown":
        return [events.SearchStarted(state.seq + 1, at)]
    if state.phase == "exchange":
        return [exchange.time_is_up(state, at)]
    seat = clock.hand_due(state)
    return search.time_is_up(state, at) if seat is None else [search.hand_is_up(state, seat, at)]


def _with_what_follows(state: State, *causes: Event) -> tuple[Event, ...]:
    happened: list[Event] = []
    for cause in causes:
        happened.append(cause)
        state = apply(state, cause)
        if rounds.too_long(state):
            break
    while (event := follow(state)) is not None:
        happened.append(event)
        state = apply(state, event)
    return tuple(happened)


def _by_itself(state: State, cause: Event) -> tuple[Event, ...]:
    """An event that brings nothing about, unless it is the last but one that this game may have."""
    most = state.terms.limits.events
    return (cause,) if most is None or cause.seq < most - 1 else _with_what_follows(state, cause)


def _check_now(state: State, at: int) -> None:
    if at < state.at:
        raise ValueError(f"time never falls: {at} is before {state.at}")


def _check_running(state: State) -> None:
    if state.phase == "over":
        raise Refused("game_over")


def _check_in_game(state: State, seat: int) -> None:
    _check_running(state)
    if state.players[seat].left_at is not None:
        raise Refused("you_left")


def _check_clock(state: State, at: int) -> None:
    due = clock.wake_at(state)
    if due is not None and due <= at:
        raise Refused("clock_first")
