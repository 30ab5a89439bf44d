"""The scripts of a game's page and of its replay: small, and they say no word that their page does not bring."""

import gzip
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "games/static/games/js"
MOST_BYTES = 30 * 1024

# What a page begins with, and what brings its words.
PAGES = {"game.js": "_words.html", "replay.js": "_replay_words.html"}
PHASES = {"setup", "gathering", "countdown", "search", "exchange", "over"}


def scripts_of(first: str) -> set[str]:
    """This script and all that it imports, at once or later."""
    found, waiting = set(), {first}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= set(re.findall(r'(?:from |import\()"\./([\w-]+\.js)"', (SCRIPTS / name).read_text())) - found
    return found


def words_of(page: str) -> str:
    return "".join((ROOT / "templates/games" / name).read_text() for name in (PAGES[page], "_board_words.html"))


@pytest.mark.parametrize("page", PAGES)
def test_all_scripts_of_a_page_together_are_small(page: str) -> None:
    assert sum(len(gzip.compress((SCRIPTS / name).read_bytes())) for name in scripts_of(page)) < MOST_BYTES


def test_a_script_asks_for_the_very_modules_that_it_was_made_with(tmp_path: Path, settings: Settings) -> None:
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "midnight.storage.Files"}}
    call_command("collectstatic", interactive=False, verbosity=0)
    collected = list((tmp_path / "games/js").glob("*.*.js"))
    assert len(collected) == len(list(SCRIPTS.glob("*.js")))
    asked = [name for path in collected for name in re.findall(r"""(?:from |import\()"\./([^"]+)""", path.read_text())]
    assert asked
    assert set(asked) <= {path.name for path in collected}


@pytest.mark.parametrize("page", PAGES)
def test_every_word_that_a_script_says_comes_with_the_page(page: str) -> None:
    brought = set(re.findall(r'<data value="([^"]+)"', words_of(page)))
    said = {
        key
        for name in scripts_of(page)
        for key in re.findall(r'(?<![#\w])say\("([^"]+)"', (SCRIPTS / name).read_text())
    }
    assert said <= brought


@pytest.mark.parametrize("page", PAGES)
def test_every_word_that_a_page_brings_is_said(page: str) -> None:
    scripts = "".join((SCRIPTS / name).read_text() for name in scripts_of(page))
    brought = re.findall(r'<data value="([^"{]+)"', words_of(page))
    # Some keys are put together: `line-${state}`.
    unsaid = [key for key in brought if f'"{key}"' not in scripts and f"{key.split('-')[0]}-${{" not in scripts]
    assert set(unsaid) - PHASES - {"down", "up"} == set()
