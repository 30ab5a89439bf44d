"""The database is full, read-only, locked or cut off in the middle of a race."""

import asyncio
import resource
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing

import psycopg
import pytest
from channels.db import database_sync_to_async
from django.conf import settings

from tests.browser.site import Site
from tests.settings import ON_POSTGRES
from tests.table.conftest import Match, NewMatch, database_address, same_as_reload
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
async def read_only(web: Site) -> AsyncIterator[None]:
    on_postgres("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
    try:
        yield
    finally:
        on_postgres("ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")


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
    FAULTS = {"full": full, "read_only": read_only}
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
