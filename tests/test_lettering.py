"""Our own lettering: the font that is served is the one that is drawn, and it writes all six languages."""

from io import BytesIO
from typing import Any

import pytest
from fontTools.ttLib import TTFont

from midnight.lettering import font

LANGUAGES = {
    "en": "",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "it": "àèéìíîòóùú",
    "es": "áéíñóúü¿¡",
    "pt": "àáâãçéêíóôõú",
    "de": "äöüßẞ",
}


@pytest.fixture(scope="module")
def served() -> Any:
    return TTFont(font.FILE)


@pytest.mark.parametrize(("language", "letters"), LANGUAGES.items())
def test_the_lettering_writes_this_language_in_large_and_small(language: str, letters: str, served: Any) -> None:
    wanted = set("abcdefghijklmnopqrstuvwxyz0123456789 .,:;!?'’“”()-–—/&%+×·" + letters)
    wanted |= {letter.upper() for letter in wanted - {"ß"}}
    assert {ord(letter) for letter in wanted} <= served.getBestCmap().keys()


def test_the_font_that_is_served_is_the_one_that_is_drawn(served: Any) -> None:
    saved = BytesIO()
    font.build().save(saved)
    drawn = TTFont(saved)
    assert served.getGlyphOrder() == drawn.getGlyphOrder()
    for name in drawn.getGlyphOrder():
        assert served["glyf"][name] == drawn["glyf"][name], f"run python -m midnight.lettering: {name}"
        assert served["hmtx"][name] == drawn["hmtx"][name]


def test_figures_are_of_one_width(served: Any) -> None:
    assert len({served["hmtx"][font.named(figure)][0] for figure in "0123456789"}) == 1
