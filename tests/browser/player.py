"""A person at a game's page, who plays by tapping what the page offers."""

import re

from playwright.async_api import Page, expect

ENOUGH = 240


async def phase(page: Page) -> str:
    return str(await page.locator("#game").get_attribute("data-phase"))


async def until(page: Page, *phases: str, seconds: float = 60) -> None:
    wanted = re.compile("|".join(phases))
    await expect(page.locator("#game")).to_have_attribute("data-phase", wanted, timeout=seconds * 1000)


async def get_ready(page: Page) -> None:
    await page.get_by_role("button", name="Ready").click()
    await until(page, "search")


async def lift_and_stash(page: Page) -> bool:
    """Lift a garage tile that lies face down and keep it, or put it back face up; False where there is none."""
    tile = page.locator("#tiles .tile.garage.down").first
    if not await tile.count():
        return False
    await tile.click()
    if await held(page):
        stash = page.locator("#stash")
        may = await stash.get_attribute("aria-disabled") == "false"
        await page.keyboard.press("s" if may else "u")
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
            await escape.click()
            break
        if not await lift_and_stash(page):
            break
    await until(page, "exchange", "gathering", "over")


async def trade(page: Page) -> None:
    """Buy what can be bought, place what fits, pass when nothing is left."""
    for _ in range(ENOUGH):
        if await phase(page) != "exchange":
            return
        shown = page.locator(".shown")
        seq = await shown.get_attribute("data-seq")
        place, ware = page.locator("button.place"), page.locator("#trade input[type=radio]")
        if await place.count():
            await place.first.click()
        elif not await page.locator(".whose.mine").count():
            pass
        elif await ware.count():
            await page.locator("#trade label.ware").first.click()
            await page.get_by_role("button", name="Trade", exact=True).click()
        else:
            await page.locator("form.pass button").click()
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
