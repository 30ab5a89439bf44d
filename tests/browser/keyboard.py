"""A person at a game's page who has no pointer: the same round as player.py plays, by keys alone."""

from playwright.async_api import Page, expect

from tests.browser.player import ENOUGH, answered, held, phase, seq_of, until, until_moved

STOPS = 150
FOCUSED = """() => {
  const { id, ariaLabel, innerText, name, type } = document.activeElement;
  return { id, name, type, said: ariaLabel ?? innerText, place: document.activeElement.matches("button.place") };
}"""


async def tab_to(page: Page, **wanted: object) -> bool:
    """Press Tab until the focus is where `wanted` says; False where no stop of the page is such."""
    for _ in range(STOPS):
        stop = await page.evaluate(FOCUSED)
        if all(stop[key] == value for key, value in wanted.items()):
            return True
        await page.keyboard.press("Tab")
    return False


async def get_ready(page: Page) -> None:
    assert await tab_to(page, id="ready")
    await page.keyboard.press("Enter")
    await until(page, "search")


async def search(page: Page) -> None:
    """Go from tile to tile with the arrows, there and back, keep what is worth keeping, slip away with E."""
    step = "ArrowRight"
    for _ in range(ENOUGH):
        if await phase(page) != "search":
            return
        if await page.locator("#escape").is_visible():
            await page.keyboard.press("e")
            break
        await page.keyboard.press(step)
        said = str(await page.evaluate("document.activeElement.ariaLabel"))
        if ", row 6, column 9" in said:
            step = "ArrowLeft"
        elif ", row 1, column 1" in said:
            step = "ArrowRight"
        if ", face down, row" not in said:
            continue
        await page.keyboard.press("Enter")
        if await held(page):
            may = await page.locator("#stash").get_attribute("aria-disabled") == "false"
            await page.keyboard.press("s" if may else "u")
            await expect(page.locator("#hand.holding")).to_have_count(0)
    await until(page, "exchange", "gathering", "over")


async def trade(page: Page) -> None:
    """Place what fits, buy the first thing that can be paid, pass when nothing is left."""
    for _ in range(ENOUGH):
        if await phase(page) != "exchange":
            return
        seq = await seq_of(page)
        if await _trade_once(page):
            await until_moved(page, seq)


async def _trade_once(page: Page) -> bool:
    """False where what was to be pressed has gone, since somebody moved meanwhile."""
    if await page.locator("button.place").count():
        found = await tab_to(page, place=True)
    elif not await page.locator(".whose.mine").count():
        return True
    elif await page.locator("#trade input[type=radio]").count():
        found = await tab_to(page, type="radio")
        await page.keyboard.press("Space")
        found = found and await tab_to(page, said="Trade")
    else:
        found = await tab_to(page, said="Pass")
    return found and await answered(page, enter(page))


async def enter(page: Page) -> bool:
    await page.keyboard.press("Enter")
    return True
