"""Words of other languages are longer, and hang over no edge all the same."""

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, ViewportSize, expect

from accounts.models import User
from games.rules import State
from midnight.catalogs import LANGUAGES
from tests.browser import staged
from tests.browser.addresses import pages
from tests.browser.conftest import OpenPage
from tests.browser.watch import assert_fits

NARROWEST = ViewportSize(width=320, height=640)
PHONE = ViewportSize(width=360, height=640)


async def assert_no_word_is_cut(page: Page, within: str) -> None:
    cut = await page.locator(within).evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
    )
    assert not cut, f"{page.url}: {cut}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_fits_in_every_language(language: str, open_page: OpenPage) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep", "ten black gloves", language=language)
    for who in (None, person):
        page = await open_page(person=who, locale=language, viewport=NARROWEST)
        for address in pages():
            answer = await page.request.get(address)
            if answer.status == 200:
                await page.goto(address)
                await assert_fits(page)
                await assert_no_word_is_cut(page, ".button")


@pytest.mark.parametrize(
    "moment",
    [staged.gathering, staged.searching, staged.trading, staged.over],
    ids=lambda one: one.__name__,
)
async def test_every_phase_of_a_game_fits_in_every_language(
    moment: Callable[[State], bool], open_page: OpenPage
) -> None:
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], moment)
    page = await open_page(person=irma)
    for language in LANGUAGES:
        await sync_to_async(User.objects.filter(pk=irma.pk).update)(language=language)
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await expect(page.locator("#tiles .tile")).to_have_count(54)
        for size in (NARROWEST, PHONE):
            await page.set_viewport_size(size)
            await assert_fits(page)
            await assert_no_word_is_cut(page, ".button, #phase")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_visitors_header_takes_two_rows_on_a_phone(language: str, open_page: OpenPage) -> None:
    page = await open_page(locale=language, viewport=PHONE)
    await page.goto("/")
    box = await page.locator(".masthead").bounding_box()
    assert box is not None
    assert box["height"] < 120
