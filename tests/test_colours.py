"""Every pair of colours that meet on a page can be told apart, in both themes, as WCAG 2.2 AA asks."""

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).resolve().parent.parent / "midnight/static/midnight/css/tokens.css"
GROUNDS = ["ground", "surface", "raised", "sunken"]
WRITTEN = ["text", "muted", "link", "heading", "brass", "good", "warn", "bad", "garage", "office", "safe"]
CHARACTERS = ["violet", "scarlet", "emerald", "amber"]

# 4.5 to 1 for what is read, 3 to 1 for the edges of what one can use.
READ = [
    *((ink, ground) for ink in WRITTEN + CHARACTERS for ground in GROUNDS),
    ("on-brass", "brass-fill"),
    ("on-brass", "brass-fill-hover"),
    ("on-bad", "bad-fill"),
    *((ink, f"{tone}-soft") for tone in ("brass", "good", "warn", "bad") for ink in ("text", "link")),
    *((tone, f"{tone}-soft") for tone in ("good", "warn", "bad")),
]
SEEN = [(edge, ground) for edge in ("line-strong", "focus", "brass", "brass-fill") for ground in GROUNDS]


def colours(theme: int) -> dict[str, str]:
    """Each token's colour in light (0) or in dark (1)."""
    pairs = re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", TOKENS.read_text())
    return {name: both[theme] for name, *both in pairs}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_twenty_one_to_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(READ, 4.5), (SEEN, 3.0)], ids=["read", "seen"])
def test_what_meets_on_a_page_can_be_told_apart(theme: int, pairs: list[tuple[str, str]], least: float) -> None:
    value = colours(theme)
    ratios = {f"{ink} on {ground}": contrast(value[ink], value[ground]) for ink, ground in pairs}
    assert not {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}
