"""Players at tables, a fault, and what came of it: what has to hold after every fault, and what it cost."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from websockets.exceptions import WebSocketException

from tests.faults.faults import Fault
from tests.faults.journal import Told
from tests.faults.player import Heard, Player
from tests.faults.site import CommandFailed, Site, eventually
from tests.midnight.running import HANGS_SECONDS, ROOT, clean_environment

MINUTE = 60
# How long all tables play before the fault and after it.
SETTLED_SECONDS = 1.0
# What has not played on by itself so long after a fault will not.
MOST_SECONDS = 120
# How soon the site is to say of itself that it is well, and how long that is waited for.
WELL_SECONDS, MOST_ILL_SECONDS = 30, 60
LOOK_SECONDS = 2
MOST_MORE_TABLES = 6
# In so long a ranked game has come to its end, whatever happened meanwhile.
EVENING_SECONDS = 30 * MINUTE


@dataclass
class Table:
    """A race that has always a move to make."""

    code: str
    players: list[Player]
    heard: Heard

    def plays_since(self, moment: float) -> bool:
        return bool(self.heard.accepted) and self.heard.accepted[-1] > moment

    def played_again(self, moment: float) -> float:
        """How long after that moment the first move was accepted."""
        return next((at for at in self.heard.accepted if at > moment), time.monotonic()) - moment

    def stood_still(self, begin: float, end: float) -> float:
        """The longest time without an accepted move between two moments."""
        moments = [begin, *(at for at in self.heard.accepted if begin < at < end), end]
        return max(after - before for before, after in pairwise(moments))


@dataclass
class Outcome:
    """What one fault did. `wrong` has every promise that was broken: whatever it cost, it must be empty."""

    fault: Fault
    still: float = 0
    after: float = 0
    well: float | None = None
    unheard: float = 0
    told: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    memory: tuple[str, int, int] = ("", 0, 0)
    lines: tuple[str, int] = ("", 0)
    acknowledged: int = 0
    wrong: list[str] = field(default_factory=list)

    def missed(self, lines: int = 60, memory: int = 100) -> list[str]:
        """The aims that it does not meet."""
        aim, found = self.fault.aim, []
        if aim.still is not None and self.still > aim.still:
            found.append(f"stood still for {self.still:.1f} s ({aim.name})")
        if aim.after is not None and self.after > aim.after:
            found.append(f"played again {self.after:.1f} s after it ({aim.name})")
        if self.well is not None and self.well > WELL_SECONDS:
            found.append(f"not well for {self.well:.0f} s after it")
        if self.resumed > 1:
            found.append(f"resumed {self.resumed} times")
        if self.lines[1] > lines:
            found.append(f"{self.lines[0]} logged {self.lines[1]} lines in a minute")
        if self.memory[2] - self.memory[1] > memory:
            found.append(f"{self.memory[0]} took {self.memory[2]} MB")
        return found


class Watch:
    """What an operator sees meanwhile: what the processes say of their health, their memory, their logs."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.health: Counter[str] = Counter()
        self.well_since: float | None = None
        self._ill: set[str] = set()
        self.before = {name: site[name].memory() for name in site.ours}
        self.most = dict(self.before)
        self._lines: dict[str, list[tuple[float, int]]] = {name: [] for name in site.ours}
        self._tracebacks = {name: site[name].tracebacks() for name in site.ours}

    async def run(self) -> None:
        while True:
            self.look()
            self._ill.clear()
            asked = (self._ask(web, path) for web in self.site.webs for path in self.site.health)
            await asyncio.gather(*asked, asyncio.sleep(LOOK_SECONDS))
            self.well_since = None if self._ill else self.well_since or time.monotonic()

    async def _ask(self, web: str, path: str) -> None:
        status = await self.site.status(web, path)
        if status != 200:
            self._ill.add(web)
            self.health[f"{web} {path} {status or 'no answer'}"] += 1

    def look(self) -> None:
        now = time.monotonic()
        for name in self.site.ours:
            self._lines[name].append((now, self.site[name].lines()))
            memory = self.site[name].memory()
            self.before[name] = self.before[name] or memory
            self.most[name] = max(self.most[name], memory)

    def seen(self) -> Counter[str]:
        """Pages that said that something is wrong, and errors that the code did not foresee."""
        new = {f"{name} traceback": self.site[name].tracebacks() - count for name, count in self._tracebacks.items()}
        return self.health + Counter(new)

    def memory(self) -> tuple[str, int, int]:
        """The process that grew most: its name, what it had and the most it had."""
        name = max(self.before, key=lambda name: self.most[name] - self.before[name])
        return name, self.before[name], self.most[name]

    def lines(self) -> tuple[str, int]:
        """The process that logged most in any one minute, and how many lines."""
        self.look()
        return max(((name, _most_in_a_minute(counts)) for name, counts in self._lines.items()), key=lambda one: one[1])


def _most_in_a_minute(counts: Sequence[tuple[float, int]]) -> int:
    return max((late - early for at, early in counts for then, late in counts if at <= then <= at + MINUTE), default=0)


