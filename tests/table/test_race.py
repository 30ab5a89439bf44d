"""Many hands on one tile, in one instant, over the sockets of two processes."""

import asyncio
import itertools
import statistics
import time
from collections.abc import Callable

import pytest

from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch, garage, same_as_reload
from tests.table.page import Message, Page
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

TABLES = 8
# Each hand asks at most twice in a turn, and 20 times a second (R8.5).
TURN_SECONDS = 0.11


async def timed(page: Page, tile: int) -> tuple[Message, float]:
    """What becomes of this grab, and after how many seconds the page hears it."""
    began = time.monotonic()
    return await page.do("lift", tile=tile), time.monotonic() - began


async def race(match: Match, turns: int, *webs: Site) -> list[float]:
    """Everybody grabs at the same tile, whoever got it puts it back, and so on: how long each loser waits."""
    pages = await match.search(*webs)
    waits = []
    for turn in range(turns):
        began = time.monotonic()
        tile = garage(pages[0])[turn % 4]
        answers = await asyncio.gather(*(timed(page, tile) for page in pages))
        (winner,) = [page for page, (answer, _) in zip(pages, answers, strict=True) if answer["type"] == "events"]
        ((refused, wait),) = [one for one in answers if one[0]["type"] == "refused"]
        assert refused["code"] == "tile_gone"
        waits.append(wait)
        back = await winner.do("return", tile=tile, face="down")
        for page in pages:
            await page.until(lambda page: page.head >= back["head"])  # noqa: B023 - it is awaited here
        await asyncio.sleep(max(0.0, began + TURN_SECONDS - time.monotonic()))
    assert pages[0].head == 1 + len(pages) + 2 + 2 * turns
    for page in pages:
        await same_as_reload(page)
    assert await match.faults() == []
    return waits


async def test_of_two_hands_on_one_tile_one_gets_it_and_the_other_is_told_at_once(
    web: Site,
    other_web: Site,
    new_match: NewMatch,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
) -> None:
    matches = [await new_match(2, LONG) for _ in range(TABLES)]
    turns = so_often(400, 10_000) // TABLES
    waits = await asyncio.gather(*(race(match, turns, web, other_web) for match in matches))
    assert max(itertools.chain(*waits)) < in_time(1.0)
    assert statistics.median(itertools.chain(*waits)) < in_time(0.1)
