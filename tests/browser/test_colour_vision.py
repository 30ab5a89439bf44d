"""Whoever sees colours otherwise, or none, tells every piece from its like: by its pattern, its sign, its shape."""

from base64 import b64encode

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import CDPSession, Page, expect

from accounts.models import User
from games.rules.edition import ART, LOOT, PLACES
from games.rules.terms import CHARACTERS
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import SCREENSHOTS

# As Chromium simulates them.
VISIONS = ("achromatopsia", "deuteranopia", "protanopia", "tritanopia")
# How like two pictures may be, their brightness and contrast made equal: 1 is the same one, 0 has nothing in common.
MOST_LIKE = 0.93

# Lays every piece of these families over the page, in rows, as large as on a phone.
LAY = """async (families) => {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const { back, front, grip, make, piece } = await import(loaded.find((name) => name.includes("/words.")));
  const draw = {
    places: front,
    backs: (place) => back(place, "cash"),
    loot: (kind) => back("garage", kind),
    art: (kind) => piece("art", `art-${kind}`),
    characters: (one) => piece("character", `character-${one}`),
    hands: (one) => {
      const hand = grip(one);
      hand.classList.add(one);
      hand.style.color = "var(--holder)";
      return hand;
    },
  };
  const rows = Object.entries(families).map(([family, kinds]) => make("div", "", ...kinds.map((kind) => {
    const one = draw[family](kind);
    one.id = `${family}-${kind}`;
    return one;
  })));
  for (const row of rows) row.style = "display: flex; gap: 8px; padding: 4px";
  const ground = make("div", "", ...rows);
  ground.style = "position: fixed; inset: 0; z-index: 99; background: var(--ground); --piece: 44px";
  document.body.append(ground);
}"""

# How like the pieces are on a picture of that page, pair by pair: the correlation of their brightness, point by point.
LIKENESS = """async ([picture, families]) => {
  const bytes = Uint8Array.from(atob(picture), (one) => one.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { willReadFrequently: true });
  canvas.drawImage(bitmap, 0, 0);
  const brightness = (piece) => {
    const { x, y, width, height } = piece.getBoundingClientRect();
    const { data } = canvas.getImageData(x, y, width, height);
    const points = Array.from({ length: data.length / 4 }, (_, at) =>
      0.2126 * data[4 * at] + 0.7152 * data[4 * at + 1] + 0.0722 * data[4 * at + 2]);
    const mean = points.reduce((sum, one) => sum + one, 0) / points.length;
    const away = points.map((one) => one - mean);
    const norm = Math.hypot(...away);
    return away.map((one) => one / norm);
  };
  const found = {};
  for (const [family, kinds] of Object.entries(families)) {
    const seen = kinds.map((kind) => brightness(document.getElementById(`${family}-${kind}`)));
    seen.forEach((one, at) => seen.slice(0, at).forEach((other, before) => {
      const like = one.reduce((sum, point, spot) => sum + point * other[spot], 0);
      found[`${family}: ${kinds[before]}, ${kinds[at]}`] = like;
    }));
  }
  return found;
}"""

FAMILIES = {
    "places": PLACES,
    "backs": PLACES,
    "loot": LOOT,
    "art": ART,
    "characters": CHARACTERS,
    "hands": CHARACTERS,
}


async def pieces_laid(open_page: OpenPage) -> tuple[Page, CDPSession]:
    """A page with every piece on it, and what tells its browser how to see."""
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], staged.gathering)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    await page.evaluate(LAY, FAMILIES)
    return page, await page.context.new_cdp_session(page)


@pytest.mark.parametrize("patterns", ["off", "on"])
async def test_every_piece_is_told_from_its_like_without_colour(patterns: str, open_page: OpenPage) -> None:
    page, browser = await pieces_laid(open_page)
    await page.evaluate("(patterns) => { document.documentElement.dataset.patterns = patterns }", patterns)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for vision in VISIONS:
        await browser.send("Emulation.setEmulatedVisionDeficiency", {"type": vision})
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            picture = await page.screenshot(path=SCREENSHOTS / f"pieces-{vision}-patterns-{patterns}-{theme}.png")
            found = await page.evaluate(LIKENESS, [b64encode(picture).decode(), FAMILIES])
            # Nothing is like a piece that is not seen: there is no number then.
            alike = {pair: like for pair, like in found.items() if not like <= MOST_LIKE}
            assert not alike, f"{vision}, {theme}: {alike}"
