"""Every kind of page passes what Lighthouse audits on a phone: barriers, good practice, search engines, stillness."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page

from tests.browser.addresses import page_addresses, sort_by_role
from tests.browser.audits import ASKS_FOR_NOTHING, findings
from tests.browser.conftest import OpenPage
from tests.browser.loading import PHONE, SLOW, load, slow_down
from tests.browser.watch import barriers
from tests.games.everybody import house

ROLES = ("visitor", "player", "administrator")
# What Lighthouse asks of axe beyond its best practices.
RULES = ("target-size", "label-content-name-mismatch")
# What Lighthouse counts of what browsers tell about a page.
COUNTED = re.compile("Deprecation|MixedContent|Cookie|BlockedByResponse|ContentSecurityPolicy|QuirksMode|Cors|HeavyAd")
# Of the window and of the way that things go, multiplied.
MOST_SHIFT = 0.02
# What visitors see and search engines do not show: people, rooms, and tables, whose games have pages of their own.
BARRED = re.compile(r"/people/|/rooms/\w+/|/games/\w+/$|/account/")


async def barred(page: Page) -> bool:
    return await page.locator("meta[name=robots][content*=noindex]").count() > 0


@pytest.mark.parametrize("role", ROLES)
async def test_every_page_passes_the_audits(
    role: str, open_page: OpenPage, so_often: Callable[[int, int], int]
) -> None:
    there = await sync_to_async(house)()
    roles = ROLES[: ROLES.index(role) + 1]
    pages = {one: await open_page(person=there.people.get(one), reduced_motion="reduce", **PHONE) for one in roles}
    addresses = (await sort_by_role(await sync_to_async(page_addresses)(there), pages))[role]
    assert len(addresses) > 10
    page = pages[role]
    await page.add_init_script(ASKS_FOR_NOTHING)
    browser = await slow_down(page, SLOW, slower=so_often(1, 4))
    issues: list[Any] = []
    browser.on("Audits.issueAdded", lambda told: issues.append(told["issue"]))
    await browser.send("Audits.enable")
    wrong: list[str] = []
    for where in addresses:
        loaded = await load(page, where, quiet_ms=so_often(0, 500))
        wrong += [f"{where}: {what}" for what in (*await findings(page), *await barriers(page, *RULES))]
        if loaded.shift > MOST_SHIFT:
            wrong.append(f"{where}: it moves by {loaded.shift:.3f}: {loaded.shifts}")
        if role == "visitor" and await barred(page) and not BARRED.search(where):
            wrong.append(f"{where}: search engines are told not to show it")
        wrong += [f"{where}: {issue}" for issue in issues if COUNTED.match(issue["code"])]
        issues.clear()
    assert not wrong, f"{len(wrong)} findings:\n" + "\n".join(wrong)


async def test_search_engines_are_told_nothing_that_they_cannot_read(page: Page) -> None:
    answer = await page.request.get("/robots.txt")
    assert answer.status in (200, 404)
    lines = (await answer.text()).splitlines() if answer.status == 200 else []
    said = [line.split("#")[0].strip() for line in lines]
    assert all(re.match(r"(user-agent|allow|disallow|sitemap|crawl-delay):", line, re.I) for line in said if line)
