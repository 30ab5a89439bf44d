"""Nothing moves by itself while a page loads: what is drawn late has its room from the beginning."""

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import ViewportSize

from accounts.models import User
from games import archive, ladder
from tests.browser.conftest import OpenPage
from tests.browser.loading import SLOW, load, slow_down
from tests.games.finished import finished
from tests.games.finishes import finish

PHONE = ViewportSize(width=360, height=740)
LAPTOP = ViewportSize(width=1280, height=800)
# Of the window and of the way that things go, multiplied: what browsers call the cumulative layout shift.
MOST = 0.02


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
        await slow_down(page, SLOW)
        loaded = await load(page, address)
        if loaded.shift > MOST:
            wrong.append(f"{address}: {loaded.shifts}")
        await page.context.close()
    assert not wrong, "\n".join(wrong)
