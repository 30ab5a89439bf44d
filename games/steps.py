"""Steps of a game, from what the log says and to what it is to say: the same for tables and for whoever has none."""

import json
from collections.abc import Iterable, Sequence

from games import clock, log, news, rules, servers
from games.frames import Step, compact
from games.opening import Opened
from games.rules import State
from games.rules import events as rules_events
from games.rules.clock import LEAST_LOST_MS
from games.rules.events import Abandoned, Event, GameEnded


def steps_of(state: State, events: Sequence[Event]) -> list[Step]:
    """What these events make of the game, one after another."""
    steps = []
    for event in events:
        state = rules.apply(state, event)
        steps.append(Step(event, state))
    return steps


def first_steps(opened: Opened) -> list[Step]:
    """How a game begins, once all its nonces are there or given up."""
    terms = opened.terms()
    return steps_of(rules.blank(terms), rules.setup(terms))


def clock_steps(state: State, at: int, *, stalled: bool) -> list[Step]:
    """What the clock does by then; `stalled` where a living process keeps the game.

    Where its time passed longer ago than a server may look away, nobody looked: the limits move first (R8.10).
    """
    due = rules.wake_at(state)
    if due is None or due > at:
        return []
    done = resume_steps(state, servers.Loss(at - due, stalled), at)
    after = done[-1].after if done else state
    return done + steps_of(after, rules.tick(after, at))


def resume_steps(state: State, loss: servers.Loss, at: int) -> list[Step]:
    """What such a loss makes of a game (R8.10): nothing where that was but a moment, and what happened in the game
    meanwhile was looked after."""
    lost_ms = min(loss.ms, at - state.at)
    if lost_ms <= LEAST_LOST_MS or state.phase == "over":
        return []
    return steps_of(state, rules.resume(state, lost_ms, at, stalled=loss.stalled))


def origin(started_ms: int, state: State, now: int) -> int:
    """When the game began by the site's clock; where `now` lies before its last event, so that it goes on from there.

    A clock that was set back while no process ran halts no game.
    """
    return now - state.at if now - started_ms < state.at - clock.STEP_MS else started_ms


def takeover_steps(state: State, kept_by: int | None, now: int, at: int) -> list[Step]:
    """What the clock does by then in a game that some other process keeps: where that one is gone or stuck, a live game
    has lost the time since it was looked after last (R8.10)."""
    loss = servers.loss(kept_by, now) if state.terms.pace == "live" else servers.NOTHING_LOST
    done = resume_steps(state, loss, at)
    lives = kept_by is not None and (loss.stalled or not loss.ms)
    return done + clock_steps(done[-1].after if done else state, at, stalled=lives)


def read(state: State, lines: Sequence[log.Line]) -> list[Step]:
    """The steps that these lines of the log tell of, after that state."""
    return steps_of(
        state,
        [rules_events.read({**json.loads(line.body), "seq": line.seq, "at": line.at}) for line in lines],
    )


def lines_of(steps: Sequence[Step], seat: int | None = None, command_id: str = "") -> list[log.Line]:
    """The steps as the log keeps them; the first one says at whose command, if it was one with an id."""
    lines = []
    for step in steps:
        event = step.event
        body = rules_events.write(event)
        del body["seq"], body["at"]
        if command_id and step is steps[0]:
            lines.append(log.Line(event.seq, event.at, compact(body), seat, command_id))
        else:
            lines.append(log.Line(event.seq, event.at, compact(body)))
    return lines


def append_of(
    game_id: int, done: Sequence[Step], lines: Sequence[log.Line], *, now: int, started_ms: int, kept_by: int | None
) -> log.Append:
    """What is to be written of these steps, which the lines tell of; `now` is the database's time of day."""
    after = done[-1].after
    wake_at = rules.wake_at(after)
    return log.Append(
        game_id=game_id,
        head=after.seq - len(lines),
        lines=lines,
        kept_by=kept_by,
        wake_at=None if wake_at is None else started_ms + wake_at,
        started_ms=started_ms,
        awaits=sum(1 << seat for seat in awaited(after)),
        left=sum(1 << seat for seat in after.leavers),
        departures=departures_of(done, started_ms) if after.leavers else (),
        ended_ms=now if after.phase == "over" else None,
        ending=ending_of(done[-1]),
    )


def departures_of(done: Sequence[Step], started_ms: int) -> list[log.Departure]:
    """Who leaves the game for good in these steps."""
    events = [step.event for step in done]
    return [
        log.Departure(event.seat, event.by, started_ms + event.at) for event in events if isinstance(event, Abandoned)
    ]


def awaited(state: State) -> list[int]:
    """The seats of the people whom the game waits for: to be ready, to search on, to trade or pass."""
    if state.phase == "exchange":
        turn = state.in_turn()
        waiting = [] if turn is None else [turn]
    elif state.phase == "gathering":
        waiting = [seat for seat in state.staying() if not state.players[seat].ready]
    elif state.phase in ("countdown", "search"):
        waiting = [seat for seat in state.staying() if state.players[seat].token is None]
    else:
        waiting = []
    return [seat for seat in waiting if state.terms.seats[seat].kind == "human"]


def pages_to_ring(opened: Opened, before: State | None, after: State, at_table: Iterable[int | None] = ()) -> list[str]:
    """Return the news groups whose pages show something else after these steps.

    - Relaxed: the people whose turn begins or ends, and with them the room's page.
    - Live: at a new phase or turn, every player who has no page at the table (`at_table` has the seats that do).
    - When a game ends, the room's page.
    """
    if before is None:
        return []
    if opened.pace == "relaxed":
        turned = set(awaited(before)) ^ set(awaited(after))
    else:
        moved = (before.phase, before.in_turn()) != (after.phase, after.in_turn())
        turned = set(range(len(opened.sitters))) - set(at_table) if moved else set()
    people = [opened.sitters[seat].user_id for seat in sorted(turned)]
    room_changed = after.phase == "over" or (turned and opened.pace == "relaxed")
    room = [news.of_room(opened.room)] if opened.room and room_changed else []
    return [*(news.of_person(person) for person in people if person is not None), *room]


def ending_of(last: Step) -> log.Ending | None:
    """What the log stores of the result, in the transaction of the last event; None while the game runs."""
    state = last.after
    result = rules.result(state)
    if result is None:
        return None
    places = {seat: place for place, seat in enumerate(result.ranking, start=1)}
    return log.Ending(
        reason=result.reason,
        rounds=rules.full_rounds(state),
        traded=any(player.art or player.cards for player in state.players),
        ladder=state.terms.pace if state.terms.ranked else None,
        standings=tuple((places.get(score.seat), score.total) for score in result.scores),
        forgives=isinstance(last.event, GameEnded) and last.event.by in ("staff", "server"),
    )
