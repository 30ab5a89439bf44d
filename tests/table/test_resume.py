"""A line that breaks costs nothing: what a page shows after it came back is what a reload shows, to the byte."""

import asyncio
import itertools
from collections.abc import Callable

import pytest

from tests.browser.site import Site
from tests.client import choose
from tests.table.conftest import NewMatch, NewTables, as_shown, garage
from tests.table.inside import InnerPage
from tests.table.page import Message, Page


async def comes_back(page: Page) -> None:
    await page.cut()
    await page.open()


@pytest.mark.slow
async def test_cut_after_each_event_of_a_whole_game_a_page_resumes_to_the_byte(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int]
) -> None:
    match = await new_match(4)
    players = await match.sit_down(web)
    watcher = await match.page(web, None).open()
    pages = [*players, watcher]
    costs = {market["face"]: market["cost"] for market in watcher.welcome["edition"]["markets"]}
    turns = itertools.cycle(range(len(pages)))
    cuts = 0
    while watcher.sight["phase"] != "over":
        happened = False
        for player in players:
            for wish in choose(player.sight, costs):
                answer = await player.do(**renamed(wish))
                if answer["type"] == "refused":
                    continue
                happened = True
                for number in [next(turns)] if so_often(1, 0) else range(len(pages)):
                    await comes_back(pages[number])
                    cuts += 1
                await match.all_see_the_log(pages)
                break
        if not happened:
            # Only the clock has something to do.
            await asyncio.sleep(0.05)
    assert cuts > 100
    assert await match.faults() == []


def renamed(wish: Message) -> Message:
    return {"word": wish["do"], **{name: value for name, value in wish.items() if name != "do"}}


async def test_whoever_missed_more_than_a_little_gets_a_whole_sight(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    alice.leave()
    missed = alice.head
    for turn in range(40):
        tile = garage(bob)[turn % 10]
        await bob.do("lift", tile=tile)
        await bob.do("return", tile=tile, face="up")
        if turn == 10:
            await alice.join(tables, match.game, missed)
            assert [frame[:15] for frame in alice.frames[-2:]] == ['{"type":"welcom', '{"type":"events']
            assert as_shown(alice) == (await match.in_the_log(0))[0]
            alice.leave()
    alice.head = missed
    await alice.join(tables, match.game, missed)
    assert alice.frames[-1].startswith('{"type":"sight"')
    assert as_shown(alice) == (await match.in_the_log(0))[0]


async def test_whoever_comes_from_a_process_that_was_ahead_is_not_thrown_back(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.inside(one, other)
    behind = await other.table(match.game.code)
    assert behind is not None
    # No ring is heard there for a moment.
    heard, other.doorbell._heard = other.doorbell._heard, lambda *_: None
    done = await alice.do("lift", tile=garage(alice)[0])
    assert behind.head < done["head"]
    alice.leave()
    await alice.join(other, match.game, alice.head)
    assert alice.frames[-1].startswith('{"type":"welcome"')
    assert alice.head == done["head"] == behind.head == bob.head
    other.doorbell._heard = heard


async def test_a_page_that_claims_to_know_the_future_is_told_the_present(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    await match.inside(tables)
    prophet = await InnerPage(None).join(tables, match.game, 999_999)
    assert as_shown(prophet) == (await match.in_the_log(None))[0]
