"""What happens to a running game from any process and without a table: by staff (R8.8, R8.10a), or by who is gone.

Load, decide, append, ring: the log's fence lets one writer through, and whoever was behind looks again. The tables of
web processes hear of it by the ring, or by their next look. A caller's transaction takes it along, whole or not at all.
"""

from collections.abc import Callable, Sequence
from functools import partial

from django.db import transaction

from games import clock, doorbell, log, news, opening, rules, shares, steps
from games.rules import State
from games.rules.commands import Leave
from games.rules.events import Event

MOST_TRIES = 20


def void(game_id: int) -> bool:
    """End a running game without a ranking; False where it has ended already."""
    return _intervene(game_id, lambda state, at: rules.void(state, "staff", at))


def remove(game_id: int, person_id: int) -> bool:
    """Take a player out of a running game; False where they are not in it, or not any more."""
    return _take_out(game_id, person_id, rules.remove)


def leave(game_id: int, person_id: int) -> bool:
    """The player leaves a running game, as they could at the table; False where they are not in it, or not any more."""
    return _take_out(game_id, person_id, lambda state, seat, at: rules.decide(state, seat, Leave(), at))


def _take_out(game_id: int, person_id: int, decide: Callable[[State, int, int], Sequence[Event]]) -> bool:
    opened = opening.find_by_id(game_id)
    seat = None if opened is None else opened.seat_of(person_id)
    if seat is None:
        return False
    return _intervene(game_id, lambda state, at: decide(state, seat, at))


def _intervene(game_id: int, decide: Callable[[State, int], Sequence[Event]]) -> bool:
    opened = opening.find_by_id(game_id)
    if opened is None:
        return False
    for _ in range(MOST_TRIES):
        tail, now = log.since(game_id, 0), clock.site_now()
        if tail.started_ms is None:
            shares.seal(game_id)
            opened = opening.find_by_id(game_id) or opened
            started_ms, before, done = now, None, steps.first_steps(opened)
        else:
            before = steps.read(rules.blank(opened.terms()), tail.lines)[-1].after
            started_ms = steps.origin(tail.started_ms, before, now)
            done = steps.takeover_steps(before, tail.kept_by, now, max(now - started_ms, before.at))
        state = done[-1].after if done or before is None else before
        try:
            done = done + steps.steps_of(state, decide(state, max(now - started_ms, state.at)))
        except rules.Refused:
            return False
        after, lines = done[-1].after, steps.lines_of(done)
        wall = clock.database_now()
        append = steps.append_of(game_id, done, lines, now=wall, started_ms=started_ms, kept_by=tail.kept_by)
        if not log.write([append]):
            transaction.on_commit(partial(doorbell.ring, game_id, after.seq))
            news.ring_on_commit(*steps.pages_to_ring(opened, before, after))
            return True
    raise log.Behind
