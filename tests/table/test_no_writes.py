"""While the database takes no writes: few tries, players who know, and play that goes on by itself."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager

import pytest
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connection

from games import deadlines, log
from games.backoff import FIRST_SECONDS, LONGEST_SECONDS, Backoff
from games.tables import Tables
from tests.browser.site import Site, running_site
from tests.settings import FOLDER, ON_POSTGRES, POSTGRES_FOLDER, VALKEY
from tests.support.proxy import MutableProxy, proxy_to
from tests.table.conftest import QUICK, Match, NewMatch, NewTables, garage, skip
from tests.table.inside import InnerPage
from tests.table.page import Page
from tests.table.racers import Racer, lost_or_doubled, racing
from tests.table.test_crash import LONG
from tests.table.test_storage import full, read_only, reading_only

pytestmark = [pytest.mark.both_databases]

FAULT_SECONDS = 4.0
# In that time a table tries at 0, 0.25, 0.75, 1.75 and 3.75 s at the earliest with half of each pause, and each command
# some times more; the tables that were mended here tried some thousand times.
MOST_TRIES = 15


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_pauses_grow_to_five_seconds_differ_and_begin_anew_after_a_success() -> None:
    clock = Clock()
    backoff = Backoff(clock)
    assert backoff.seconds_left() == 0
    pauses = []
    for _ in range(30):
        pauses.append(backoff.fail())
        assert backoff.seconds_left() == pytest.approx(pauses[-1])
        clock.now += pauses[-1]
        assert backoff.seconds_left() == pytest.approx(0)
    assert FIRST_SECONDS / 2 <= pauses[0] <= FIRST_SECONDS
    assert all(LONGEST_SECONDS / 2 <= pause <= LONGEST_SECONDS for pause in pauses[6:])
    assert len(set(pauses[6:])) > 10
    assert backoff.failing_since == 100.0
    backoff.succeed()
    assert (backoff.failing_since, backoff.seconds_left()) == (None, 0)
    assert backoff.fail() <= FIRST_SECONDS


class CountingPen(log.Pen):
    """Notes when something was to be written."""

    def __init__(self) -> None:
        super().__init__()
        self.tries: list[float] = []

    def append(self, append: log.Append) -> "asyncio.Future[None]":
        self.tries.append(time.monotonic())
        return super().append(append)


@contextmanager
def counting(tables: Tables) -> Iterator[CountingPen]:
    tables.pen.close()
    tables.pen = pen = CountingPen()
    yield pen


async def test_a_limit_that_has_passed_is_tried_with_growing_pauses(
    new_match: NewMatch, new_tables: NewTables, caplog: pytest.LogCaptureFixture
) -> None:
    tables = await new_tables()
    matches = [await new_match() for _ in range(3)]
    pages = [page for match in matches for page in await match.inside(tables)]
    with counting(tables) as pen, caplog.at_level(logging.WARNING):
        async with reading_only(tables):
            for page in pages[::2]:
                page.ask_for("lift", tile=garage(page)[0])
            # The time of each search is up, and nothing can be stored of it.
            skip(tables, QUICK.search_ms)
            caplog.clear()
            pen.tries.clear()
            await asyncio.sleep(FAULT_SECONDS)
            tries, lines = len(pen.tries), len(caplog.records)
        ended = time.monotonic()
        for page in pages:
            await page.until(lambda page: page.sight["phase"] != "search")
        took = time.monotonic() - ended
    assert len(matches) <= tries <= len(matches) * MOST_TRIES
    assert lines <= 4 * tries + 10
    assert took < 2 * LONGEST_SECONDS
    for match in matches:
        assert await match.faults() == []


@asynccontextmanager
async def no_writes() -> AsyncIterator[None]:
    """Every write of every process fails, and every read is answered."""
    if ON_POSTGRES:
        async with read_only():
            yield
        return
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_pages_hear_when_moves_wait_and_when_they_count_again(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    watcher = await InnerPage(None).join(tables, match.game)
    async with no_writes():
        for page in (alice, bob, watcher):
            await page.until(lambda page: page.of_moves[-1:] == ["moves_wait"])
        late = await InnerPage(None, "late").join(tables, match.game)
        await late.until(lambda page: page.of_moves[-1:] == ["moves_wait"])
        assert (await alice.do("lift", tile=garage(alice)[0]))["code"] == "unavailable"
    for page in (alice, bob, watcher, late):
        await page.until(lambda page: page.of_moves[-1] == "moves_count")
    assert await match.faults() == []


async def test_a_short_fault_is_waited_out_and_nothing_is_refused(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)

    class FailsOnce(log.Pen):
        failed = False

        def append(self, append: log.Append) -> "asyncio.Future[None]":
            if self.failed:
                return super().append(append)
            self.failed = True
            answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            answer.set_exception(log.Unwritten("the server restarts"))
            return answer

    tables.pen.close()
    tables.pen = FailsOnce()
    assert (await alice.do("lift", tile=garage(alice)[0]))["type"] == "events"
    assert alice.refused == bob.refused == []


async def test_a_game_that_another_writer_holds_keeps_no_other_game_waiting(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    if not ON_POSTGRES:
        return  # SQLite locks no rows: any writer holds up all others.
    held, other, tables = await new_match(), await new_match(), await new_tables()
    alice, carol = (await held.inside(tables))[0], (await other.inside(tables))[0]
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def hold() -> None:
        def work() -> None:
            with connection.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute("SELECT id FROM games_game WHERE id = %s FOR UPDATE", [held.game.pk])
                loop.call_soon_threadsafe(begun.set)
                asyncio.run_coroutine_threadsafe(ended.wait(), loop).result()
                cursor.execute("ROLLBACK")
            connection.close()

        await asyncio.to_thread(work)

    holding = asyncio.create_task(hold())
    await begun.wait()
    refused = alice.ask_for("lift", "once", tile=garage(alice)[0])
    accepted = await carol.do("lift", tile=garage(carol)[0])
    assert accepted["type"] == "events"
    assert (await refused)["code"] == "unavailable"
    assert not tables.storing.cannot_append()
    ended.set()
    await holding


@pytest.mark.django_db
def test_the_nearest_deadline_holds_and_leaves_some_time_for_an_answer() -> None:
    assert deadlines.seconds_left() is None
    with deadlines.within(5):
        left = deadlines.seconds_left()
        assert left is not None
        assert 4 < left <= 5
        with deadlines.within(0):
            assert deadlines.seconds_left() == deadlines.LEAST_SECONDS
    assert deadlines.seconds_left() is None


# A database whose host has vanished -----------------------------------------------------------------------------------

if ON_POSTGRES:

    @pytest.fixture(scope="module")
    def line(django_db_setup: None) -> Iterator[MutableProxy]:
        with proxy_to(POSTGRES_FOLDER / ".s.PGSQL.5432") as proxy:
            yield proxy

    @pytest.fixture(scope="module")
    def far_web(line: MutableProxy, valkey_server: object) -> Iterator[Site]:
        """A web process whose database is on another host."""
        address = f"postgres://midnight@{line.address}/{settings.DATABASES['default']['NAME']}"
        with running_site(FOLDER, address, f"unix://{VALKEY}") as running:
            yield running

    @asynccontextmanager
    async def muted(line: MutableProxy) -> AsyncIterator[None]:
        await asyncio.to_thread(line.mute)
        try:
            yield
        finally:
            await asyncio.to_thread(line.unmute)

    @pytest.mark.slow
    async def test_a_database_whose_host_vanishes_costs_no_move_and_players_are_told(
        far_web: Site,
        line: MutableProxy,
        new_match: NewMatch,
        so_often: Callable[[int, int], int],
        in_time: Callable[[float], float],
    ) -> None:
        matches = [await new_match(2, LONG) for _ in range(2)]
        pages = [page for match in matches for page in await match.search(far_web)]
        async with racing(pages) as racers:
            for racer in racers:
                await racer.hears_again()
            async with muted(line):
                began = asyncio.get_running_loop().time()
                for page in pages:
                    await page.until(lambda page: page.of_moves[-1:] == ["moves_wait"])
                assert asyncio.get_running_loop().time() - began < in_time(2.0)
                await asyncio.sleep(so_often(6, 60))
            ended = asyncio.get_running_loop().time()
            for racer in racers:
                await racer.hears_again()
            assert asyncio.get_running_loop().time() - ended < in_time(8.0)
            for page in pages:
                await page.until(lambda page: page.of_moves[-1] == "moves_count")
            assert all(page.close_code is None for page in pages)
            await all_is_well(matches, racers)

    async def all_is_well(matches: list[Match], racers: list[Racer]) -> None:
        await asyncio.gather(*(racer.rest() for racer in racers))
        for match in matches:
            own = [racer for racer in racers if racer.page in match.pages]
            await match.all_see_the_log([racer.page for racer in own])
            assert await database_sync_to_async(lambda own=own, match=match: list(lost_or_doubled(match, own)))() == []
            assert await match.faults() == []


# A disk without room --------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_full_disk_is_told_to_players_and_to_the_log_in_few_lines(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int]
) -> None:
    match = await new_match(2, LONG)
    pages: list[Page] = await match.search(web)
    async with racing(pages) as racers:
        for racer in racers:
            await racer.hears_again()
        async with full(web):
            for page in pages:
                await page.until(lambda page: page.of_moves[-1:] == ["moves_wait"])
            before = web.log.read_text(errors="replace").count("\n")
            seconds = so_often(5, 30)
            await asyncio.sleep(seconds)
            lines = web.log.read_text(errors="replace").count("\n") - before
        for racer in racers:
            await racer.hears_again()
        for page in pages:
            await page.until(lambda page: page.of_moves[-1] == "moves_count")
        await asyncio.gather(*(racer.rest() for racer in racers))
    assert lines <= 20 * seconds
    assert await match.faults() == []
