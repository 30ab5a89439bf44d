"""Whole games in a real Chromium, from the first page to the score sheet."""

from playwright.async_api import Page, expect

from tests.browser import player


async def test_a_visitor_plays_a_round_against_bots_with_two_clicks(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Play against bots").first.click()
    await page.get_by_role("button", name="Ready").click()
    await player.until(page, "search")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    await player.search(page)
    await player.trade(page)
    await expect(page.locator("#round")).to_contain_text("2")
