"""Whatever a finger may touch on a phone is 44 px big, among people whom one may report and talk with, too."""

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from games import chat, rooms
from games.models import Message
from games.rules import State
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.test_game import PHONE, SMALL, somebody
from tests.browser.watch import assert_fits, shot

LEAST = 43.9


async def assert_touchable(page: Page) -> None:
    small = await page.evaluate(SMALL, LEAST)
    assert not small, "\n".join(small)
    await assert_fits(page)


async def open_the_chat(page: Page) -> None:
    await page.locator(".talk > summary").click()
    await expect(page.locator(".talk .said .flag")).to_be_visible()


@pytest.mark.parametrize(
    "moment", [staged.gathering, staged.searching, staged.trading, staged.over], ids=lambda one: one.__name__
)
async def test_at_a_table_of_people(moment: Callable[[State], bool], open_page: OpenPage) -> None:
    people = [await somebody(name) for name in ("Irma Vep", "Max", "Fandor")]
    game = await staged.staged(people, moment, bots=0)
    page = await open_page(person=people[0], viewport=PHONE, has_touch=True, reduced_motion="reduce")
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    await expect(page.locator("a[data-report]").first).to_be_attached()
    await assert_touchable(page)
    await shot(page, f"touch-{moment.__name__}")
    if moment is staged.searching:
        boxes = [await tile.bounding_box() for tile in await page.locator("#tiles .tile").all()]
        assert all(box is not None and box["y"] + box["height"] <= 640 for box in boxes)
        assert await page.evaluate("document.documentElement.scrollHeight") <= 640
        await page.get_by_role("button", name="No more hints").click()
        await assert_touchable(page)
        await shot(page, "touch-searching-taught")
        assert await page.evaluate("document.documentElement.scrollHeight") <= 640


async def test_in_the_lobby_in_a_room_and_in_its_chat(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    room = await sync_to_async(rooms.open_room)(irma)
    await sync_to_async(rooms.sit)(room, max_)
    page = await open_page(person=irma, viewport=PHONE, has_touch=True, reduced_motion="reduce")
    await page.goto("/play/")
    await expect(page.get_by_role("main")).to_be_visible()
    await assert_touchable(page)
    channel = chat.channel_of_room(room)
    await Message.objects.acreate(channel=channel, audience="players", author=max_, words="Who has the brass key?")
    await page.goto(f"/rooms/{room.code}/")
    await open_the_chat(page)
    await assert_touchable(page)
