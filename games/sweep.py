"""Games whose time has come and that no web process looks after: their clock goes on all the same.

Whoever comes here has no table: load, decide, append, ring, in one plain function. It may run twice, late or beside a
web process: the log's fence lets one of them through, and the other finds nothing left to do.
"""

from games import clock, doorbell, ladder, log, news, one_by_one, opening, rules, servers, shares, steps
from games.frames import Step
from games.opening import Opened
from games.rules import State

# The next run is due long before.
SECONDS = 30.0

onlooker = servers.Onlooker()


def wake_overdue() -> int:
    """Let the clock act in every such game; the answer is in how many it did."""
    return one_by_one.see_to("Game", onlooker.overdue(), wake, seconds=SECONDS)


def wake(game_id: int) -> bool:
    """Let the clock of one game act; False where nothing was due, or somebody else was faster."""
    opened = opening.find_by_id(game_id)
    if opened is None:
        return False
    tail = log.since(game_id, 0)
    now = clock.site_now()
    if tail.started_ms is None:
        return _begin(opened, now)
    state = steps.read(rules.blank(opened.terms()), tail.lines)[-1].after
    started_ms = steps.origin(tail.started_ms, state, now)
    done = steps.takeover_steps(state, tail.kept_by, now, max(now - started_ms, state.at))
    return _write(opened, done, state, started_ms)


def _begin(opened: Opened, now: int) -> bool:
    if opened.place is None:
        if opened.lacks_shares() and opened.due_ms > now:
            return False
        shares.fix(opened.game_id)
        doorbell.ring(opened.game_id, 0)
        wake(opened.game_id)
        return True
    if opened.lacks_nonces():
        if opened.due_ms > now:
            return False
        shares.seal(opened.game_id)
        return wake(opened.game_id)
    return _write(opened, steps.first_steps(opened), None, now)


def _write(opened: Opened, done: list[Step], before: State | None, started_ms: int) -> bool:
    if not done:
        return False
    after, lines, now = done[-1].after, steps.lines_of(done), clock.database_now()
    append = steps.append_of(opened.game_id, done, lines, now=now, started_ms=started_ms, kept_by=None)
    if log.write([append]):
        return False
    doorbell.ring(opened.game_id, after.seq)
    news.ring(*steps.pages_to_ring(opened, before, after))
    if after.phase == "over" and opened.ranked:
        ladder.ask_for_rating(opened.game_id)
    return True
