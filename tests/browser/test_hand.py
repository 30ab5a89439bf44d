"""The hand in a search: its clock, what it lets go, and where the keyboard goes when the search is over."""

import re
from dataclasses import replace

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser import player, staged
from tests.browser.conftest import OpenPage
from tests.browser.test_game import PHONE, somebody
from tests.browser.watch import assert_no_barriers, shot

BAR = "(palm) => new DOMMatrix(getComputedStyle(palm, '::after').transform).a"


async def search_with(open_page: OpenPage, hand_ms: int, **options: object) -> Page:
    irma = await somebody()
    game = await staged.staged([irma], staged.searching, limits=replace(staged.PATIENT, hand_ms=hand_ms))
    page = await open_page(person=irma, **options)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    return page


async def lift(page: Page) -> int:
    """Lift a tile and return its spot."""
    for _ in range(5):
        await page.locator("#tiles .tile.garage.down").first.click()
        if await player.held(page):
            break
    return int(
        await page.evaluate("[...document.querySelectorAll('#tiles .tile')].findIndex((one) => one.matches('.own'))")
    )


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
async def test_the_hands_clock_runs_and_survives_a_reload(open_page: OpenPage, motion: str) -> None:
    page = await search_with(open_page, hand_ms=60_000, reduced_motion=motion)
    await lift(page)
    clock = page.locator(".hand-clock")
    await expect(clock).to_have_text(re.compile(r"^5[0-8]$"))
    assert await page.locator("#hand").evaluate(BAR) < 1
    before = int(await clock.inner_text())
    await page.reload()
    await expect(clock).to_have_text(re.compile(r"^\d+$"))
    assert int(await clock.inner_text()) <= before


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1280, "height": 800}])
async def test_a_dropped_tile_is_told_and_marked(open_page: OpenPage, viewport: dict[str, int]) -> None:
    page = await search_with(open_page, hand_ms=3_000, viewport=viewport)
    spot = await lift(page)
    await expect(page.locator("#refusal")).to_contain_text("Time is up: the tile went back")
    tile = page.locator("#tiles .tile").nth(spot)
    await expect(tile).to_have_class(re.compile(r"\bbarred\b"))
    await expect(tile).to_have_attribute("aria-label", re.compile("closed to you in this search"))
    await tile.click()
    await expect(page.locator("#refusal")).to_contain_text("You held this tile for too long.")
    await expect(page.locator("#tiles .own")).to_have_count(0)
    await assert_no_barriers(page)
    await shot(page, f"barred-{viewport['width']}")


async def test_a_double_click_on_ready_says_ready_once(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_], staged.gathering, bots=0)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    ready = page.locator("#ready")
    await expect(ready).to_be_enabled()
    await ready.dblclick()
    await expect(page.locator("#sitters li").first.locator(".badge")).to_have_text("ready")
    await expect(ready).to_have_attribute("aria-pressed", "true")


async def test_after_a_search_the_keyboard_goes_on_from_whose_turn_it_is(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.escaping, bots=1)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("#escape")).to_be_visible()
    await page.locator("#tiles .tile").first.focus()
    await page.keyboard.press("e")
    await player.until(page, "exchange")
    await expect(page.locator("#whose")).to_be_focused()


async def test_no_hint_speaks_of_an_exchange_that_has_not_come(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.escaping, bots=1)
    page = await open_page(person=irma)
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("#escape")).to_be_visible()
    await page.route("**/exchange/", hold)
    await page.keyboard.press("e")
    await player.until(page, "exchange")
    await expect(page.locator("#guide")).not_to_contain_text("Nothing left")
    for route in held:
        await route.continue_()
    await page.unroute("**/exchange/")
    await expect(page.locator("#guide")).to_contain_text(re.compile("Your turn|Wait for|Nothing left|You have art"))
