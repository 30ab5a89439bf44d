"""The web process dies in the middle of a race, at any moment, as from a power cut; or it is asked to stop."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from channels.db import database_sync_to_async

from games.frames import CloseCode
from tests.browser.site import HANGS_SECONDS, Site
from tests.table.conftest import QUICK, NewMatch, eventually, same_as_reload
from tests.table.racers import lost_or_doubled, racing

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

LONG = replace(QUICK, hand_ms=60_000, search_ms=30 * 60_000, events=1_000_000)


async def test_killed_at_any_moment_no_acknowledged_command_is_lost_and_none_counts_twice(
    web: Site,
    new_match: NewMatch,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
) -> None:
    chance = random.Random(7)
    match = await new_match(4, LONG)
    pages = await match.search(web)
    loop = asyncio.get_running_loop()
    async with racing(pages) as racers:
        for _ in range(so_often(5, 200)):
            # First the countdown that follows a fault goes by (R8.10).
            for racer in racers:
                await racer.hears_again()
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            web.kill()
            web.spawn()
            await eventually(lambda: asyncio.to_thread(web.answers), HANGS_SECONDS)
            back = loop.time()
            await asyncio.gather(*(racer.rest() for racer in racers))
            watcher = await match.page(web, None).open()
            await match.all_see_the_log([*pages, watcher], back + in_time(2.0) - loop.time())
            await watcher.close()
            for racer in racers:
                racer.go()
        await asyncio.gather(*(racer.rest() for racer in racers))
    assert await database_sync_to_async(lambda: list(lost_or_doubled(match, racers)))() == []
    assert all(len(racer.acknowledged) > so_often(5, 200) for racer in racers)
    for page in pages:
        await same_as_reload(page)
    assert await match.faults() == []


async def test_stopped_in_the_middle_of_a_race_the_pages_are_told_and_come_back_and_nothing_is_lost(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int], in_time: Callable[[float], float]
) -> None:
    racing_match, waiting_match = await new_match(4, LONG), await new_match(2, LONG)
    pages = await racing_match.search(web)
    patient = await waiting_match.sit_down(web)
    await patient[0].do("ready", on=True)
    async with racing(pages) as racers:
        for turn in range(so_often(2, 20)):
            for racer in racers:
                await racer.hears_again()
            await asyncio.to_thread(web.stop)
            for page in patient:
                await page.until(lambda page: page.close_code == CloseCode.STOPPING)
            web.spawn()
            await eventually(lambda: asyncio.to_thread(web.answers), HANGS_SECONDS)
            back = asyncio.get_running_loop().time()
            await asyncio.gather(*(racer.rest() for racer in racers))
            # Who is back before the old process has gone is told once more.
            assert all(set(page.notices) == {"stopping"} for page in pages)
            assert all(len(page.notices) > turn for page in pages)
            assert all(page.notices == ["stopping"] * (turn + 1) for page in patient)
            await racing_match.all_see_the_log(pages, back + in_time(2.0) - asyncio.get_running_loop().time())
            for page in patient:
                await page.open()
            # Nobody went away: it was the server that did.
            assert patient[1].sight["players"][0]["ready"]
            for racer in racers:
                racer.go()
        await asyncio.gather(*(racer.rest() for racer in racers))
    assert await database_sync_to_async(lambda: list(lost_or_doubled(racing_match, racers)))() == []
    assert await racing_match.faults() == await waiting_match.faults() == []
