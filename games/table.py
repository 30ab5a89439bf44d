"""The tables of this process: running games and the pages that look at them.

A table does one thing after another, in the order of arrival (R4.3): a command, the clock, a ring. Each change is
decided by the rules, stored by the log, and only then applied and shown, to each page as its seat may see it. Nothing
here is kept that the log does not say: a table can be dropped and loaded again at any moment, in any process.

Who locks what: a table locks nothing. The log's transaction locks rows of games, in the order of their ids, and only
for the length of one write.
"""

import asyncio
import contextlib
import enum
import json
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from accounts.models import EndedSession
from games import log, opening, rules, servers
from games.opening import Opened
from games.rules import State
from games.rules import events as rules_events
from games.rules.commands import Command, Ready
from games.rules.edition import load_edition
from games.rules.events import Abandoned, Event, GameEnded, Lifted, Resumed, Returned, RoundStarted, Stashed

if TYPE_CHECKING:
    from games.tables import Tables

logger = logging.getLogger(__name__)

# How often a command is decided again because another process was faster.
MOST_TRIES = 20
# A page that is behind by more than this gets the whole sight, which is shorter.
KEPT_STEPS = 64

# Events after which everything lies differently: the whole sight follows.
ANEW = (RoundStarted, Abandoned, Resumed, GameEnded)
# Events that say all they change.
PLAIN = (Lifted, Stashed, Returned)

compact = json.JSONEncoder(separators=(",", ":")).encode


class CloseCode(enum.IntEnum):
    """Why a connection ends; PROTOCOL.md says what a page does then."""

    FAULT = 1011
    UNREADABLE = 4400
    SIGNED_OUT = 4401
    NO_GAME = 4404
    QUIET = 4408
    MOVED = 4409
    FLOOD = 4429
    STOPPING = 4503


class Page(Protocol):
    """Whoever looks at a table: the side of a connection that the table talks to.

    `key` is the page's own name for itself, `joined_ms` when it came. None of these raise: a page that is gone is gone.
    """

    seat: int | None
    key: str
    joined_ms: int

    async def tell(self, frame: str, head: int) -> None:
        """Send; `head` is the number of the last event that this frame or an earlier one told of."""

    async def refuse(self, command_id: str, code: str, values: dict[str, int | str], head: int) -> None: ...

    async def end(self, code: CloseCode, notice: str) -> None:
        """Say why, then close."""

    def is_quiet(self) -> bool: ...

    def is_of(self, ended: EndedSession) -> bool: ...


@dataclass(frozen=True, slots=True)
class Step:
    """An event with the state that it made: enough to show it to anybody."""

    event: Event
    after: State


