"""While the database takes no writes the page of a game says that moves wait, and when they count again."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from asgiref.sync import sync_to_async
from django.conf import settings
from playwright.async_api import WebSocketRoute, expect

from games.opening import NewSeat, open_game
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.test_game import PHONE, at_the_table, somebody
from tests.browser.watch import assert_fits, assert_no_barriers, shot

WAIT = {
    "en-GB": "Moves wait: nothing can be stored right now.",
    "fr-FR": "Les coups attendent\u202f: rien ne s’enregistre.",
    "it-IT": "Le mosse aspettano: ora non si salva nulla.",
    "es-ES": "Las jugadas esperan: ahora no se guarda nada.",
    "pt-PT": "As jogadas esperam: agora nada se guarda.",
    "de-DE": "Züge warten: gerade lässt sich nichts speichern.",
}


@contextmanager
def no_writes() -> Iterator[None]:
    """Another connection holds SQLite's one lock for writing."""
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_the_page_says_politely_that_moves_wait_and_when_they_count_again(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching, viewport=PHONE, has_touch=True, reduced_motion="reduce")
    strip = page.locator("#line[role=status]")
    tile = page.locator("#tiles .tile.garage.down").first
    with no_writes():
        await expect(strip).to_have_text(WAIT["en-GB"])
        await expect(strip).to_be_visible()
        await tile.click()
        await expect(page.locator("#refusal")).to_contain_text("could not store this")
        # It stays to be read for as long as it is true: through beats, and over what is refused.
        await page.wait_for_timeout(3000)
        await expect(strip).to_have_text(WAIT["en-GB"])
        await assert_fits(page)
        await assert_no_barriers(page)
        await shot(page, "game-moves-wait")
    await expect(strip).to_have_text("Moves count again.")
    await expect(strip).to_have_text("")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")


async def test_that_moves_wait_fits_a_phone_in_every_language(open_page: OpenPage) -> None:
    game = await staged.staged([await somebody()], staged.searching)
    pages = {locale: await open_page(locale=locale, viewport=PHONE, has_touch=True) for locale in WAIT}
    for page in pages.values():
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    with no_writes():
        for locale, page in pages.items():
            strip = page.locator("#line")
            await expect(strip).to_have_text(WAIT[locale])
            assert await strip.evaluate("(strip) => strip.scrollWidth <= strip.clientWidth")
            assert await strip.evaluate("(strip) => strip.clientHeight") <= 20, "one line: it covers no tile"
            await assert_fits(page)


async def test_what_was_said_of_the_chance_meanwhile_is_said_again(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    seats = [NewSeat("violet", irma.pk), NewSeat("amber", max_.pk)]
    # Max is not there, and so it does not begin.
    game = await sync_to_async(open_game)(seats, pace="relaxed")
    page = await open_page(person=irma)
    lost: list[str] = []

    def lose_first(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if json.loads(message)["do"] == "share" and not lost:
                lost.append(str(message))
            else:
                server.send(message)

        line.on_message(pass_on)

    await page.route_web_socket(re.compile("/ws/1/games/"), lose_first)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    with no_writes():
        await expect(page.locator("#line")).to_have_text(WAIT["en-GB"])
        assert lost
    await page.wait_for_function(f"() => JSON.parse(localStorage['chance-{game.code}']).taken")
    seat = await game.seats.aget(number=0)
    assert bytes(seat.share).hex() == json.loads(lost[0])["share"]
