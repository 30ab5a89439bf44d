"""What one process needs to run tables: its clock, its pen, its end of the doorbell, and the tables themselves.

Once a second it looks for what no ring told it: games that moved elsewhere, games whose keeper is gone, names that
changed, sessions that ended. It looks at once for the sessions that a ring tells of.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass

from accounts import sessions
from accounts.models import EndedSession
from games import deadlines, ladder, log, news, opening, servers
from games.clock import Clock, database_now
from games.doorbell import Doorbell
from games.frames import CloseCode, Page
from games.handover import Handover
from games.heartbeat import Heartbeat
from games.pauses import Pauses
from games.pulse import pulse
from games.stalls import Stalls
from games.storing import Storing
from games.table import Table

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
# A sign of life that is not written within this time is given up: the next one is due.
BEAT_SECONDS = 1.0
# How often pages are told whether moves wait.
TELL_SECONDS = 0.25
# A table that nobody here needs is dropped after so long; whoever comes back finds it in the log.
IDLE_SECONDS = 60.0
# Every page with a seat is announced once in so many looks, so that a lost ring keeps no second page at a seat.
ANNOUNCED_EVERY = 5
# A seat that nobody has announced for so long has no page any more; where nothing was heard at all, nobody knows.
UNHEARD_SECONDS = 15.0
DEAF_SECONDS = 6.0
# The names at every table are read once in so many looks, so that a lost ring keeps no name that nobody has any more.
NAMED_EVERY = 10
# A stop's parts, when what they wait for does not answer.
PAGES_SECONDS = 0.5
LET_GO_SECONDS = 1.0
# Once in so many looks the rows of processes that are long gone are cleared out.
CLEARED_EVERY = 600
CLEARED_MS = 60 * 60 * 1_000


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the database found."""

    skews: list[int]
    heads: dict[int, int]
    orphans: list[int]
    shown: dict[int, opening.Shown]
    ended: list[EndedSession]
    expired: set[str]


