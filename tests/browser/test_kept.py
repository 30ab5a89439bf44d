"""What a browser keeps from one game to the next, and what it shows and keeps of the chance of a game."""

from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from games.models import Game
from games.opening import NewSeat, open_game
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.test_game import PHONE, somebody
from tests.browser.watch import assert_fits, assert_no_barriers, shot


async def look_at(page: Page, game: Game) -> None:
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")


async def test_who_watched_three_games_is_taught_in_the_first_of_their_own(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    page = await open_page(person=irma)
    for _ in range(3):
        game = await staged.staged([max_], staged.searching)
        await look_at(page, game)
        await expect(page.locator("#hand")).to_have_text("You are watching.")
    await look_at(page, await staged.staged([irma], staged.searching))
    await expect(page.locator("#coach")).to_contain_text("The office is open.")
    assert len(await page.evaluate("JSON.parse(localStorage.taught)")) == 1


async def test_silence_by_one_click_lasts_until_the_account_says_something_else(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.gathering)
    page = await open_page(person=irma)
    sounds = page.get_by_role("button", name="Sounds")

    async def account_says(on: bool) -> None:
        irma.sounds = on
        await irma.asave(update_fields=["sounds"])
        await look_at(page, game)

    await account_says(True)
    await expect(sounds).to_have_attribute("aria-pressed", "true")
    await sounds.click()
    await look_at(page, game)
    await expect(sounds).to_have_attribute("aria-pressed", "false")
    await account_says(False)
    await expect(sounds).to_have_attribute("aria-pressed", "false")
    await account_says(True)
    await expect(sounds).to_have_attribute("aria-pressed", "true")


async def test_the_seal_of_the_shuffles_is_shown_where_players_gather(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.gathering)
    page = await open_page(person=irma, viewport=PHONE, has_touch=True)
    await look_at(page, game)
    await expect(page.locator("#sealed")).to_be_visible()
    await expect(page.locator("#sealed")).to_have_text(game.commitment)
    await assert_fits(page)
    await assert_no_barriers(page)
    await shot(page, "game-gathering-sealed")


async def test_of_two_browsers_the_share_of_the_one_that_plays_is_sealed(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    seats = [NewSeat("violet", irma.pk), NewSeat("amber", max_.pk)]
    # Nobody waits for the other player's page in this pace, and so it does not begin.
    game = await sync_to_async(open_game)(seats, pace="relaxed")
    kept = f"JSON.parse(localStorage['chance-{game.code}'] ?? '{{}}')"
    first, second = await open_page(person=irma), await open_page(person=irma)
    sealed = "This browser has sealed its random number for this game."
    for page in (first, second):
        await look_at(page, game)
        await expect(page.locator("#chance")).to_have_text(sealed)
        await page.wait_for_function(f"() => {kept}.taken")
    await first.wait_for_function(f"() => {kept}.moved")
    seat = await game.seats.aget(number=0)
    assert bytes(seat.share).hex() == await second.evaluate(f"{kept}.share") != await first.evaluate(f"{kept}.share")
