"""The web process dies in the middle of a race, at any moment, as from a power cut."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from channels.db import database_sync_to_async

from tests.browser.site import Site
from tests.table.conftest import QUICK, NewMatch, eventually, same_as_reload
from tests.table.racers import lost_or_doubled, racing

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

LONG = replace(QUICK, hand_ms=60_000, search_ms=30 * 60_000)


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
            await eventually(lambda: asyncio.to_thread(web.answers), 60)
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
