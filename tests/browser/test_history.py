"""The pages about finished games in a real Chromium: lists with their filters, and one game's story."""

import json
import re
from datetime import timedelta
from zoneinfo import ZoneInfo

from asgiref.sync import sync_to_async
from playwright.async_api import Page, ViewportSize, expect

from accounts.models import User
from games import archive
from games.models import Game
from games.rules.judge import judge
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot
from tests.games.finished import finished

LAPTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=360, height=640)
NARROWEST = ViewportSize(width=320, height=640)
PLAYED = ("fr-2", "es-3", "fr-4-bag-opened-empty", "fr-3-relaxed", "fr-2-void-by-staff", "pt-4", "fr-3-ranked")


def past() -> tuple[list[User], list[Game]]:
    people = [User.objects.create_user(name) for name in ("Irma Vep", "Arsène", "Fantômas", "Judex the Magnified")]
    games = [finished(name, people, ago=timedelta(days=3 * number + 1)) for number, name in enumerate(PLAYED)]
    archive.archive_finished()
    return people, games


async def test_lists_and_stories_fit_and_have_no_barrier(open_page: OpenPage) -> None:
    people, games = await sync_to_async(past)()
    page = await open_page(person=people[0])
    for name, address in {
        "history": "/history/",
        "own-games": "/history/?player=Irma+Vep&result=won",
        "story": f"/games/{games[2].code}/story/",
        "story-void": f"/games/{games[4].code}/story/",
        "data": "/data/",
        "fairness": "/fairness/",
    }.items():
        await page.goto(address)
        await shot(page, name)
        for size, scheme in ((LAPTOP, "light"), (PHONE, "dark"), (NARROWEST, "light")):
            await page.set_viewport_size(size)
            await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            await assert_fits(page)
            await assert_no_barriers(page)


async def test_what_one_asks_for_is_in_the_address_and_leads_to_the_game(open_page: OpenPage) -> None:
    people, _ = await sync_to_async(past)()
    page = await open_page(person=people[0])
    await page.goto("/history/")
    await page.get_by_label("Rulebook").select_option("es")
    await page.get_by_label("Player", exact=True).fill("irma vep")
    await page.get_by_role("button", name="Show").click()
    await expect(page).to_have_url(re.compile(r"(?=.*rulebook=es)(?=.*player=irma)"))
    await expect(page).not_to_have_url(re.compile(r"opponent|result|=(&|$)"))
    await expect(page.locator("table.games tbody tr")).to_have_count(1)
    await page.locator("table.games tbody td a").click()
    await expect(page.locator("svg.chart polyline")).to_have_count(3)
    await read_the_record(page)


async def read_the_record(page: Page) -> None:
    """The record is there to keep, and without fault."""
    async with page.expect_download() as coming:
        await page.get_by_role("link", name="Record").click()
    file = await (await coming.value).path()
    record = await sync_to_async(file.read_bytes)()
    assert judge(record) == []
    assert json.loads(record)["seats"][0]["name"] == "Irma Vep"


async def test_a_visitor_sees_when_a_game_ended_by_their_own_clock(open_page: OpenPage) -> None:
    _, games = await sync_to_async(past)()
    page = await open_page(timezone_id="Asia/Kathmandu")
    ended = games[0].ended
    assert ended is not None
    said = re.compile(rf"{ended.astimezone(ZoneInfo('Asia/Kathmandu')):%-I:%M}\s[AP]M$")
    for address in ("/history/", "/people/Irma%20Vep/", f"/games/{games[0].code}/story/"):
        await page.goto(address)
        time = page.locator(f"time[datetime='{ended.isoformat(timespec='seconds')}']").first
        await expect(time).to_have_text(said)
        await expect(time).not_to_contain_text("UTC")


async def test_a_filter_that_makes_no_sense_is_told_where_it_stands(page: Page, watch: Watch) -> None:
    watch.expect("status of 422")
    await page.goto("/history/")
    await page.get_by_label("Opponent").fill("Nobody at all")
    answered = page.expect_response(lambda response: response.url.endswith("?opponent=Nobody+at+all"))
    async with answered as coming:
        await page.get_by_role("button", name="Show").click()
    assert (await coming.value).status == 422
    await expect(page.get_by_role("main")).to_contain_text("Nobody here has this name.")
