"""Players' pages and the ladders in a real Chromium, with games behind them."""

from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import expect

from games import careers, ladder
from tests.browser.conftest import OpenPage
from tests.browser.test_history import LAPTOP, NARROWEST, PHONE, past
from tests.browser.watch import assert_fits, assert_no_barriers, shot
from tests.games.finishes import finish


async def test_profiles_and_ladders_fit_and_have_no_barrier(open_page: OpenPage) -> None:
    people, _ = await sync_to_async(past)()

    def rated() -> None:
        for number in range(12):
            finish(people[number % 2 :], pace="live", ended=timezone.now())
        ladder.rate_finished()
        careers.count_finished()

    await sync_to_async(rated)()
    page = await open_page(person=people[0])
    for name, address in {
        "person": "/people/Irma%20Vep/",
        "person-other": "/people/Judex%20the%20Magnified/",
        "opponents": "/people/Irma%20Vep/opponents/",
        "ladder": "/ladders/",
        "ladder-season": "/ladders/?board=season",
        "ladder-empty": "/ladders/?pace=relaxed",
    }.items():
        await page.goto(address)
        for figures in await page.get_by_text("The figures", exact=True).all():
            await figures.click()
        await shot(page, name)
        for size, scheme in ((LAPTOP, "light"), (PHONE, "dark"), (NARROWEST, "light")):
            await page.set_viewport_size(size)
            await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            await assert_fits(page)
            await assert_no_barriers(page)
    await page.goto("/people/Irma%20Vep/")
    await expect(page.locator("svg.chart")).to_have_count(2)
