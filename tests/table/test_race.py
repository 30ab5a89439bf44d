"""Many hands on one tile, in one instant, over the sockets of two processes."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch, garage, same_as_reload

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

TABLES = 8
# Each hand asks at most twice in a turn, and 20 times a second (R8.5).
TURN_SECONDS = 0.11


async def race(match: Match, turns: int, *webs: Site) -> None:
    """Everybody grabs at the same tile, whoever got it puts it back, and so on."""
    pages = await match.search(*webs)
    for turn in range(turns):
        began = time.monotonic()
        tile = garage(pages[0])[turn % 4]
        answers = await asyncio.wait_for(asyncio.gather(*(page.do("lift", tile=tile) for page in pages)), 5)
        assert sorted(answer["type"] for answer in answers) == ["events", "refused"]
        assert {answer["code"] for answer in answers if answer["type"] == "refused"} == {"tile_gone"}
        winner = next(page for page, answer in zip(pages, answers, strict=True) if answer["type"] == "events")
        back = await winner.do("return", tile=tile, face="down")
        for page in pages:
            await page.until(lambda page: page.head >= back["head"])  # noqa: B023 - it is awaited here
        await asyncio.sleep(max(0.0, began + TURN_SECONDS - time.monotonic()))
    assert pages[0].head == 1 + len(pages) + 2 + 2 * turns
    for page in pages:
        await same_as_reload(page)
    assert await match.faults() == []


async def test_of_two_hands_on_one_tile_one_gets_it_and_the_other_is_told_at_once(
    web: Site, other_web: Site, new_match: NewMatch, so_often: Callable[[int, int], int]
) -> None:
    matches = [await new_match(2) for _ in range(TABLES)]
    await asyncio.gather(*(race(match, so_often(400, 10_000) // TABLES, web, other_web) for match in matches))
