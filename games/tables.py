"""What one process needs to run tables: its clock, its pen, its end of the doorbell, and the tables themselves.

Once a second it says that it lives and looks for what no ring told it: games that moved elsewhere, games whose keeper
fell silent, sessions that ended.
"""

import asyncio
import contextlib
import logging
from dataclasses import dataclass

from accounts.models import EndedSession
from games import log, opening, servers
from games.doorbell import Doorbell
from games.table import CloseCode, Table

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the database found."""

    now: int
    seen: dict[int, int]
    heads: dict[int, int]
    orphans: list[int]
    ended: list[EndedSession]


class Tables:
    """The tables of this process, in the event loop that made it."""

    def __init__(self) -> None:
        self.clock = servers.Clock()
        self.pen = log.Pen()
        self.reader = log.Reader()
        self.doorbell = Doorbell(self._heard, self._moved)
        self.server = 0
        self._heart = log.Reader()
        self._tables: dict[int, Table] = {}
        self._by_code: dict[str, asyncio.Task[Table | None]] = {}
        self._seen: dict[int, int] = {}
        self._ended_after = 0
        self._looking: asyncio.Task[None] | None = None
        self.stopping = False

    async def start(self) -> None:
        """Join the processes that look after games."""
        self.server, self._ended_after = await self._heart.run(self._enlist)
        await self._look()
        self._looking = asyncio.create_task(self._keep_looking())

    def _enlist(self) -> tuple[int, int]:
        self.clock.follow(servers.database_now)
        last = EndedSession.objects.order_by("-pk").values_list("pk", flat=True).first()
        return servers.enlist(self.clock.now()), last or 0

    async def stop(self) -> None:
        """Tell the pages, write what is under way, and go."""
        self.stopping = True
        if self._looking is not None:
            self._looking.cancel()
        for table in list(self._tables.values()):
            for page in list(table.pages):
                await page.end(CloseCode.STOPPING, "stopping")
            await table.settle()
            await table.close()
        self._tables.clear()
        await self.doorbell.close()
        with contextlib.suppress(log.Unwritten):
            await self._heart.run(servers.beat, self.server, self.clock.now())
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

    def silence(self, server: int | None) -> int:
        """For how long nobody has heard of this process."""
        if server is None or server not in self._seen:
            return 0
        return self.clock.now() - self._seen[server]

    def _heard(self, game_id: int, head: int) -> None:
        if table := self._tables.get(game_id):
            table.catch_up(head)

    def _moved(self, game_id: int, seat: int, key: str, joined_ms: int) -> None:
        if table := self._tables.get(game_id):
            table.moved(seat, key, joined_ms)

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look()
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
            except Exception:
                logger.exception("A look failed")

    async def _look(self) -> None:
        last = self._seen.get(self.server)
        look = await self._heart.run(self._ask, list(self._tables), self._ended_after)
        self._seen = look.seen
        for game_id, head in look.heads.items():
            self._heard(game_id, head)
        if last is not None and look.now - last > servers.SILENT_MS:
            for table in self._tables.values():
                table.was_left_alone(look.now - last)
        for game_id in look.orphans:
            await self._adopt(game_id)
        if look.ended:
            self._ended_after = look.ended[-1].pk
        for page in [page for table in self._tables.values() for page in table.pages]:
            if any(page.is_of(ended) for ended in look.ended):
                await page.end(CloseCode.SIGNED_OUT, "signed_out")
            elif page.is_quiet():
                await page.end(CloseCode.QUIET, "quiet")

    def _ask(self, game_ids: list[int], ended_after: int) -> Look:
        self.clock.follow(servers.database_now)
        now = self.clock.now()
        servers.beat(self.server, now)
        return Look(
            now=now,
            seen=servers.last_seen(),
            heads=log.heads(game_ids),
            orphans=servers.orphans(now, self.server),
            ended=list(EndedSession.objects.filter(pk__gt=ended_after).order_by("pk")[:1000]),
        )

    async def _adopt(self, game_id: int) -> None:
        table = self._tables.get(game_id)
        if table is None:
            opened = await self.reader.run(opening.find_by_id, game_id)
            if opened is None:
                return
            table = self._table(opened)
        table.wake()


_here: dict[asyncio.AbstractEventLoop, asyncio.Task[Tables]] = {}


async def here() -> Tables:
    """The tables of this process and event loop, started by whoever asks first."""
    loop = asyncio.get_running_loop()
    if loop not in _here:
        _here[loop] = loop.create_task(_started())
    try:
        return await asyncio.shield(_here[loop])
    except log.Unwritten:
        _here.pop(loop, None)
        raise


async def _started() -> Tables:
    tables = Tables()
    await tables.start()
    return tables
