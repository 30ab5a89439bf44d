"""A game's page at every moment of it, as it is looked at: in light and dark, on a laptop and a phone."""

from collections.abc import Callable

from asgiref.sync import sync_to_async
from playwright.async_api import Page, ViewportSize, expect

from accounts.models import User
from games.rules import State
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import assert_fits, assert_no_barriers, shot

PHONE = ViewportSize(width=360, height=640)
LAPTOP = ViewportSize(width=1280, height=800)


async def at_a_still_table(
    open_page: OpenPage, moment: Callable[[State], bool], bots: int = 3, watching: bool = False
) -> Page:
    """The page of Irma at such a moment, or of a visitor who watches; nothing moves and nobody is in a hurry."""
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], moment, bots, staged.STILL)
    page = await open_page(person=None if watching else irma, reduced_motion="reduce")
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    return page


async def look_at(page: Page, name: str) -> None:
    await shot(page, f"look-{name}")
    for size, scheme in ((LAPTOP, "light"), (PHONE, "dark")):
        await page.set_viewport_size(size)
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await assert_fits(page)
        await assert_no_barriers(page)
    await page.set_viewport_size(LAPTOP)


async def test_a_table_of_four_before_its_search(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.gathering)
    await look_at(page, "ready")
    await page.get_by_role("button", name="Ready").click()
    await expect(page.locator("#countdown")).to_be_visible()
    await look_at(page, "countdown")


async def test_a_hand_in_a_search(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.searching)
    await look_at(page, "search")
    await page.locator("#tiles .tile.garage.down").first.click()
    await expect(page.locator("#hand.holding > .back")).to_be_visible()
    await look_at(page, "hand-full")
    await page.locator("#tiles .tile.down").last.click()
    await expect(page.locator("#refusal")).to_be_visible()
    await shot(page, "look-refused")


async def test_a_full_board_and_the_way_out(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.escaping)
    await expect(page.get_by_role("button", name="Escape")).to_be_visible()
    await look_at(page, "escape")
    await page.get_by_role("button", name="Escape").click()
    await expect(page.locator("#hand")).to_contain_text("You are out.")
    await look_at(page, "escaped")


async def test_a_turn_in_the_exchange(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.trading)
    await look_at(page, "trading")
    await page.locator("#passing > summary").click()
    await look_at(page, "passing")
    await page.locator("#passing > summary").click()
    await page.locator("#trade label.ware").first.click()
    await expect(page.locator(".purse .pays")).not_to_have_count(0)
    await look_at(page, "choosing")


async def test_somebody_elses_turn(open_page: OpenPage) -> None:
    await look_at(await at_a_still_table(open_page, staged.waiting), "waiting")


async def test_the_end_of_a_game_of_four(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.over)
    await page.get_by_text("Proof of the shuffles").click()
    await page.get_by_role("button", name="Check it yourself").click()
    await expect(page.locator("#checked li")).to_have_count(11)
    await look_at(page, "over")


async def test_a_search_that_one_only_watches(open_page: OpenPage) -> None:
    page = await at_a_still_table(open_page, staged.searching, watching=True)
    await expect(page.locator("#hand")).to_contain_text("You are watching.")
    await look_at(page, "watching-search")


async def test_an_exchange_that_one_only_watches(open_page: OpenPage) -> None:
    await look_at(await at_a_still_table(open_page, staged.trading, watching=True), "watching-exchange")
