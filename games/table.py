"""The tables of this process: running games and the pages that look at them.

A table does one thing after another, in the order of arrival (R4.3): a command, the clock, a ring. Each change is
decided by the rules, stored by the log, and only then applied and shown, to each page as its seat may see it.
Commands that arrive right after one another while others are being stored are decided together, each in view of
those before it. Nothing here is kept that the log does not say: a table can be dropped and loaded again at any
moment, in any process.

While the database takes no writes a table tries again and again, after longer and longer pauses (backoff.py). Commands
that come in such a pause are refused, and so surely not stored. Where the answer to a COMMIT was lost, a command's fate
is unknown: it is answered when the log has told. Pages hear when moves begin to wait, and when they count again.

Who locks what: a table locks nothing. The log's transaction locks rows of games, in the order of their ids, and only
for the length of one write.
"""

import asyncio
import contextlib
import logging
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from games import log, rules, shares
from games.allowance import Allowance
from games.backoff import Backoff
from games.bot_hands import BotHands
from games.course import Course, Deed
from games.frames import CloseCode, Frames, Page, Step, compact, shares_frame, sight_frame, welcome_frame
from games.opening import Opened
from games.pulse import pulse
from games.rules import State
from games.rules.commands import Command, Ready
from games.servers import Loss
from games.steps import clock_steps, first_steps, pages_to_ring, resume_steps, steps_of
from games.turns import Job, Turns

if TYPE_CHECKING:
    from games.tables import Tables

logger = logging.getLogger(__name__)

COMMAND_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
# What a command's id is, in words.
AN_ID = "1 to 40 letters, digits, - and _"

# How often a command is decided again because another process was faster.
MOST_TRIES = 20
# So many lines of the log are taken in before the other tables have their turn.
PORTION = 100
# A command is tried again as long as it has not waited longer than this; then it is refused.
PATIENCE_SECONDS = 1.5
# Pages are told that moves wait when nothing could be stored, or nothing got done, for so long.
WAIT_SECONDS = 1.5
CLOSE_SECONDS = 2.0
# A live game whose process was lost waits so long for the first of its players. It is less than what leaves a ranked
# game without a rating (R8.10).
PLAYERS_AWAY_MS = 45_000
NOBODY: Mapping[Page, str] = {}


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that waits for its turn; a page's has an id, and the page hears what became of it."""

    seat: int
    command: Command
    page: Page | None = None
    command_id: str = ""
    at: float = field(default_factory=time.perf_counter)