class Tables:
    """The tables of this process, in the event loop that made it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.stalls = Stalls()
        self.peers = servers.Peers()
        self.pen = log.Pen()
        self.reader = log.Reader()
        self.storing = Storing()
        self.doorbell = Doorbell(
            self._heard, self._moved, self._ended, self._renamed, self._offered, self._loaded_elsewhere
        )
        self.pauses = Pauses(asyncio.get_running_loop().time)
        self.server = 0
        self._heart = log.Reader()
        self._tables: dict[int, Table] = {}
        self._by_code: dict[str, asyncio.Task[Table | None]] = {}
        self.heartbeat = Heartbeat(self._beat, self.stalls)
        # How many people looked on at the last look, and how many stalls there had been.
        self._seated = 0
        self._stalls = 0
        self._looks = 0
        self._ends = sessions.EndWatch()
        self._expiries = sessions.ExpiryWatch()
        # Of whom a session ended, as the doorbell says, and nobody has looked yet which.
        self._outs: set[int] = set()
        self._looking: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._adopting: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        # Games that other processes offered are loaded by these.
        self._taking: set[asyncio.Task[None]] = set()
        # Since this process was asked to stop: others play on, and nothing new begins here.
        self.stopping = False
        self._handover: Handover | None = None
        self._all_left = asyncio.Event()

    async def start(self) -> None:
        """Join the processes that look after games."""
        self.server = await self._heart.run(servers.begin, self.clock)
        self.storing.row_written()
        self.heartbeat.start()
        await self._look()
        self._looking = asyncio.create_task(self._keep_looking())
        self._telling = asyncio.create_task(self._keep_telling())

    def _beat(self, stands_still_ms: int) -> None:
        try:
            with deadlines.within(BEAT_SECONDS):
                self.clock.follow(database_now)
                servers.beat(self.server, self.clock, stands_still_ms, self._seated, stopping=self.stopping)
        except Exception:
            self.storing.row_not_written()
            raise
        self.storing.row_written()

    async def stop(self) -> None:
        """Hand the games over, tell the pages, and go; within ten seconds even if others do not answer. Done once."""
        if self.stopping:
            return
        self.stopping = True
        with contextlib.suppress(log.Unwritten, TimeoutError):
            # Before the others are looked at: of two that stop at once neither gives its games to the other.
            await asyncio.wait_for(self._heart.run(self._beat, 0), BEAT_SECONDS)
        self._handover = Handover(self.server, self.reader, self.doorbell)
        await self._handover.prepare(self.peers.alive(), self._tables)
        for task in (self._looking, self._ending, self._adopting, self._telling, *self._taking):
            if task is not None:
                task.cancel()
        tables = list(self._tables.values())
        # What is asked from now on is answered nowhere: a page asks again where it comes back.
        await asyncio.gather(*(table.close() for table in tables))
        await self._handover.give()
        await self._close_pages()
        self.heartbeat.fall_silent()
        with contextlib.suppress(log.Unwritten, TimeoutError):
            await asyncio.wait_for(self._heart.run(self._beat, 0), BEAT_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.let_go(), LET_GO_SECONDS)
        self._tables.clear()

    async def _close_pages(self) -> None:
        """Tell all pages to come back, and wait until they have heard it: what is on its way when a process ends may
        be lost. The tables are closed, so no seat of theirs is taken for left."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PAGES_SECONDS):
                for page in self._pages():
                    await page.end(CloseCode.STOPPING, "stopping")
                self.page_left()
                await self._all_left.wait()

    def page_left(self) -> None:
        """A page is gone from a table here."""
        if self.stopping and not any(table.pages for table in self._tables.values()):
            self._all_left.set()

    async def let_go(self) -> None:
        """End the threads and lines of this process."""
        await self.heartbeat.stop()
        await self.doorbell.close()
        for part in (self.pen, self.reader, self._heart):
            await asyncio.to_thread(part.close)

    async def table(self, code: str) -> Table | None:
        """The table with this address, loaded if need be; None where there is no such game."""
        task = self._by_code.get(code)
        if task is None:
            task = self._by_code[code] = asyncio.create_task(self._load(code))
            task.add_done_callback(lambda _: self._by_code.pop(code, None))
        return await asyncio.shield(task)

    async def _load(self, code: str) -> Table | None:
        for table in self._tables.values():
            if table.opened.code == code:
                table.idle_since = None
                return table
        opened = await self.reader.run(opening.find, code)
        return None if opened is None else self._table(opened)

    def _table(self, opened: opening.Opened) -> Table:
        if opened.game_id not in self._tables:
            self._tables[opened.game_id] = Table(self, opened)
        return self._tables[opened.game_id]

    def forget(self, table: Table) -> None:
        """Drop a table from this process; the next who asks loads it afresh."""
        if self._tables.get(table.opened.game_id) is table:
            del self._tables[table.opened.game_id]

    def have_rated(self, game_id: int) -> None:
        """Ask for a worker, beside the event loop: the queue may be slow, and the sweep needs no asking."""
        asyncio.get_running_loop().run_in_executor(None, ladder.ask_for_rating, game_id)

    def ring_at(self, pages: Sequence[str]) -> None:
        """Tell these pages that there is something to fetch, beside the event loop."""
        if pages:
            asyncio.get_running_loop().run_in_executor(None, news.ring, *pages)

    def _offered(self, game_ids: list[int], server: int) -> None:
        """Another process stops, and this one is to keep these games."""
        if server == self.server and not self.stopping:
            task = asyncio.create_task(self._take(game_ids))
            self._taking.add(task)
            task.add_done_callback(self._taking.discard)

    async def _take(self, game_ids: list[int]) -> None:
        for game_id in game_ids:
            try:
                table = await self._by_id(game_id)
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
                return
            if table is not None and await table.read_log():
                self.doorbell.loaded(game_id)

    def _loaded_elsewhere(self, game_ids: list[int]) -> None:
        if self._handover is not None:
            self._handover.loaded(game_ids)

    def _heard(self, game_id: int, head: int) -> None:
        if table := self._tables.get(game_id):
            table.catch_up(head)

    def _moved(self, game_id: int, seat: int, key: str, joined_ms: int) -> None:
        if table := self._tables.get(game_id):
            table.moved(seat, key, joined_ms)

    def _ended(self, person_id: int) -> None:
        if not any(page.user_id == person_id for page in self._pages()):
            return
        self._outs.add(person_id)
        if self._ending is None or self._ending.done():
            self._ending = asyncio.create_task(self._look_who_is_out())

    def _renamed(self, person_id: int) -> None:
        for table in self._tables.values():
            if table.opened.seat_of(person_id) is not None:
                table.introduce()

    async def _look_who_is_out(self) -> None:
        """Beside the looks, which wait for the database's lock and for the second to be over."""
        while self._outs:
            people, self._outs = self._outs, set()
            try:
                ends = await self.reader.run(sessions.ends_of, people)
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
            else:
                await self._end_pages(ends)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
            except Exception:
                pulse.failed()
                logger.exception("A look failed")

    async def _keep_telling(self) -> None:
        """Tell pages whether moves wait. Beside the looks, which wait for the database themselves."""
        failed = False
        while True:
            await asyncio.sleep(TELL_SECONDS)
            fails = self.storing.fails_since() is not None
            try:
                await self._tell_whether_moves_wait(works_again=failed and not fails)
            except Exception:
                pulse.failed()
                logger.exception("Pages could not be told whether moves wait")
            failed = fails

    async def _tell_whether_moves_wait(self, *, works_again: bool) -> None:
        for table in list(self._tables.values()):
            if works_again:
                table.try_again()
            await table.tell_whether_moves_wait()

    async def _look(self) -> None:
        self._looks += 1
        self._seated = self._people()
        look = await self._heart.run(self._ask, list(self._tables), self._sessions())
        self.clock.keep_up(look.skews)
        if self._stalls != self.stalls.count:
            self._stalls = self.stalls.count
            for table in self._tables.values():
                table.wake()
        for game_id, head in look.heads.items():
            self._heard(game_id, head)
        for game_id, shown in look.shown.items():
            if (kept := self._tables.get(game_id)) and kept.opened.shown() != shown:
                kept.introduce()
        if self._adopting is None or self._adopting.done():
            self._adopting = asyncio.create_task(self._adopt(look.orphans))
        await self._end_pages(look.ended, look.expired)
        await self._see_to_pages()
        self._miss_the_unheard()
        await self._drop_idle()

    def _people(self) -> int:
        """How many people look at tables of this process, visitors by their pages."""
        return len({page.user_id or page.key for page in self._pages()})

    def _pages(self) -> list[Page]:
        return [page for table in self._tables.values() for page in table.pages]

    def _sessions(self) -> set[str]:
        """The sessions of the browsers that look at tables of this process."""
        return {page.browser_session for page in self._pages() if page.browser_session}

    def _ask(self, game_ids: list[int], browser_sessions: set[str]) -> Look:
        now = self.clock.now()
        skews = self.peers.look(self.server, servers.signs(), servers.without_row(), now)
        alive = self.peers.alive()
        if self._looks % CLEARED_EVERY == 0:
            servers.clear_out(now - CLEARED_MS, alive)
        return Look(
            skews=skews,
            heads=log.heads(game_ids),
            orphans=[*servers.orphans(now, self.server, alive), *servers.not_loaded(self.server, game_ids)],
            shown=opening.shown(game_id for game_id in game_ids if (game_id + self._looks) % NAMED_EVERY == 0),
            ended=self._ends.look(),
            expired=self._expiries.look(browser_sessions),
        )

    async def _end_pages(self, ends: list[EndedSession], expired: Set[str] = frozenset()) -> None:
        """Close the pages whose session ended or expired."""
        ended: dict[int | None, list[EndedSession]] = {}
        for end in ends:
            ended.setdefault(end.user_id, []).append(end)
        for page in self._pages():
            if page.browser_session in expired or any(page.is_of(end) for end in ended.get(page.user_id, ())):
                await page.end(CloseCode.SIGNED_OUT, "signed_out")

    async def _see_to_pages(self) -> None:
        """Close the pages that fell silent; tell other processes where the rest sits."""
        for table in list(self._tables.values()):
            for page in list(table.pages):
                if page.is_quiet():
                    await page.end(CloseCode.QUIET, "quiet")
                elif page.seat is not None and (table.opened.game_id + self._looks) % ANNOUNCED_EVERY == 0:
                    self.doorbell.moved(table.opened.game_id, page.seat, page.key, page.joined_ms)

    def _miss_the_unheard(self) -> None:
        """Where a process died, nobody says which pages went with it; they are announced no more."""
        if self.doorbell.silence() < DEAF_SECONDS:
            for table in self._tables.values():
                table.miss_whoever_is_unheard(asyncio.get_running_loop().time() - UNHEARD_SECONDS)

    async def _drop_idle(self) -> None:
        now = asyncio.get_running_loop().time()
        for table in list(self._tables.values()):
            if not table.is_idle():
                table.idle_since = None
            elif table.idle_since is None:
                table.idle_since = now
            elif now - table.idle_since > IDLE_SECONDS:
                self.forget(table)
                await table.close()

    async def _adopt(self, game_ids: list[int]) -> None:
        """Wake these games here. Beside the looks: with many to load, this process would seem dead meanwhile."""
        for game_id in game_ids:
            if self.stopping:
                return
            if game_id not in self._tables and self.pauses.hold(game_id):
                continue
            try:
                table = await self._by_id(game_id)
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
                return
            if table is not None:
                table.wake()

    async def _by_id(self, game_id: int) -> Table | None:
        """The table of this game, loaded if need be; None where there is no such game."""
        if table := self._tables.get(game_id):
            return table
        opened = await self.reader.run(opening.find_by_id, game_id)
        return None if opened is None else self._table(opened)


_here: dict[asyncio.AbstractEventLoop, asyncio.Task[Tables]] = {}


async def here() -> Tables:
    """The tables of this process and event loop, started by whoever asks first."""
    return await asyncio.shield(_starting())


def started_here() -> Tables | None:
    """The same, or None while they start; it does not wait."""
    starting = _starting()
    return starting.result() if starting.done() else None


def running_here() -> Tables | None:
    """The same, or None where they have not been started."""
    starting = _here.get(asyncio.get_running_loop())
    return starting.result() if starting is not None and starting.done() and not starting.exception() else None


def _starting() -> asyncio.Task[Tables]:
    loop = asyncio.get_running_loop()
    starting = _here.get(loop)
    if starting is None or (starting.done() and starting.exception()):
        starting = _here[loop] = loop.create_task(_started())
    return starting


async def _started() -> Tables:
    tables = Tables()
    try:
        await tables.start()
    except BaseException:
        await tables.let_go()
        raise
    return tables


async def stop_here() -> None:
    """Stop what `here` has started in this event loop: call it before the process ends."""
    if tables := running_here():
        await tables.stop()
