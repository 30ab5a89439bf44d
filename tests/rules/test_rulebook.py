"""RULES.md is held to the code, and the tests to RULES.md."""

import re
from pathlib import Path

import pytest

from games import rules
from games.rules import chance, edition, scoring
from games.rules.clock import LEAST_LOST_MS
from games.rules.leaving import ROUNDS_MISSED
from games.rules.terms import (
    CHARACTERS,
    DEFAULT_LIMITS,
    LIMIT_RANGES,
    MOST_EVENTS,
    MOST_LIVE_READY_MS,
    MOST_READIES,
    PLAYERS,
    RULEBOOKS,
)
from games.rules.variants import ORIGINAL, VARIANTS

FOLDER = Path(rules.__file__).parent
RULES = (FOLDER / "RULES.md").read_text()
NUMBER = r"R\d+\.\d+[a-z]?"
NUMBERS = re.findall(rf"^\*\*({NUMBER})\*\*", RULES, re.MULTILINE)


def says(number: str) -> str:
    """What the page says under this number, on one line."""
    found = re.search(rf"^\*\*{re.escape(number)}\*\*(.*?)(?=^\*\*R|^## |\Z)", RULES, re.MULTILINE | re.DOTALL)
    assert found is not None, number
    return " ".join(found[1].split())


def table(number: str) -> dict[str, list[str]]:
    """The rows of the table under this number, by their first cell."""
    found = RULES[RULES.index(f"**{number}**") :]
    rows = re.search(r"^\|.*?(?=\n\n)", found, re.MULTILINE | re.DOTALL)
    assert rows is not None
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[0].splitlines()]
    return {row[0]: row[1:] for row in cells[2:]}


def test_every_rule_has_a_test_that_is_named_by_its_number() -> None:
    tests = "\n".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    without = [
        number for number in NUMBERS if not re.search(rf"^def test_{number.replace('.', '_')}_", tests, re.MULTILINE)
    ]
    assert not without


def test_numbers_are_there_once_and_in_order() -> None:
    def place(number: str) -> tuple[int, int, str]:
        found = re.fullmatch(r"R(\d+)\.(\d+)([a-z]?)", number)
        assert found is not None
        return int(found[1]), int(found[2]), found[3]

    assert sorted(set(NUMBERS), key=place) == NUMBERS
    assert len(NUMBERS) == 50


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.*")), ids=lambda path: path.name)
def test_every_rule_that_is_cited_exists(path: Path) -> None:
    cited = set(re.findall(rf"\b{NUMBER}\b", path.read_text()))
    assert cited <= set(NUMBERS)


def test_the_tiles_are_those_of_the_table() -> None:
    rows = {
        loot: [str(dict(row).get(loot, 0)) for _, row in edition.LOOT_TABLE]
        for loot in dict.fromkeys(loot for _, row in edition.LOOT_TABLE for loot, _ in row)
    }
    assert table("R1.2") == rows
    assert f"{len(edition.TILES)} tiles, {len(edition.TILES) // len(edition.PLACES)} of each place" in says("R1.2")


def test_the_limits_are_those_of_the_table() -> None:
    live, relaxed = (DEFAULT_LIMITS[pace].as_json() for pace in ("live", "relaxed"))
    assert table("R8.9") == {
        name: [str(least), str(most), str(live[name]), str(relaxed[name])]
        for name, (least, most) in LIMIT_RANGES.items()
    }


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("R1.1", "Two, three or four players"),
        ("R1.1", ", ".join(CHARACTERS)),
        ("R1.3", f"{edition.ART_TOKENS} tokens of art, {edition.CARDS} cards"),
        ("R1.3", f"{len(chance.BOARDS)} market boards with {len(chance.FACES)} faces each"),
        ("R1.3", f"escape tokens 1 to {max(PLAYERS)}"),
        ("R3.3", f"A board has {edition.SLOTS} slots"),
        ("R4.1", f"Who has {edition.SLOTS} tiles on the board"),
        ("R6.1", f"worth {scoring.UNIQUE_POINTS} points"),
        ("R6.2", f"worth {scoring.EMPTY_COLLECTION_POINTS} points"),
        ("R7.3", f"{scoring.SILVER_POINTS} for each silver token"),
        ("R7.3", f"{scoring.GOLD_POINTS} for each gold token"),
        ("R7.3", f"{scoring.UNIQUE_POINTS} for each unique piece"),
        ("R7.3", f"or {scoring.EMPTY_COLLECTION_POINTS} where none is filled"),
        ("R8.1", "`fr` is the original; `it` and `de` are the same game"),
        ("R8.1", "In `es` tiles go back face down only"),
        ("R8.1", f"In `es` and `pt` an exchange phase has at most {VARIANTS['es'].trading_tours} tours with trades"),
        ("R8.8", f"{ROUNDS_MISSED['live']} in a row in a live game, {ROUNDS_MISSED['relaxed']} in a relaxed one"),
        ("R8.10", f"for more than {LEAST_LOST_MS} ms"),
        ("R8.11", f"{chance.SEED_BYTES * 8} bits"),
        ("R8.12", f"has {MOST_EVENTS} events and {MOST_READIES} readies"),
        ("R8.12", f"a `ready_ms` of at most {MOST_LIVE_READY_MS}"),
    ],
)
def test_a_rule_says_what_the_code_does(number: str, words: str) -> None:
    assert words in says(number)


def test_the_rulebooks_differ_as_the_page_says() -> None:
    assert set(VARIANTS) == set(RULEBOOKS)
    assert [book for book in RULEBOOKS if VARIANTS[book] == ORIGINAL] == ["fr", "it", "de"]
    assert [book for book in RULEBOOKS if not VARIANTS[book].face_up] == ["es"]
    assert [book for book in RULEBOOKS if VARIANTS[book].trading_tours == VARIANTS["pt"].trading_tours] == ["es", "pt"]
