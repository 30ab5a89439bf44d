"""The course of one running game as this process knows it, and the way its events go into the log and out of it.

Nothing is known here that the log does not say: what is stored is on disk before it is put into effect, and what
others stored is read.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from games import log, opening, rules, servers
from games.clock import since_boot
from games.counted import Counted
from games.frames import Step
from games.opening import Opened
from games.rules import State
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    Escaped,
    Event,
    ExchangeStarted,
    Passed,
    Placed,
    RoundStarted,
)
from games.servers import Loss
from games.steps import append_of, awaited, lines_of, origin, read

if TYPE_CHECKING:
    from games.tables import Tables

# A page that is behind by more than this, or missed the end of a round, gets the whole sight, which is shorter.
KEPT_EVENTS = 64
# So long a process whose clock has fallen behind takes to catch up with the others, at most.
CATCHES_UP_SECONDS = 5.0
# What a page's log tells in words (games/told.py); of anything else a round may have any number.
TOLD = (Escaped, ExchangeStarted, Bought, BagOpened, Placed, Passed, Abandoned)


@dataclass(frozen=True, slots=True)
class Deed:
    """What one cause makes of the game; a seat's command with an id is never done twice."""

    steps: Sequence[Step]
    seat: int | None = None
    command_id: str = ""


class Course:
    """What a game's log says, up to `head`."""

    def __init__(self, tables: "Tables", opened: Opened) -> None:
        self.tables = tables
        self.opened = opened
        self.state: State | None = None
        self.started_ms: int | None = None
        # What happened in this round: what a page's log tells of it in words, and the last of it.
        self.this_round: list[Event] = []
        self._latest: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._counted = Counted()
        self._kept_by: int | None = None
        # When this process learned of the last event, or made it, by its monotonic clock.
        self._learned = since_boot()
        # Whether the log has the game's end, which may still have to be read.
        self._has_end = False
        # Perhaps the log says more than is known here.
        self._doubtful = False

    @property
    def head(self) -> int:
        return 0 if self.state is None else self.state.seq

    @property
    def over(self) -> bool:
        return self.state is not None and self.state.phase == "over"

    @property
    def kept_here(self) -> bool:
        """Whether it is this process that looks after the game."""
        return self._kept_by == self.tables.server

    @property
    def waits_for_bots(self) -> bool:
        """Whether no player has anything to do now, but the bots have."""
        return self.state is not None and not self.over and not awaited(self.state)

    def at(self) -> int:
        """The game's clock now: it never falls (R8.9)."""
        if self.state is None or self.started_ms is None:
            return 0
        return max(self.tables.clock.now() - self.started_ms, self.state.at)

    def _keep_pace(self) -> None:
        """Go on from the last event where the site's clock still lies before it after some seconds.

        Then it was set back while no process ran, or the process that made the event had another time. One that only
        fell behind has caught up by then.
        """
        waited = since_boot() - self._learned
        if self.state is not None and self.started_ms is not None and waited > CATCHES_UP_SECONDS:
            self.started_ms = origin(self.started_ms, self.state, self.tables.clock.now() - int(waited * 1000))

    def _steps_after(self, seq: int) -> list[Step] | None:
        """What happened after that event; None where that is not remembered, or still to come.

        Every state of a round shows its events up to then alike, so each comes with the state of now.
        """
        if seq == self.head:
            return []
        if self.state is not None and self._latest and self._latest[0].seq <= seq + 1 <= self.head:
            return [Step(event, self.state) for event in self._latest if event.seq > seq]
        return None

    def _loss(self) -> Loss:
        """For how long this game has not been looked after.

        A process that asks this about itself lives: it was busy, or the database did not answer. That is no absence.
        """
        if self.kept_here:
            return Loss(self.tables.stalls.lost_ms(self._learned), stalled=True)
        return self.tables.peers.loss(self._kept_by, self.tables.clock.now())

    async def _know_who_sits(self) -> bool:
        """Know the players' names as they are now, and which seats programs have played: whether any of it is new."""
        opened = await self.tables.reader.run(opening.find_by_id, self.opened.game_id)
        if opened is None:
            raise log.Gone
        before, self.opened = self.opened, opened
        return opened.shown() != before.shown()

    async def _read_on(self) -> Sequence[log.Line]:
        """What the log says beyond what is known here, to be taken in line by line."""
        tail = await self.tables.reader.run(log.since, self.opened.game_id, self.head)
        self._kept_by, self.started_ms, self._has_end = tail.kept_by, tail.started_ms, tail.ended
        if self.state is None and tail.lines:
            await self._know_who_sits()
        self._doubtful = False
        return tail.lines

    def _take_in(self, lines: Sequence[log.Line]) -> list[Step]:
        """Know what these next lines of the log say."""
        steps = read(self.state or rules.blank(self.opened.terms()), lines)
        for line in lines:
            if line.command_id and line.seat is not None:
                self._counted.add(line.seat, line.command_id, line.seq)
        self._go_on(steps, since_boot())
        return steps

    async def _take_over(self) -> bool:
        """Look after the game from now on, if nobody does."""
        kept_by, mine = self._kept_by, self.tables.server
        if self.kept_here or (kept_by is not None and not self._loss().ms):
            return False
        if not await self.tables.reader.run(servers.take_over, self.opened.game_id, self.head, kept_by, mine):
            return False
        self._kept_by = mine
        return True

    async def _append(self, deeds: Sequence[Deed]) -> list[Step]:
        """Store what happened, then put it into effect; or `Behind`, or `Unwritten`."""
        steps = [step for deed in deeds for step in deed.steps]
        if not steps:
            return steps
        clock, made = self.tables.clock, since_boot()
        started_ms = self.started_ms or clock.now()
        lines = [line for deed in deeds for line in lines_of(deed.steps, deed.seat, deed.command_id)]
        await self.tables.pen.append(
            append_of(
                self.opened.game_id,
                steps,
                lines,
                now=clock.wall(),
                started_ms=started_ms,
                kept_by=self.tables.server,
            )
        )
        self.tables.stalls.stored()
        self.started_ms, self._kept_by = started_ms, self.tables.server
        for deed in deeds:
            if deed.command_id and deed.seat is not None:
                self._counted.add(deed.seat, deed.command_id, deed.steps[0].event.seq)
        self._go_on(steps, made)
        return steps

    def _go_on(self, steps: list[Step], learned: float) -> None:
        for step in steps:
            if isinstance(step.event, RoundStarted):
                self.this_round = []
                self._latest.clear()
            if isinstance(step.event, TOLD):
                self.this_round.append(step.event)
            self._latest.append(step.event)
            self.state = step.after
        self._learned = learned
