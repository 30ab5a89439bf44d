"""A gentle stop: another process takes the games over, and no player loses more than the moment of coming back."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from channels.db import database_sync_to_async
from django.db import connection, transaction

from games import servers
from games.clock import site_now
from games.doorbell import Doorbell
from games.frames import CloseCode
from games.models import Game, Server
from games.rules.events import Resumed
from tests.browser.site import HANGS_SECONDS, Site
from tests.settings import ON_POSTGRES
from tests.table.conftest import Match, NewMatch, NewTables, eventually, garage, log_of
from tests.table.inside import InnerPage
from tests.table.long_games import long_game
from tests.table.page import Page
from tests.table.racers import lost_or_doubled, racing
from tests.table.test_crash import LONG
from tests.table.test_processes import SHORT_HANDS

pytestmark = [pytest.mark.both_databases]


async def resumed(match: Match) -> list[Resumed]:
    happened = await database_sync_to_async(log_of)(match.game.pk)
    return [event for event in happened if isinstance(event, Resumed)]


async def keeper_of(match: Match) -> int | None:
    return (await Game.objects.aget(pk=match.game.pk)).kept_by_id


@database_sync_to_async
def standstill_ms(match: Match, seq: int) -> int:
    """The longest time without an event after that one."""
    moments = [event.at for event in log_of(match.game.pk) if event.seq >= seq]
    return max(after - before for before, after in pairwise(moments))


async def test_the_clock_of_a_game_that_was_handed_over_goes_on(new_match: NewMatch, new_tables: NewTables) -> None:
    match, keeper, heir = await new_match(limits=SHORT_HANDS), await new_tables(), await new_tables()
    alice, _ = await match.inside(keeper)
    await alice.do("lift", tile=garage(alice)[0])
    await keeper.stop()
    assert alice.closed == CloseCode.STOPPING
    assert await keeper_of(match) == heir.server
    watcher = await InnerPage(None).join(heir, match.game)
    await watcher.until(lambda page: page.sight["players"][0]["hand"] is None)
    assert await resumed(match) == []
    assert await match.faults() == []


async def test_a_game_is_taken_though_the_word_of_it_is_lost(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Doorbell, "offer", lambda *_: None)
    monkeypatch.setattr("games.handover.PREPARE_SECONDS", 0.1)
    match, keeper, heir = await new_match(), await new_tables(), await new_tables()
    await match.inside(keeper)
    await keeper.stop()

    async def is_taken() -> bool:
        table = heir._tables.get(match.game.pk)
        return table is not None and table.kept_here

    await eventually(is_taken)
    assert await resumed(match) == []


async def test_a_process_without_another_one_keeps_its_games(new_match: NewMatch, new_tables: NewTables) -> None:
    match, keeper = await new_match(), await new_tables()
    await match.inside(keeper)
    await keeper.stop()
    assert await keeper_of(match) == keeper.server


async def test_no_game_is_given_to_a_process_that_stops_stands_still_or_is_gone(new_tables: NewTables) -> None:
    tables = await new_tables()
    now = tables.clock.wall()
    stopping, stuck, _, well = [
        (await Server.objects.acreate(name=name, seen=now, turned=turned, pulse=pulse)).pk
        for name, turned, pulse in [
            ("stopping", now, {servers.STOPPING: True}),
            ("stuck", now - servers.STUCK_MS, {}),
            ("gone", now, {}),
            ("well", None, {}),
        ]
    ]
    alive = [tables.server, stopping, stuck, well]
    assert await database_sync_to_async(servers.successors)(tables.server, alive) == [well]


# From here on real processes run, which would be given the games of the tests above.


def comes_back_at(page: Page, web: Site) -> None:
    """As behind a proxy, which finds the other process gone."""
    page.address = f"ws://localhost:{web.port}/{page.address.split('/', 3)[3]}"
    page.headers["Origin"] = web.url


def how_many_successors() -> int:
    alive = servers.seem_alive(servers.signs(), site_now(), servers.SILENT_MS)
    return len(servers.successors(0, alive))


async def start(*webs: Site) -> None:
    """Start these processes; both there are look after games then."""

    async def both_are_enlisted() -> bool:
        return await database_sync_to_async(how_many_successors)() == 2

    for web in webs:
        web.spawn()
    for web in webs:
        await eventually(lambda web=web: asyncio.to_thread(web.answers), HANGS_SECONDS)
    await eventually(both_are_enlisted, HANGS_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("events", [20, 3_000], ids=["young", "long"])
async def test_a_racing_table_moves_to_the_other_process_without_a_fault(
    web: Site, other_web: Site, new_match: NewMatch, so_often: Callable[[int, int], int], events: int
) -> None:
    match, here, there = await new_match(2, LONG), web, other_web
    for process in (here, there):
        # They would begin the game themselves while it is written.
        await asyncio.to_thread(process.stop)
    await long_game(match, events)
    await start(here, there)
    pages = [await match.page(here, seat).open() for seat in range(2)]
    async with racing(pages) as racers:
        for turn in range(so_often(2, 20)):
            for racer in racers:
                await racer.hears_again()
            before = pages[0].head
            for page in pages:
                comes_back_at(page, there)
            await asyncio.to_thread(here.stop)
            for racer in racers:
                await racer.hears_again()
            print(f"{await standstill_ms(match, before)} ms without a move")  # noqa: T201
            await start(here)
            here, there = there, here
            assert [page.notices for page in pages] == [["stopping"] * (turn + 1)] * 2
        await asyncio.gather(*(racer.rest() for racer in racers))
    assert await resumed(match) == []
    assert not {code for racer in racers for code in racer.refused} & {"resuming", "unavailable"}
    assert await database_sync_to_async(lambda: list(lost_or_doubled(match, racers)))() == []
    await match.all_see_the_log(pages)
    assert await match.faults() == []


@contextmanager
def mute_database() -> Iterator[None]:
    """Nothing is written, and on PostgreSQL nothing read, until the end."""
    locked, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            if ON_POSTGRES:
                cursor.execute("LOCK TABLE games_game, games_server, games_event IN ACCESS EXCLUSIVE MODE")
            locked.set()
            over.wait(HANGS_SECONDS)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait(HANGS_SECONDS)
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
async def test_a_process_ends_though_the_database_does_not_answer(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    match = await new_match(4, LONG)
    pages = await match.search(web)
    async with racing(pages) as racers:
        for racer in racers:
            await racer.hears_again()
        assert web.process is not None
        with mute_database():
            for page in pages:
                comes_back_at(page, other_web)
            began = time.monotonic()
            web.process.terminate()
            await asyncio.to_thread(web.process.wait, HANGS_SECONDS)
            print(f"ended after {time.monotonic() - began:.1f} s")  # noqa: T201
        for racer in racers:
            await racer.hears_again()
        await asyncio.gather(*(racer.rest() for racer in racers))
    assert await database_sync_to_async(lambda: list(lost_or_doubled(match, racers)))() == []
    await start(web)
