"""Nothing moves by itself while a page loads: what is drawn late has its room from the beginning."""

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, ViewportSize

from accounts.models import User
from games import archive, ladder
from tests.browser.conftest import OpenPage
from tests.games.finished import finished
from tests.games.finishes import finish

PHONE = ViewportSize(width=360, height=740)
LAPTOP = ViewportSize(width=1280, height=800)
# Of the window and of the way that things go, multiplied: what browsers call the cumulative layout shift.
MOST = 0.02
A_SLOW_LINE_MS = 120_000
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (!hadRecentInput) window.shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? "")]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


async def shifts(page: Page, address: str) -> list[list[Any]]:
    """Load the page over a slow line, as a phone does, until nothing of it is missing; what moved meanwhile."""
    await page.add_init_script(OBSERVE)
    line = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 100, "downloadThroughput": 800_000, "uploadThroughput": 200_000}
    await line.send("Network.emulateNetworkConditions", slow)
    await page.goto(address, wait_until="load", timeout=A_SLOW_LINE_MS)
    await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame)).then(() => true)")
    found: list[list[Any]] = await page.evaluate("window.shifts")
    return found


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
async def test_no_page_moves_while_it_loads(size: ViewportSize, open_page: OpenPage) -> None:
    def past() -> str:
        people = [User.objects.create_user(name) for name in ("Irma Vep", "Max", "Fandor")]
        for _ in range(12):
            finish(people)
        game = finished("fr-3-ranked", people)
        ladder.rate_finished()
        archive.archive_finished()
        return game.code

    code = await sync_to_async(past)()
    wrong = []
    for address in (
        *(f"/games/{code}/replay/", f"/games/{code}/replay/#e=200&as=0", f"/games/{code}/story/", f"/games/{code}/"),
        *("/history/", "/people/Irma%20Vep/", "/ladders/", "/play/", "/"),
    ):
        page = await open_page(viewport=size, reduced_motion="reduce")
        moved = await shifts(page, address)
        if sum(value for value, *_ in moved) > MOST:
            wrong.append(f"{address}: {moved}")
        await page.context.close()
    assert not wrong, "\n".join(wrong)
