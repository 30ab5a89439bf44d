"""Every page of the site, as a visitor, a guest, somebody with a name and a moderator see it in Chromium."""

from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from playwright.async_api import Page, ViewportSize, expect

from accounts.models import User
from tests.browser.addresses import pages
from tests.browser.conftest import OpenPage
from tests.browser.watch import assert_fits, assert_no_barriers

PHONE = ViewportSize(width=360, height=640)
NARROWEST = ViewportSize(width=320, height=640)
LAPTOP = ViewportSize(width=1280, height=800)


async def look_around(page: Page) -> list[str]:
    """Visit every page; returns where one stood. On each, axe in light on a laptop and in dark on a phone; and nothing
    hangs over the edge, with letters of twice the size, on a phone, and at 320 px (which is 400 % on a laptop).
    """
    stood: list[str] = []
    for address in pages():
        answer = await page.request.get(address)
        here = urlsplit(answer.url).path
        if answer.status in {403, 404} or here in stood:  # not for this person, or led to a page that was seen
            continue
        assert answer.status == 200, f"{address}: {answer.status}"
        stood.append(here)
        await page.set_viewport_size(LAPTOP)
        await page.emulate_media(color_scheme="light")
        await page.goto(address)
        await assert_no_barriers(page)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        await assert_fits(page)
        await page.evaluate("document.documentElement.style.fontSize = ''")
        await page.set_viewport_size(NARROWEST)
        await assert_fits(page)
        await page.set_viewport_size(PHONE)
        await assert_fits(page)
        await page.emulate_media(color_scheme="dark")
        await assert_no_barriers(page)
    return stood


async def test_a_visitor_meets_no_barrier_on_any_page(page: Page) -> None:
    stood = await look_around(page)
    assert {"/", "/play/", "/about/", "/privacy/", "/display/", "/offline/", "/account/sign-up/"} <= set(stood)
    assert {"/ladders/", "/history/"} <= set(stood)


async def test_a_guest_meets_no_barrier_on_any_page(open_page: OpenPage) -> None:
    guest = await sync_to_async(User.objects.create_guest)()
    assert "/account/claim/" in await look_around(await open_page(person=guest))


async def test_somebody_with_a_name_meets_no_barrier_on_any_page_and_no_cookie_that_is_not_told_of(
    open_page: OpenPage,
) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep", "ten black gloves")
    page = await open_page(person=person)
    assert {"/account/", "/account/security/", "/account/data/"} <= set(await look_around(page))
    await page.goto("/privacy/")
    told = await page.locator("th code").all_inner_texts()
    assert {cookie.get("name") for cookie in await page.context.cookies()} <= set(told)
    await expect(page.get_by_role("banner")).to_contain_text("Irma Vep")
