"""What THREATS.md and ASVS.md name exists, and ASVS.md answers each requirement once."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = {name: (ROOT / "midnight" / name).read_text() for name in ("THREATS.md", "ASVS.md")}
ANSWERS = {"yes", "partly", "no", "n/a"}


def rows(page: str) -> list[list[str]]:
    """The cells of each row, without heads and rules."""
    lines = [line for line in PAGES[page].splitlines() if line.startswith("|") and not line.startswith("|---")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[1] not in ("level", "wants")]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_it_names_exists(page: str) -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)+)`", PAGES[page])
    assert len(named) > 40
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_threat_is_held_by_a_test() -> None:
    assert len(rows("THREATS.md")) > 15
    for row in rows("THREATS.md"):
        assert len(row) == 5, row
        assert all(row), row
        assert "`tests/" in row[4], row


def test_every_requirement_of_levels_1_and_2_has_one_answer() -> None:
    found = rows("ASVS.md")
    assert len({row[0] for row in found}) == len(found) == 253
    assert [sum(row[1] == level for row in found) for level in ("1", "2")] == [70, 183]
    assert {row[3] for row in found} == ANSWERS
    # What is not done, or does not concern us, is said why; what is done has its place.
    assert all(row[4] for row in found)


def test_its_sums_are_right() -> None:
    found = [row[3] for row in rows("ASVS.md")]
    sums = ", ".join(f"{found.count(answer)} {answer}" for answer in ("yes", "partly", "no", "n/a"))
    assert f"{sums}." in PAGES["ASVS.md"]
