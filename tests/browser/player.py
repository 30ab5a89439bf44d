"""A person at a game's page, who plays by tapping what the page offers."""

import asyncio
import re
from collections.abc import Awaitable

from playwright.async_api import Locator, Page, Request, TimeoutError, expect

ENOUGH = 240


async def phase(page: Page) -> str:
    return str(await page.locator("#game").get_attribute("data-phase"))


async def tap(what: Locator) -> bool:
    """Tap it; False where it has gone, since somebody moved meanwhile."""
    try:
        await what.click(timeout=1_500)
    except TimeoutError:
        return False
    return True


async def until(page: Page, *phases: str, seconds: float = 60) -> None:
    wanted = re.compile("|".join(phases))
    await expect(page.locator("#game")).to_have_attribute("data-phase", wanted, timeout=seconds * 1000)


async def get_ready(page: Page) -> None:
    await page.get_by_role("button", name="Ready").click()
    await until(page, "search")


async def lift_and_stash(page: Page) -> bool:
    """Lift a tile that lies face down and keep it, or put it back face up; False where none is open to this hand."""
    tile = page.locator("#tiles .tile.down:not(.locked)").first
    if not await tile.count():
        return False
    if await tap(tile) and await held(page):
        stash = page.locator("#stash")
        may = await stash.get_attribute("aria-disabled") == "false"
        await tap(stash if may else page.locator("#up"))
        await expect(page.locator("#hand.holding")).to_have_count(0)
    return True


async def held(page: Page) -> bool:
    """Whether the tile has come into the hand: another hand may have been faster."""
    await page.wait_for_function(
        """() => document.querySelector("#hand.holding > .back") || !document.querySelector("#tiles .own")
           || document.querySelector("#game").dataset.phase !== "search" """
    )
    return bool(await page.locator("#hand.holding").count())


async def search(page: Page) -> None:
    """Fill the board, then slip away."""
    for _ in range(40):
        escape = page.locator("#escape")
        if await phase(page) != "search":
            return
        if await escape.is_visible():
            await tap(escape)
            break
        if not await lift_and_stash(page):
            break
    await until(page, "exchange", "gathering", "over")


async def trade(page: Page) -> None:
    """Buy what can be bought, place what fits, pass when nothing is left."""
    for _ in range(ENOUGH):
        if await phase(page) != "exchange":
            return
        seq = await seq_of(page)
        if await _trade_once(page):
            await until_moved(page, seq)


async def _trade_once(page: Page) -> bool:
    place, ware = page.locator("button.place"), page.locator("#trade input[type=radio]")
    if await place.count():
        return await answered(page, tap(place.first))
    if not await page.locator(".whose.mine").count():
        return True
    if await ware.count():
        if not await tap(page.locator("#trade label.ware").first):
            return False
        return await answered(page, tap(page.get_by_role("button", name="Trade", exact=True)))
    return await answered(page, tap(page.locator("form.pass button")))


async def answered(page: Page, act: Awaitable[bool]) -> bool:
    """Do what posts a form; True when its answer has come, False where nothing was posted."""
    answer = asyncio.ensure_future(page.wait_for_event("requestfinished", is_posted))
    if await act:
        await answer
        return True
    answer.cancel()
    return False


def is_posted(request: Request) -> bool:
    return request.method == "POST"


async def seq_of(page: Page) -> str:
    """How new the exchange is that the page shows."""
    return str(await page.locator("#exchange .shown").get_attribute("data-seq"))


async def until_moved(page: Page, seq: str) -> None:
    """Until the page shows something newer, or another phase."""
    await page.wait_for_function(
        """(seq) => document.querySelector("#exchange .shown").dataset.seq !== seq
           || document.querySelector("#game").dataset.phase !== "exchange" """,
        arg=seq,
        timeout=30_000,
    )


async def play_round(page: Page) -> None:
    await get_ready(page)
    await search(page)
    await trade(page)