class Table(Course):
    """One game in this process: its course, and the pages that look at it."""

    def __init__(self, tables: "Tables", opened: Opened) -> None:
        super().__init__(tables, opened)
        self.pages: set[Page] = set()
        # Who waits to be let in.
        self._coming: set[Page] = set()
        self.idle_since: float | None = None
        # Since when it is here, and when each seat's page was announced last, by the process that it talks to.
        self._since = asyncio.get_running_loop().time()
        self._announced: dict[int, float] = {}
        # Whether the pages that were here have heard that the shares are fixed.
        self._fixed_told = False
        self._timer: asyncio.TimerHandle | None = None
        self._asked: list[Asked] = []
        self._playing: Job = partial(self._play, self._asked)
        self._allowances: dict[int, Allowance] = {}
        self._bots: BotHands | None = None
        self._turns = Turns(self._failed)
        self._backoff = Backoff()
        # Commands that may have been stored, or not: they are answered as soon as the log tells.
        self._uncertain: list[Asked] = []
        # The pages that were told that moves wait.
        self._told_to_wait: set[Page] = set()

    def is_idle(self) -> bool:
        """Whether nobody looks on, nothing is under way, and no other process would miss this one."""
        kept = self.kept_here and not self.over and (self.opened.pace == "live" or self.waits_for_bots)
        return not (self.pages or self._turns.busy or kept)

    def allowance(self, seat: int | None) -> Allowance:
        """What whoever sits there may still send; whoever watches begins with all of it."""
        return Allowance() if seat is None else self._allowances.setdefault(seat, Allowance())

    # What others ask for: each waits its turn.

    async def join(self, page: Page, after: int | None) -> bool:
        """Show the page what it has missed, and everything from then on; False where this table came to an end."""
        self._coming.add(page)
        return await self._turns.done(partial(self._join, page, after))

    def play(self, page: Page, seat: int, command: Command, command_id: str) -> None:
        """Do what the page's seat asks for, once."""
        # It joins those that arrived right before it, unless its seat is among them: a frame acknowledges one of each.
        if self._turns.last is not self._playing or any(asked.seat == seat for asked in self._asked):
            self._asked = []
            self._playing = partial(self._play, self._asked)
            self._turns.ask(self._playing)
        self._asked.append(Asked(seat, command, page, command_id))

    def commit_share(self, page: Page, seat: int, share: str) -> None:
        """Keep the hash of the nonce that the page will give, if it is in time."""
        self._turns.ask(partial(self._commit_share, page, seat, share))

    def give_nonce(self, page: Page, seat: int, nonce: bytes) -> None:
        """Keep the page's share of the game's chance, if it is in time."""
        self._turns.ask(partial(self._give_nonce, page, seat, nonce))

    def leave(self, page: Page) -> None:
        """The page has gone, perhaps before it was let in."""
        self._coming.discard(page)
        self._told_to_wait.discard(page)
        # One that was sent away because its seat is played from another page is missed by nobody.
        if page in self.pages and page.seat is not None:
            self._turns.ask(partial(self._miss, page.seat))
        self.pages.discard(page)
        self.tables.page_left()

    def moved(self, seat: int, key: str, joined_ms: int) -> None:
        """This seat is played from that page since then, perhaps in another process."""
        self._announced[seat] = asyncio.get_running_loop().time()
        if any(_gives_way(page, seat, key, joined_ms) for page in self.pages):
            self._turns.ask(partial(self._move, seat, key, joined_ms))

    def miss_whoever_is_unheard(self, since: float) -> None:
        """Whoever is ready and whose page nobody has announced since then has gone with the process of that page."""
        if self.state is None or self.state.phase != "gathering":
            return
        for seat, player in enumerate(self.state.players):
            is_human = self.opened.sitters[seat].kind == "human"
            if player.ready and is_human and self._announced.get(seat, self._since) < since:
                self._turns.ask(partial(self._miss, seat))

    def catch_up(self, head: int) -> None:
        """Another process has written up to `head`; 0 says that the shares may be fixed."""
        if head > self.head:
            self._turns.ask(partial(self._catch_up_to, head))
        elif self.state is None and self.pages:
            self.wake()

    def introduce(self) -> None:
        """Somebody who sits here has another name, or a program plays for them."""
        self._turns.ask(self._introduce_anew)

    def wake(self) -> None:
        """Let the clock do what is due."""
        self._turns.ask(self._wake)

    def try_again(self) -> None:
        """The database takes writes again: do not wait for the end of a pause."""
        if self._backoff.seconds_left():
            self._backoff.skip()
            self.wake()

    async def tell_whether_moves_wait(self) -> None:
        """Tell pages when moves begin to wait for the database, and when they count again."""
        since = self._waits_since()
        if since is not None and time.monotonic() - since < WAIT_SECONDS:
            return
        if since is None:
            told, self._told_to_wait = self._told_to_wait & self.pages, set()
            for page in told:
                await page.notify("moves_count")
            return
        for page in self.pages - self._told_to_wait:
            self._told_to_wait.add(page)
            await page.notify("moves_wait")

    def _waits_since(self) -> float | None:
        """The moment since which moves have waited; None where they do not, or the game is over."""
        if self.over:
            return None
        moments = (self._backoff.failing_since, self._turns.at_work_since, self.tables.storing.fails_since())
        return min((moment for moment in moments if moment is not None), default=None)

    async def read_log(self) -> bool:
        """Know what the log says by now, and who keeps the game; False where this table came to an end."""
        return await self._turns.done(self._catch_up)

    async def look(self) -> State | None:
        """The game as the log has it, once everything asked for so far is done; None before its first event."""
        await self._turns.done(self._be_current)
        return self.state

    async def settle(self) -> bool:
        """Wait until everything asked for so far is done; False where this table came to an end before."""

        async def nothing() -> None:
            pass

        return await self._turns.done(nothing)

    async def close(self) -> None:
        """Do what was asked for, then stop in this process; the game goes on elsewhere."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.settle(), CLOSE_SECONDS)
        self._stop_timer()
        if self._bots:
            self._bots.rest()
        self._turns.stop()
        await self._turns.stopped()

    # One thing after another.

    async def _failed(self, error: Exception) -> bool:
        """Whether this table goes on after that."""
        match error:
            case log.Unwritten():
                self._doubt(error)
                return True
            case log.Gone():
                await self._give_up(CloseCode.NO_GAME, "no_game")
            case _:
                # A fault in one game must not touch the others: its pages come back and it is loaded afresh.
                pulse.failed()
                logger.error("Table %s: a step failed", self.opened.code, exc_info=error)
                self.tables.pauses.begin(self.opened.game_id)
                await self._give_up(CloseCode.FAULT, "fault")
        return False

    def _doubt(self, error: log.Unwritten) -> None:
        """Perhaps the log says more than this table knows: look again after a pause."""
        logger.warning("The database did not answer a table: %s", error)
        self._doubtful = True
        self._backoff.fail()
        self._set_timer(None)

    async def _give_up(self, code: CloseCode, notice: str) -> None:
        self._stop_timer()
        if self._bots:
            self._bots.rest()
        self.tables.forget(self)
        for page in [*self.pages, *self._coming]:
            await page.end(code, notice)

    async def _join(self, page: Page, after: int | None) -> None:
        try:
            await self._be_current()
            if after is not None and after > self.head:
                await self._catch_up()
            await self._introduce_anew()
        except log.Unwritten as error:
            if self.state is None:
                await page.end(CloseCode.FAULT, "fault")
                raise
            # There is something to see all the same; what is missing follows.
            self._doubt(error)
        if page not in self._coming:
            return
        self._coming.discard(page)
        page.joined_ms = self.tables.clock.now()
        others = [other for other in self.pages if other.seat == page.seat is not None]
        self.pages.add(page)
        if page.seat is not None:
            if self._loss().ms:
                # The game may have waited for this one.
                self.wake()
            self.tables.doorbell.moved(self.opened.game_id, page.seat, page.key, page.joined_ms)
        for other in others:
            await self._send_away(other)
        await page.tell(welcome_frame(self.opened, page.seat, self.at(), self.head))
        # A page that has the first event has heard of the shares with it.
        if self.opened.place is not None and (after is None or self.state is None):
            await page.tell(shares_frame(self.opened))
        if self.state is None:
            await self._begin()
        elif after is None or (missed := self._steps_after(after)) is None:
            await page.tell(sight_frame(self.state, page.seat))
        elif missed:
            await page.tell(Frames(missed).for_seat(page.seat))

    async def _introduce_anew(self) -> None:
        """Know who sits where now, and tell whoever is here where that has changed."""
        if not await self._know_who_sits():
            return
        for page in list(self.pages):
            await page.tell(welcome_frame(self.opened, page.seat, self.at(), self.head))

    async def _move(self, seat: int, key: str, joined_ms: int) -> None:
        for page in [page for page in self.pages if _gives_way(page, seat, key, joined_ms)]:
            await self._send_away(page)

    async def _send_away(self, page: Page) -> None:
        """This seat is played from another page now."""
        self.pages.discard(page)
        await page.end(CloseCode.MOVED, "moved")

    async def _play(self, waiting: list[Asked]) -> None:
        """Do what pages ask for, and tell each what became of it."""
        for _ in range(MOST_TRIES):
            if not await self._may_try(waiting):
                break
            try:
                await self._be_current()
                waiting = [asked for asked in waiting if not await self._was_done(asked)]
                if not waiting:
                    return None
                if self.state is None:
                    return await self._refuse(waiting, "not_begun")
                for asked, why in await self._do(self.state, waiting):
                    await self._refuse([asked], why.code, why.values)
                    waiting.remove(asked)
                for asked in waiting:
                    pulse.moved(asked.at)
                return None
            except log.Behind:
                self._doubtful = True
            except log.Uncertain as error:
                self._doubt(error)
                return await self._leave_uncertain(waiting)
            except log.Unwritten as error:
                self._doubt(error)
        return await self._refuse_unstored(waiting)

    async def _may_try(self, waiting: Sequence[Asked]) -> bool:
        """Whether to try now what was asked for, after waiting for the end of a pause where that comes in time."""
        pause = self._backoff.seconds_left()
        waited = time.perf_counter() - min(asked.at for asked in waiting)
        if pause and waited + pause > PATIENCE_SECONDS:
            return False
        if pause:
            await asyncio.sleep(pause)
        return True

    async def _leave_uncertain(self, waiting: Sequence[Asked]) -> None:
        """Answer these as soon as the log tells; where that is not at once, say so."""
        self._uncertain += waiting
        try:
            await self._clear_up()
        except log.Unwritten:
            for asked in waiting:
                if asked.page is not None:
                    await asked.page.notify("uncertain")
            raise

    async def _clear_up(self) -> None:
        """Answer the commands whose fate was unknown, once no write can be under way; `Unwritten` where that is not
        to be known yet."""
        await self.tables.reader.run(log.settle, self.opened.game_id)
        await self._catch_up()
        uncertain, self._uncertain = self._uncertain, []
        await self._refuse([asked for asked in uncertain if not await self._was_done(asked)], "unavailable")

    async def _refuse_unstored(self, waiting: Sequence[Asked]) -> None:
        """Refuse what is surely not stored; what was sent before, and perhaps stored then, is answered with that."""
        uncertain = {(asked.seat, asked.command_id) for asked in self._uncertain}
        again = [asked for asked in waiting if (asked.seat, asked.command_id) in uncertain]
        self._uncertain += again
        await self._refuse([asked for asked in waiting if asked not in again], "unavailable")

    async def _was_done(self, asked: Asked) -> bool:
        """Whether this command counts already; if so, its page is told again."""
        seq = self._counted.seq_of(asked.seat, asked.command_id)
        if seq is not None and asked.page is not None:
            await asked.page.tell(compact({"type": "ack", "id": asked.command_id, "seq": seq}))
        return seq is not None

    async def _refuse(self, waiting: list[Asked], code: str, values: dict[str, int | str] | None = None) -> None:
        for asked in waiting:
            if asked.page is not None:
                await asked.page.refuse(asked.command_id, code, values or {}, self.head)

    async def _commit_share(self, page: Page, seat: int, share: str) -> None:
        try:
            kept = await self.tables.reader.run(shares.commit, self.opened.game_id, seat, share)
        except log.Unwritten:
            await page.refuse("", "unavailable", {}, self.head)
            return
        await page.tell(compact({"type": "share", "share": kept}))
        await self._be_current()
        await self._begin()

    async def _give_nonce(self, page: Page, seat: int, nonce: bytes) -> None:
        try:
            kept = await self.tables.reader.run(shares.give, self.opened.game_id, seat, nonce)
        except log.Unwritten:
            await page.refuse("", "unavailable", {}, self.head)
            return
        await page.tell(compact({"type": "nonce", "nonce": kept.hex()}))
        await self._be_current()
        await self._begin()

    async def _begin(self) -> None:
        """Fix the shares, then make the first event, each as soon as it may be done."""
        while self.state is None:
            await self._introduce_anew()
            opened, reader = self.opened, self.tables.reader
            wait = opened.due_ms - self.tables.clock.now()
            if opened.place is not None:
                await self._tell_fixed()
            if wait > 0 and (opened.lacks_nonces() if opened.place else opened.lacks_shares()):
                self._set_timer(wait)
                return
            if opened.place is None:
                if await reader.run(shares.fix, opened.game_id):
                    self.tables.doorbell.ring(opened.game_id, 0)
                else:
                    # Another process was faster, and may have begun the game.
                    await self._catch_up()
                continue
            if opened.lacks_nonces():
                await reader.run(shares.seal, opened.game_id)
                continue
            try:
                await self._store([Deed(first_steps(opened))])
            except log.Behind:
                await self._catch_up()

    async def _tell_fixed(self) -> None:
        """Tell the pages here, once, that the shares are fixed: now they may be opened."""
        if self._fixed_told:
            return
        self._fixed_told = True
        await self._tell_shares()

    async def _tell_shares(self) -> None:
        frame = shares_frame(self.opened)
        for page in list(self.pages):
            await page.tell(frame)

    async def _wake(self) -> None:
        if self._backoff.seconds_left():
            self._set_timer(None)
            return
        await self._be_current()
        if self.state is None:
            await self._begin()
            self._look_whether_it_works()
            return
        if self._waits_for_players():
            return
        try:
            await self._store([Deed(self._clock_steps(self.state, self.at()))])
        except log.Behind:
            await self._catch_up()
        self._look_whether_it_works()
        if self.kept_here:
            self._set_alarm()

    def _look_whether_it_works(self) -> None:
        """Where nothing was to be stored, what this process could store meanwhile tells whether moves count again."""
        since = self._backoff.failing_since
        if since is None:
            return
        if self.tables.storing.has_written_since(since):
            self._backoff.succeed()
        else:
            self._backoff.fail()
            self._set_timer(None)

    async def _do(self, state: State, waiting: Sequence[Asked]) -> list[tuple[Asked, rules.Refused]]:
        """Decide these commands, each in view of those before it, and store all they do with one append.

        Where a limit and a command meet, the clock acts first (R8.9), in the same moment. The answer is who is refused.
        """
        at = self.at()
        await self._store([Deed(self._clock_steps(state, at))])
        state = self.state or state
        deeds = []
        acknowledged = {}
        refused = []
        for asked in waiting:
            try:
                events = rules.decide(state, asked.seat, asked.command, at)
            except rules.Refused as why:
                refused.append((asked, why))
                continue
            steps = steps_of(state, events)
            state = steps[-1].after
            deeds.append(Deed(steps, asked.seat, asked.command_id))
            if asked.page is not None:
                acknowledged[asked.page] = asked.command_id
        await self._store(deeds, acknowledged)
        return refused

    def _clock_steps(self, state: State, at: int) -> list[Step]:
        # A keeper that is gone was found before: one that is late is busy.
        return clock_steps(state, at, stalled=self._kept_by is not None)

    def _waits_for_players(self) -> bool:
        """Whether the game's process was lost and no player has found the way to another one yet.

        Until one does, for `PLAYERS_AWAY_MS` at most, no process goes on with the game: no limit acts that its players
        had no chance to meet, and all of that time is given back at once.
        """
        loss = self._loss()
        if self.kept_here or self.opened.pace != "live" or not 0 < loss.ms < PLAYERS_AWAY_MS or self.state is None:
            return False
        lost_at = asyncio.get_running_loop().time() - loss.ms / 1000
        here = {page.seat for page in self.pages}
        players = [seat for seat in self.state.staying() if self.opened.sitters[seat].kind == "human"]
        return bool(players) and not any(
            seat in here or self._announced.get(seat, -math.inf) > lost_at for seat in players
        )

    async def _resume(self, loss: Loss) -> None:
        """Look after this game from now on; it was not looked after for so long (R8.10)."""
        if self.state is None:
            return
        try:
            await self._store([Deed(resume_steps(self.state, loss, self.at()))])
        except log.Behind:
            await self._catch_up()

    async def _miss(self, seat: int) -> None:
        """A player without a page is not ready (R8.7)."""
        for _ in range(MOST_TRIES):
            if self._backoff.seconds_left():
                return
            await self._be_current()
            if self.state is None or any(page.seat == seat for page in self.pages) or self._waits_for_players():
                return
            try:
                await self._do(self.state, [Asked(seat, Ready(on=False))])
            except log.Behind:
                self._doubtful = True
            else:
                return

    async def _be_current(self) -> None:
        """Know what the log says, and that somebody looks after this game."""
        if self._uncertain:
            await self._clear_up()
        elif self.state is None or self._doubtful:
            await self._catch_up()
        self._keep_pace()
        if self.opened.pace == "live":
            loss = self._loss()
            if loss.ms and not self._waits_for_players():
                await self._resume(loss)
        elif self.waits_for_bots and await self._take_over():
            self._set_alarm()

    async def _catch_up_to(self, head: int) -> None:
        if head > self.head:
            await self._catch_up()

    async def _catch_up(self) -> None:
        """Know what the log says, and show it; however long that takes, the other tables do not wait for all of it."""
        lines = await self._read_on()
        for first in range(0, len(lines), PORTION):
            if first:
                await asyncio.sleep(0)
            await self._show(self._take_in(lines[first : first + PORTION]))
        if self.kept_here:
            self._set_alarm()
        elif self.state is not None:
            self._set_timer(None)
            if self._bots:
                self._bots.rest()

    async def _store(self, deeds: Sequence[Deed], acknowledged: Mapping[Page, str] = NOBODY) -> None:
        """Append what happened and show it; or `Behind`, or `Unwritten`."""
        before = self.state
        try:
            steps = await self._append(deeds)
        except log.Obstructed:
            raise
        except log.Unwritten:
            self.tables.storing.not_appended()
            raise
        if steps:
            self.tables.storing.appended()
            self._backoff.succeed()
            await self._show(steps, acknowledged)
            self.tables.doorbell.ring(self.opened.game_id, self.head)
            at_table = (page.seat for page in self.pages)
            self.tables.ring_at(pages_to_ring(self.opened, before, steps[-1].after, at_table))
            self._set_alarm()
        if steps and self.over and self.opened.ranked:
            self.tables.have_rated(self.opened.game_id)

    async def _show(self, steps: list[Step], acknowledged: Mapping[Page, str] = NOBODY) -> None:
        """Tell bots and pages what happened, each as its seat may see it."""
        if not steps:
            return
        self._show_bots(steps)
        if not self.pages:
            return
        after = steps[-1].after
        begun = steps[0].event.seq == 1
        if begun and self.opened.place is not None:
            await self._tell_shares()
        frames = Frames(steps)
        for page in list(self.pages):
            frame = sight_frame(after, page.seat) if begun else frames.for_seat(page.seat)
            if command_id := acknowledged.get(page):
                frame = f'{frame[:-1]},"ack":"{command_id}"}}'
            await page.tell(frame)

    def _show_bots(self, steps: list[Step]) -> None:
        """Bots remember what they have seen from the first event on, until the game is over."""
        if self._bots is None and not self._has_end:
            self._bots = BotHands(self.opened, self._move_bot)
            self._bots.sit_down(rules.blank(self.opened.terms()))
        if self._bots:
            for step in steps:
                self._bots.see(step.after, step.event)
        if self._bots and self.over:
            self._bots.rest()
            self._bots = None

    def _move_bot(self, seat: int, command: Command) -> None:
        self._turns.ask(partial(self._play_for_bot, seat, command))

    async def _play_for_bot(self, seat: int, command: Command) -> None:
        if self._backoff.seconds_left():
            return
        await self._be_current()
        if self.state is None or not self.kept_here or self.over:
            return
        try:
            if await self._do(self.state, [Asked(seat, command)]):
                # Somebody was faster. The bot sees what happened and chooses again.
                self._set_alarm()
        except log.Behind:
            await self._catch_up()

    def _set_alarm(self) -> None:
        """The keeper wakes the game to the millisecond and moves the bots; the others only look once a second.

        In a pause the timer is set for its end already.
        """
        if self._backoff.seconds_left():
            return
        if self._bots:
            self._bots.think()
        wake_at = None if self.state is None else rules.wake_at(self.state)
        self._set_timer(None if wake_at is None else wake_at - self.at())

    def _set_timer(self, wait_ms: int | None) -> None:
        """Wake after so long, None for never. A pause is waited for to its end, even if something is due before."""
        self._stop_timer()
        if pause := self._backoff.seconds_left():
            wait_ms = math.ceil(pause * 1000)
        if wait_ms is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0, wait_ms) / 1000, self.wake)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _gives_way(page: Page, seat: int, key: str, joined_ms: int) -> bool:
    """Whether this page loses its seat to that other one: the later one plays, of two in one moment any, but one."""
    return page.seat == seat and (page.joined_ms, page.key) < (joined_ms, key)
