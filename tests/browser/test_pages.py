"""Every page of the site, as a visitor's Chromium sees it."""

from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from accounts.models import User
from tests.browser.conftest import OpenPage
from tests.browser.watch import assert_fits, assert_no_barriers, shot


async def test_the_first_page_stands_without_a_barrier_in_light_and_dark_and_on_a_phone(page: Page) -> None:
    await page.goto("/")
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await assert_no_barriers(page)
    await page.set_viewport_size({"width": 360, "height": 640})
    await assert_fits(page)
    await shot(page, "home")


async def test_somebody_who_is_signed_in_sees_their_name(open_page: OpenPage) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep")
    page = await open_page(person=person)
    await page.goto("/")
    await expect(page.get_by_role("banner")).to_contain_text("Irma Vep")
