"""The scripts of a game's page: small, and they say no word that the page does not bring."""

import gzip
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = sorted((ROOT / "games/static/games/js").glob("*.js"))
WORDS = (ROOT / "templates/games/_words.html").read_text()
MOST_BYTES = 30 * 1024


def test_all_scripts_together_are_small() -> None:
    assert sum(len(gzip.compress(script.read_bytes())) for script in SCRIPTS) < MOST_BYTES


def test_every_word_that_a_script_says_comes_with_the_page() -> None:
    brought = set(re.findall(r'<data value="([^"]+)"', WORDS))
    said = {key for script in SCRIPTS for key in re.findall(r'(?<![#\w])say\("([^"]+)"', script.read_text())}
    assert said <= brought


def test_every_word_that_the_page_brings_is_said() -> None:
    scripts = "".join(script.read_text() for script in SCRIPTS)
    brought = re.findall(r'<data value="([^"{]+)"', WORDS)
    # Some keys are put together: `line-${state}`.
    unsaid = [key for key in brought if f'"{key}"' not in scripts and f"{key.split('-')[0]}-${{" not in scripts]
    phases = {"setup", "gathering", "countdown", "search", "exchange", "over"}
    assert set(unsaid) - phases - {"down", "up"} == set()
