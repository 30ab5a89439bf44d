"""While the database takes no writes the page of a game says that moves wait, and when they count again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from django.conf import settings
from playwright.async_api import expect

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
    """Somebody else has SQLite's one lock for writing."""
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