class Table:
    """One game in this process."""

    def __init__(self, tables: "Tables", opened: Opened) -> None:
        self.tables = tables
        self.opened = opened
        self.state: State | None = None
        self.started_ms: int | None = None
        self.pages: set[Page] = set()
        self._steps: list[Step] = []
        self._known: dict[tuple[int, str], int] = {}
        self._kept_by: int | None = None
        self._doubtful = False
        self._timer: asyncio.TimerHandle | None = None
        self._jobs: asyncio.Queue[Coroutine[None, None, None]] = asyncio.Queue()
        self._worker = asyncio.create_task(self._work())

    @property
    def head(self) -> int:
        return 0 if self.state is None else self.state.seq

    @property
    def over(self) -> bool:
        return self.state is not None and self.state.phase == "over"

    def at(self) -> int:
        """The game's clock now: it never falls (R8.9)."""
        if self.state is None or self.started_ms is None:
            return 0
        return max(self.tables.clock.now() - self.started_ms, self.state.at)

    # What others ask for: each waits its turn.

    def join(self, page: Page, after: int | None) -> None:
        """Show the page what it has missed, and everything from then on."""
        self._jobs.put_nowait(self._join(page, after))

    def play(self, page: Page, seat: int, command: Command, command_id: str) -> None:
        """Do what the page's seat asks for, once."""
        self._jobs.put_nowait(self._play(page, seat, command, command_id))

    def give_nonce(self, page: Page, seat: int, nonce: bytes) -> None:
        """Keep the page's share of the game's chance, if it is in time."""
        self._jobs.put_nowait(self._give_nonce(page, seat, nonce))

    def leave(self, page: Page) -> None:
        """The page has gone."""
        self.pages.discard(page)
        if page.seat is not None:
            self._jobs.put_nowait(self._miss(page.seat))

    def moved(self, seat: int, key: str, joined_ms: int) -> None:
        """This seat is played from another page now, perhaps in another process."""
        self._jobs.put_nowait(self._move(seat, key, joined_ms))

    def catch_up(self, head: int) -> None:
        """Another process has written up to `head`."""
        if head > self.head:
            self._jobs.put_nowait(self._catch_up())

    def wake(self) -> None:
        """Let the clock do what is due."""
        self._jobs.put_nowait(self._wake())

    def was_left_alone(self, lost_ms: int) -> None:
        """This process itself did not look after its games for so long (R8.10)."""
        if self._kept_by == self.tables.server and self.opened.pace == "live":
            self._jobs.put_nowait(self._resume(lost_ms))

    async def settle(self) -> None:
        """Wait until everything asked for so far is done."""
        done = asyncio.get_running_loop().create_future()

        async def mark() -> None:
            done.set_result(None)

        self._jobs.put_nowait(mark())
        await done

    async def close(self) -> None:
        """Stop in this process; the game goes on elsewhere."""
        self._set_timer(None)
        self._worker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._worker

    # One thing after another.

    async def _work(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await job
            except log.Unwritten as error:
                logger.error("Table %s: the database did not answer: %s", self.opened.code, error)
                self._doubtful = True
            except Exception:
                # A fault in one game must not touch the others: its pages come back and it is loaded afresh.
                logger.exception("Table %s: a step failed", self.opened.code)
                self.tables.forget(self)
                for page in list(self.pages):
                    await page.end(CloseCode.FAULT, "fault")
                return

    async def _join(self, page: Page, after: int | None) -> None:
        await self._be_current()
        page.joined_ms = self.tables.clock.now()
        self.pages.add(page)
        if page.seat is not None:
            self.tables.doorbell.moved(self.opened.game_id, page.seat, page.key, page.joined_ms)
            await self._move(page.seat, page.key, page.joined_ms)
        await page.tell(self._welcome(page.seat), 0)
        if self.state is None:
            await self._begin()
        elif after is not None and self._reaches_back_to(after):
            if missed := [step for step in self._steps if step.event.seq > after]:
                await page.tell(Frames(missed).for_seat(page.seat), self.head)
        else:
            await page.tell(_sight_frame(self.state, page.seat), self.head)

    async def _move(self, seat: int, key: str, joined_ms: int) -> None:
        """Whoever played this seat from another page before does so no more."""
        for page in list(self.pages):
            if page.seat == seat and (page.key, page.joined_ms) != (key, joined_ms) and page.joined_ms <= joined_ms:
                self.pages.discard(page)
                await page.end(CloseCode.MOVED, "moved")

    def _welcome(self, seat: int | None) -> str:
        opened = self.opened
        return compact(
            {
                "type": "welcome",
                "you": seat,
                "at": self.at(),
                "head": self.head,
                "commitment": opened.commitment,
                "rulebook": opened.rulebook,
                "pace": opened.pace,
                "ranked": opened.ranked,
                "limits": opened.limits.as_json(),
                "edition": load_edition(opened.edition).as_json(),
                "seats": [
                    {"seat": number, "name": sitter.name, "kind": sitter.kind, "character": sitter.character}
                    for number, sitter in enumerate(opened.sitters)
                ],
            }
        )

    def _reaches_back_to(self, seq: int) -> bool:
        if seq == self.head:
            return True
        return bool(self._steps) and self._steps[0].event.seq <= seq + 1 <= self.head

    async def _play(self, page: Page, seat: int, command: Command, command_id: str) -> None:
        stored_badly = False
        for _ in range(MOST_TRIES):
            try:
                await self._be_current()
                if seq := self._known.get((seat, command_id)):
                    return await page.tell(compact({"type": "ack", "id": command_id, "seq": seq}), self.head)
                if self.state is None:
                    return await page.refuse(command_id, "not_begun", {}, 0)
                if stored_badly:
                    break
                await self._let_the_clock_act()
                events = rules.decide(self.state, seat, command, self.at())
                return await self._store(events, seat, command_id, page)
            except rules.Refused as refused:
                return await page.refuse(command_id, refused.code, refused.values, self.head)
            except log.Behind:
                self._doubtful = True
            except log.Unwritten:
                # Perhaps it is there all the same: look once, then say so.
                if self._doubtful:
                    break
                self._doubtful = stored_badly = True
        return await page.refuse(command_id, "unavailable", {}, self.head)

    async def _give_nonce(self, page: Page, seat: int, nonce: bytes) -> None:
        kept = await self.tables.reader.run(opening.keep_nonce, self.opened.game_id, seat, nonce)
        await page.tell(compact({"type": "nonce", "nonce": kept.hex()}), self.head)
        await self._be_current()
        await self._begin()

    async def _begin(self) -> None:
        """Make the first event, as soon as it may be made."""
        while self.state is None:
            opened = await self.tables.reader.run(opening.find_by_id, self.opened.game_id)
            if opened is None:
                return
            missing = any(sitter.nonce is None for sitter in opened.sitters)
            wait = opened.nonces_due_ms - self.tables.clock.now()
            if missing and wait > 0:
                self._set_timer(wait)
                return
            if missing:
                await self.tables.reader.run(opening.seal, opened.game_id)
                continue
            self.opened = opened
            try:
                await self._store(rules.setup(opened.terms()))
            except log.Behind:
                await self._catch_up()

    async def _wake(self) -> None:
        await self._be_current()
        if self.state is None:
            await self._begin()
            return
        try:
            await self._let_the_clock_act()
        except log.Behind:
            self._doubtful = True
            await self._be_current()
        self._set_alarm()

    async def _let_the_clock_act(self) -> None:
        """Store what is due (R8.9: where a limit and a command meet, the clock acts first)."""
        while self.state is not None and (events := rules.tick(self.state, self.at())):
            await self._store(events)

    async def _resume(self, lost_ms: int) -> None:
        """Look after this game from now on; nobody did for `lost_ms` (R8.10)."""
        if self.state is None or self.over:
            return
        at = self.at()
        lost_ms = min(lost_ms, at - self.state.at)
        if lost_ms > servers.SILENT_MS:
            with contextlib.suppress(log.Behind):
                await self._store(rules.resume(self.state, lost_ms, at))

    async def _miss(self, seat: int) -> None:
        """A player without a page is not ready (R8.7)."""
        await self._be_current()
        if self.state is None or any(page.seat == seat for page in self.pages):
            return
        with contextlib.suppress(log.Behind, rules.Refused):
            await self._store(rules.decide(self.state, seat, Ready(on=False), self.at()))

    async def _be_current(self) -> None:
        """Know what the log says, and that somebody looks after this game."""
        if self.state is None or self._doubtful:
            await self._catch_up()
        if self._kept_by != self.tables.server and self.opened.pace == "live":
            await self._resume(self.tables.silence(self._kept_by))

    async def _catch_up(self) -> None:
        tail = await self.tables.reader.run(log.since, self.opened.game_id, self.head)
        self._kept_by, self.started_ms = tail.kept_by, tail.started_ms
        steps = []
        state = self.state
        for line in tail.lines:
            event = rules_events.read({**json.loads(line.body), "seq": line.seq, "at": line.at})
            if state is None:
                opened = await self.tables.reader.run(opening.find_by_id, self.opened.game_id)
                assert opened is not None
                self.opened = opened
                state = rules.blank(opened.terms())
            state = rules.apply(state, event)
            steps.append(Step(event, state))
            if line.command_id and line.seat is not None:
                self._known[line.seat, line.command_id] = line.seq
        self._doubtful = False
        if steps:
            await self._show(steps)
        if self._kept_by != self.tables.server:
            self._set_timer(None)

    async def _store(
        self, events: Sequence[Event], seat: int | None = None, command_id: str = "", page: Page | None = None
    ) -> None:
        """Append, then apply and show; `Behind` or `Unwritten` where that cannot be."""
        if not events:
            return
        state = self.state or rules.blank(self.opened.terms())
        head = self.head
        steps = []
        for event in events:
            state = rules.apply(state, event)
            steps.append(Step(event, state))
        now = self.tables.clock.now()
        started_ms = self.started_ms or now
        wake_at = rules.wake_at(state)
        await self.tables.pen.append(
            log.Append(
                game_id=self.opened.game_id,
                head=head,
                lines=_lines(events, seat, command_id),
                kept_by=self.tables.server,
                wake_at=None if wake_at is None else started_ms + wake_at,
                started_ms=started_ms,
                ended_ms=now if state.phase == "over" else None,
            )
        )
        self.started_ms, self._kept_by = started_ms, self.tables.server
        if command_id and seat is not None:
            self._known[seat, command_id] = events[0].seq
        await self._show(steps, page, command_id)
        self.tables.doorbell.ring(self.opened.game_id, self.head)
        self._set_alarm()

    async def _show(self, steps: list[Step], asker: Page | None = None, command_id: str = "") -> None:
        """Put stored events into effect and tell every page what its seat may see of them."""
        first = self.state is None
        self.state = steps[-1].after
        self._steps = (self._steps + steps)[-KEPT_STEPS:]
        frames = Frames(steps)
        for page in list(self.pages):
            frame = _sight_frame(self.state, page.seat) if first else frames.for_seat(page.seat)
            if page is asker:
                frame = f'{frame[:-1]},"ack":{compact(command_id)}}}'
            await page.tell(frame, self.head)

    def _set_alarm(self) -> None:
        """The keeper wakes the game to the millisecond; the others only look once a second."""
        wake_at = None if self.state is None else rules.wake_at(self.state)
        self._set_timer(None if wake_at is None else wake_at - self.at())

    def _set_timer(self, wait_ms: int | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if wait_ms is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0, wait_ms) / 1000, self.wake)