class Campaign:
    def __init__(self, site: Site) -> None:
        self.site = site
        self.journal = site.journal
        self.tables: list[Table] = []
        self._playing: list[asyncio.Task[None]] = []
        self._players = 0

    # Tables -----------------------------------------------------------------------------------------------------------

    async def sit_down(self, sizes: Sequence[int]) -> None:
        """Open a race for each number of players, and wait until all of them play.

        There is one at every web process: while it has none, another one is opened.
        """
        await self._open(sizes)
        for _ in range(MOST_MORE_TABLES):
            if set(self.site.webs) <= set(self.site.keepers({table.code for table in self.tables}).values()):
                break
            await self._open([2])

    async def _open(self, sizes: Sequence[int]) -> None:
        wanted = [{"players": size, "ranked": False} for size in sizes]
        for opened in await self.site.staged("open", wanted):
            heard = Heard()
            players = [self._player(opened["code"], cookie, heard) for cookie in opened["cookies"]]
            self.tables.append(Table(opened["code"], players, heard))
            self._playing += [asyncio.create_task(player.run()) for player in players]
        await self._until_all_play(time.monotonic())

    def _player(self, code: str, cookie: str, heard: Heard) -> Player:
        self._players += 1
        return Player(self.site.door(self._players), code, cookie, self.journal, heard)

    async def get_up(self) -> None:
        """All players leave, so that the games end, and close their pages."""
        await self._rest()
        for table in self.tables:
            for player in table.players[1:]:
                await player.leave()
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await asyncio.gather(*(table.players[0].over.wait() for table in self.tables))
        await self.abandon()

    async def abandon(self) -> None:
        """Close all pages, as they are."""
        for task in self._playing:
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)
        self.tables.clear()
        self._playing.clear()

    async def _rest(self) -> None:
        async with asyncio.timeout(HANGS_SECONDS):
            await asyncio.gather(*(player.rest() for table in self.tables for player in table.players))

    async def _until_all_play(self, since: float, seconds: float = HANGS_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while not all(table.plays_since(since) for table in self.tables):
                self._raise_of_players()
                await asyncio.sleep(0.02)

    def _raise_of_players(self) -> None:
        """A player that ended met something that PROTOCOL.md does not say."""
        for task in self._playing:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    # A fault ----------------------------------------------------------------------------------------------------------

    async def suffer(self, fault: Fault, settled: float = SETTLED_SECONDS, patient: bool = False) -> Outcome:
        """Let it happen while all play; the answer is what it cost, and what was wrong afterwards.

        `settled`: how long all play before it and after it. `patient`: wait also until the site says that it is well.
        """
        outcome = Outcome(fault)
        players = [player for table in self.tables for player in table.players]
        told = self._told()
        resumed = self._resumed()
        for table in self.tables:
            table.heard.waits.clear()
        await self._until_all_play(time.monotonic())
        watch = Watch(self.site)
        watching = asyncio.create_task(watch.run())
        try:
            await asyncio.sleep(settled)
            begin = time.monotonic()
            await fault.begin(self.site)
            await asyncio.sleep(fault.seconds)
            if fault.end is not None:
                await fault.end(self.site)
            over = time.monotonic()
            try:
                await self._until_all_play(over, MOST_SECONDS)
            except TimeoutError:
                outcome.wrong.append(f"play did not go on by itself within {MOST_SECONDS} s")
                await self.site.repair()
                await self._until_all_play(time.monotonic())
            outcome.after = max(table.played_again(over) for table in self.tables)
            await asyncio.sleep(settled)
            end = time.monotonic()
            if patient:
                outcome.well = await self._well_after(watch, over)
                if not await self.site.sends_jobs():
                    outcome.wrong.append("no job is sent")
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        outcome.still = max(table.stood_still(begin, end) for table in self.tables)
        outcome.unheard = max((wait for table in self.tables for wait in table.heard.waits), default=0)
        outcome.told = self._told() - told
        outcome.seen, outcome.memory, outcome.lines = watch.seen(), watch.memory(), watch.lines()
        await self._rest()
        outcome.wrong += [wrong for player in players for wrong in await self._unlike_a_reload(player)]
        outcome.resumed = max((self._resumed() - resumed).values(), default=0)
        outcome.acknowledged, wrong = self._compare_with_the_log()
        outcome.wrong += wrong + punished(self.site, {table.code for table in self.tables})
        for player in players:
            player.go()
        return outcome

    @staticmethod
    async def _well_after(watch: Watch, over: float) -> float:
        """How long it took until every process said that it is well."""
        with suppress(TimeoutError):
            await eventually(lambda: watch.well_since is not None, MOST_ILL_SECONDS)
        return max(0.0, (watch.well_since or time.monotonic()) - over)

    def _told(self) -> Counter[str]:
        return sum((table.heard.told for table in self.tables), Counter())

    def _resumed(self) -> Counter[str]:
        """How often each game had a countdown after a fault so far."""
        rows = self.site.sql(
            "SELECT g.code FROM games_event e JOIN games_game g ON g.id = e.game_id WHERE e.body LIKE '%\"resumed\"%'"
        )
        return Counter(code for (code,) in rows if code in {table.code for table in self.tables})

    async def _unlike_a_reload(self, player: Player) -> list[str]:
        """A live page equals a reloaded page."""
        async with asyncio.timeout(HANGS_SECONDS):
            while True:
                with suppress(OSError, EOFError, WebSocketException):
                    fresh = await player.fresh()
                    if fresh.head == player.picture.head:
                        break
                await asyncio.sleep(0.2)
        if json.dumps(fresh.sight, sort_keys=True) == json.dumps(player.sight, sort_keys=True):
            return []
        parts = [name for name in fresh.sight if fresh.sight[name] != player.sight.get(name)]
        return [f"{player.code}: the page of seat {player.sight['seat']} differs from its reload in {parts}"]

    def _compare_with_the_log(self) -> tuple[int, list[str]]:
        """Each acknowledged move is in the log, once, where its player was told; how many were compared."""
        codes = {table.code for table in self.tables}
        acknowledged = [told for told in self.journal.read() if told.code in codes]
        rows = self.site.sql(
            "SELECT g.code, e.seat, e.command_id, e.seq FROM games_event e JOIN games_game g ON g.id = e.game_id"
            " WHERE e.command_id <> ''"
        )
        return len(acknowledged), lost_or_doubled(acknowledged, [Told(*row) for row in rows if row[0] in codes])

    async def verified(self) -> list[str]:
        """What `manage.py verify` finds in the records of all tables; a game that runs is ended in its copy."""
        file = self.site.folder / "records.jsonl"
        found = await self.site.staged("records", [table.code for table in self.tables])
        file.write_text("".join(f"{line}\n" for line in found))
        judged = await asyncio.to_thread(_verify, file)
        if judged.returncode == 0 and len(found) == len(self.tables):
            return []
        return [f"{len(found)} records of {len(self.tables)} tables: {judged.stdout}{judged.stderr}"]


def _verify(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", "verify", file],
        cwd=ROOT,
        env=clean_environment(MIDNIGHT_VAR=str(file.parent / "var")),
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
    )


def lost_or_doubled(acknowledged: Sequence[Told], rows: Sequence[Told]) -> list[str]:
    """What players were told that the log does not say, or says twice."""
    written: dict[tuple[str, int, str], list[int]] = {}
    for row in rows:
        written.setdefault(row[:3], []).append(row.seq)
    found = [f"{key} is in the log {len(seqs)} times" for key, seqs in written.items() if len(seqs) > 1]
    for told in acknowledged:
        seqs = written.get(told[:3])
        if seqs is None:
            found.append(f"{told} was acknowledged and is lost")
        elif told.seq and told.seq not in seqs:
            found.append(f"{told} was acknowledged, the log says {seqs}")
    return found


def punished(site: Site, codes: Collection[str]) -> list[str]:
    """The seats that were marked as missing, and those of games that became void."""
    seats = site.sql(
        "SELECT g.code, s.number, s.conduct, g.reason FROM games_seat s JOIN games_game g ON g.id = s.game_id"
        " WHERE s.conduct IN ('missed', 'removed') OR g.reason = 'void'"
    )
    return [
        f"{code}: seat {seat} is {conduct or 'seated'}, the game {reason or 'on'}"
        for code, seat, conduct, reason in seats
        if code in codes
    ]


class Evening:
    """Two people who play one ranked game after the other, whatever happens meanwhile."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.codes: list[str] = []
        self.heard = Heard()
        self._begun = time.monotonic()
        self._playing = asyncio.create_task(self._play())

    async def _play(self) -> None:
        while True:
            try:
                (opened,) = await self.site.staged("open", [{"players": 2, "ranked": True}])
            except CommandFailed:
                # The database is away: that is what happens here.
                await asyncio.sleep(1)
                continue
            self.codes.append(opened["code"])
            players = [
                Player(self.site.door(200 + seat), opened["code"], cookie, self.site.journal, self.heard, whole=True)
                for seat, cookie in enumerate(opened["cookies"])
            ]
            await asyncio.gather(*(player.run() for player in players))

    async def end(self) -> list[str]:
        """Play no more; the answer names the games that a fault has ended, or kept from being rated."""
        self._playing.cancel()
        (met,) = await asyncio.gather(self._playing, return_exceptions=True)
        with suppress(TimeoutError):
            await eventually(lambda: all(rated for _, _, rated in self._ended()), MOST_ILL_SECONDS)
        unrated = [
            f"{code} ended as {reason}: {rated or '-'}" for code, reason, rated in self._ended() if rated != "rated"
        ]
        broken = [] if isinstance(met, asyncio.CancelledError) else [f"The ranked players stopped: {met!r}"]
        if time.monotonic() - self._begun > EVENING_SECONDS and not self._ended():
            broken.append("No ranked game came to its end.")
        return broken + unrated + punished(self.site, self.codes)

    def _ended(self) -> list[tuple[str, str, str]]:
        rows = self.site.sql("SELECT code, reason, rated FROM games_game WHERE ranked AND ended IS NOT NULL")
        return [(code, reason, rated) for code, reason, rated in rows]
