"""The database is full, read-only, locked or cut off in the middle of a race."""

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from functools import partial
from typing import Any

import psycopg
import pytest
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from games.tables import Tables
from tests.browser.site import Site
from tests.settings import ON_POSTGRES
from tests.table.conftest import Match, NewMatch, NewTables, database_address, eventually, garage, same_as_reload
from tests.table.inside import InnerPage
from tests.table.racers import Racer, lost_or_doubled, racing
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

NO_ROOM = """
    CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON games_event EXECUTE FUNCTION no_room();
"""


def on_postgres(*statements: str) -> None:
    with psycopg.connect(database_address(), autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]


@asynccontextmanager
async def full(web: Site) -> AsyncIterator[None]:
    if ON_POSTGRES:
        on_postgres(NO_ROOM)
        try:
            yield
        finally:
            on_postgres("DROP TRIGGER no_room ON games_event", "DROP FUNCTION no_room")
    else:
        # Not one more page fits into any of its files.
        assert web.process is not None
        before = resource.prlimit(web.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(web.process.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            yield
        finally:
            resource.prlimit(web.process.pid, resource.RLIMIT_FSIZE, before)


@asynccontextmanager
async def read_only() -> AsyncIterator[None]:
    await everybody_hears("ALTER SYSTEM SET default_transaction_read_only = on", "on")
    try:
        yield
    finally:
        await everybody_hears("ALTER SYSTEM RESET default_transaction_read_only", "off")


async def everybody_hears(statement: str, how: str) -> None:
    """PostgreSQL is set so, and has told its processes when a new one knows."""
    on_postgres(statement, "SELECT pg_reload_conf()")

    async def heard() -> bool:
        with psycopg.connect(database_address()) as connection:
            return connection.execute("SHOW default_transaction_read_only").fetchone() == (how,)

    await eventually(heard)


def opened_for_reading(connection: BaseDatabaseWrapper, **_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = on")


@asynccontextmanager
async def reading_only(tables: Tables) -> AsyncIterator[None]:
    """The same for these tables. A SQLite file that is open for writing stays so: each of theirs is opened anew."""
    if ON_POSTGRES:
        async with read_only():
            yield
        return
    connection_created.connect(opened_for_reading)
    for reader in (tables.reader, tables._heart):
        await reader.run(connections.close_all)
    await asyncio.to_thread(tables.pen.close)
    try:
        yield
    finally:
        connection_created.disconnect(opened_for_reading)


async def locked() -> None:
    """Somebody else writes for a while."""
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(1)
        other.execute("ROLLBACK")


async def held_up() -> None:
    """Somebody else has the games' rows for a while."""
    with psycopg.connect(database_address()) as other:
        other.execute("SELECT id FROM games_game FOR UPDATE")
        await asyncio.sleep(1)


BREAK_ALL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{0}' AND pid <> pg_backend_pid()"


async def cut_off(seconds: float = 0) -> None:
    """All connections break, whatever they are doing, and for so long nobody gets a new one."""
    name = settings.DATABASES["default"]["NAME"]
    with psycopg.connect(database_address("postgres"), autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")  # type: ignore[call-overload]
        other.execute(BREAK_ALL.format(name))  # type: ignore[call-overload]
        await asyncio.sleep(seconds)
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")  # type: ignore[call-overload]


async def away() -> None:
    await cut_off(6)


FAULTS: dict[str, Callable[[Site], AbstractAsyncContextManager[None]]] = {"full": full}
INTERRUPTIONS: dict[str, Callable[[], Awaitable[None]]] = {"locked": locked}
if ON_POSTGRES:
    FAULTS = {"full": full, "read_only": lambda _: read_only()}
    INTERRUPTIONS = {"held_up": held_up, "cut_off": cut_off, "away": away}


async def all_is_well(match: Match, racers: list[Racer]) -> None:
    await asyncio.gather(*(racer.rest() for racer in racers))
    await match.all_see_the_log([racer.page for racer in racers])
    assert await database_sync_to_async(lambda: list(lost_or_doubled(match, racers)))() == []
    assert await match.faults() == []


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_cannot_be_stored_is_refused_and_counts_when_there_is_room_again(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int], fault: str
) -> None:
    match = await new_match(2, LONG)
    pages = await match.search(web)
    async with racing(pages) as racers:
        for racer in racers:
            await racer.hears_again()
        async with FAULTS[fault](web):
            for racer in racers:
                await racer.page.until(lambda _: "unavailable" in racer.refused, 30)  # noqa: B023 - awaited here
            acknowledged = [dict(racer.acknowledged) for racer in racers]
            # Who only looks is served all the same.
            watcher = await match.page(web, None).open()
            await asyncio.sleep(so_often(3, 30))
            await match.all_see_the_log([*pages, watcher])
            assert [racer.acknowledged for racer in racers] == acknowledged
        for racer in racers:
            await racer.hears_again()
        await all_is_well(match, racers)
    for page in (*pages, watcher):
        assert page.close_code is None
        await same_as_reload(page)


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
async def test_a_database_that_is_held_up_or_cut_off_makes_everybody_wait_and_nobody_lose(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int], interruption: str
) -> None:
    match = await new_match(2, LONG)
    pages = await match.search(web)
    async with racing(pages) as racers:
        for _ in range(so_often(1, 20)):
            for racer in racers:
                await racer.hears_again()
            await INTERRUPTIONS[interruption]()
        for racer in racers:
            await racer.hears_again()
        await all_is_well(match, racers)
    for page in pages:
        assert page.close_code is None


async def test_a_process_that_may_only_read_refuses_everything_and_goes_on_when_it_may_write_again(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, other, tables = await new_match(), await new_match(pace="relaxed"), await new_tables()
    alice, bob = await match.inside(tables)
    waiting = await InnerPage(0).join(tables, other.game)
    tile = garage(alice)[0]

    async def is_unavailable(page: InnerPage) -> bool:
        answer = await page.do("lift", "once", tile=tile)
        # Who could not write for two seconds, while others still could, was taken for dead: the game resumes first.
        assert answer["code"] in ("unavailable", "resuming")
        return bool(answer["code"] == "unavailable")

    async with reading_only(tables):
        for page in (alice, bob):
            await eventually(partial(is_unavailable, page))
        before = alice.head
        waiting.give_nonce(bytes(range(16)))
        await waiting.until(lambda page: page.refused == ["unavailable"])
        watcher = await InnerPage(None).join(tables, match.game)
        await match.all_see_the_log([alice, bob, watcher])
        assert (alice.head, bob.head, waiting.nonce) == (before, before, "")

    async def is_stored() -> bool:
        answer = await alice.do("lift", "once", tile=tile)
        assert answer.get("code") in (None, "unavailable", "resuming")
        return bool(answer["type"] == "events")

    # The table is in a pause of some seconds between two tries.
    await eventually(is_stored)
    assert (await bob.do("lift", "once", tile=tile))["code"] == "tile_gone"
    # What was opened for reading may be given up only now.
    for _ in range(2):
        waiting.give_nonce(bytes(range(16)))
    await waiting.until(lambda page: page.nonce == bytes(range(16)).hex())
    await match.all_see_the_log([alice, bob, watcher])
    assert await match.faults() == []