def _lines(events: Sequence[Event], seat: int | None, command_id: str) -> list[log.Line]:
    lines = []
    for event in events:
        body = rules_events.write(event)
        del body["seq"], body["at"]
        first = event is events[0]
        lines.append(log.Line(event.seq, event.at, compact(body), seat if first else None, command_id if first else ""))
    return lines


class Frames:
    """What happened, as each seat may see it: the same text for all who see the same, made once."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._anew = any(isinstance(step.event, ANEW) for step in steps)
        self._plain = all(isinstance(step.event, PLAIN) for step in steps)
        self._by_seat: dict[int | None, str] = {}
        self._public = [rules.sight_of_event(step.after, step.event, None) for step in steps]

    def for_seat(self, seat: int | None) -> str:
        if seat not in self._by_seat:
            self._by_seat[seat] = self._frame(seat)
        return self._by_seat[seat]

    def _frame(self, seat: int | None) -> str:
        after = self._steps[-1].after
        events = [rules.sight_of_event(step.after, step.event, seat) for step in self._steps]
        if seat is not None and self._plain and events == self._public:
            return self.for_seat(None)
        message: dict[str, object] = {"type": "events", "head": after.seq, "events": events}
        # What a page cannot tell from the events alone: the moment, or all of it anew.
        if self._anew:
            message["sight"] = rules.sight(after, seat)
        elif not self._plain:
            message["now"] = rules.sight_of_moment(after, seat)
        return compact(message)


def _sight_frame(state: State, seat: int | None) -> str:
    return compact({"type": "sight", "head": state.seq, "sight": rules.sight(state, seat)})
