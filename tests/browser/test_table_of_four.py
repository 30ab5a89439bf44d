"""Four people in four browsers play a whole game: two with a pointer, two by keyboard alone."""

import asyncio
from dataclasses import replace
from types import ModuleType

from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from accounts.models import User
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import terms
from tests.browser import keyboard, player
from tests.browser.conftest import OpenPage
from tests.browser.test_game import AS_SHOWN
from tests.browser.watch import Watch

# A table of four people who do not dawdle; where a machine does, nobody is taken for gone.
BRISK = replace(
    terms.DEFAULT_LIMITS["live"], hold_ms=50, search_ms=30_000, turn_ms=60_000, ready_ms=60_000, countdown_ms=1_000
)
MOST_ROUNDS = 12
NAMES = ("Irma Vep", "Max", "Fantômas", "Musidora")

# Everything that has moved without anybody having asked for it, with the phase in which it did.
HEAR_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    const phase = document.getElementById("game")?.dataset.phase;
    const moved = sources.map(({ node }) => node?.id || node?.className || node?.nodeName);
    if (phase === "search") window.shifts.push(`${value} ${moved}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


def table_of_four() -> tuple[Game, list[User]]:
    people = [User.objects.create_user(name) for name in NAMES]
    seats = [NewSeat(character, person.pk) for character, person in zip(terms.CHARACTERS, people, strict=True)]
    return open_game(seats, limits=BRISK), people


async def equal_to_its_reload(page: Page) -> None:
    shown = await page.evaluate(AS_SHOWN)
    await page.reload()
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await page.wait_for_function(f"(shown) => ({AS_SHOWN})() === shown", arg=shown)


async def shifts(page: Page) -> list[str]:
    found: list[str] = await page.evaluate("window.shifts")
    return found


async def cut_and_mend(page: Page) -> None:
    """The line breaks in the middle of a search, and is there again after a moment."""
    await player.lift_and_stash(page)
    await page.context.set_offline(True)
    await expect(page.locator("body")).to_have_attribute("data-line", "cut")
    await expect(page.locator("#line")).to_contain_text("Line cut")
    # What other pages say of a cut line is not true here: what a hand did meanwhile is sent again.
    await expect(page.locator("body > .line")).to_be_hidden()
    await page.context.set_offline(False)
    await expect(page.locator("body")).to_have_attribute("data-line", "open")


async def test_four_browsers_play_a_whole_game_to_the_score_sheet(open_page: OpenPage, watch: Watch) -> None:
    # What a page fetches while its line is cut, now and then, does not come.
    watch.expect(r"ERR_INTERNET_DISCONNECTED|htmx:(sendError|afterRequest)")
    game, people = await sync_to_async(table_of_four)()
    pages = []
    for person in people:
        page = await open_page(person=person)
        await page.add_init_script(HEAR_SHIFTS)
        pages.append(page)
    hands = list(zip(pages, (player, keyboard, player, keyboard), strict=True))

    async def play(page: Page, by: ModuleType) -> None:
        await by.search(page)
        await by.trade(page)
        await player.until(page, "gathering", "over")

    await asyncio.gather(*(page.goto(f"/games/{game.code}/") for page in pages))
    for number in range(1, MOST_ROUNDS + 1):
        await asyncio.gather(*(player.until(page, "gathering") for page in pages))
        await asyncio.gather(*(by.get_ready(page) for page, by in hands))
        if number == 1:
            await pages[0].reload()
            await player.until(pages[0], "search")
        if number == 2:
            await cut_and_mend(pages[2])
        await asyncio.gather(*(play(page, by) for page, by in hands))
        if await player.phase(pages[0]) == "over":
            break
    for page in pages:
        await expect(page.get_by_role("table", name="Score sheet").locator("thead th")).to_have_count(4)
        assert not await shifts(page), "\n".join(await shifts(page))
    for page in pages:
        await expect(page.locator("table.counting")).to_have_count(0)
        await equal_to_its_reload(page)
