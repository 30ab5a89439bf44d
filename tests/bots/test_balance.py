"""`balance` says how games of bots go, the same for the same seed, and draws it."""

from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from games.bots.balance import Balance, Outcome, average
from games.bots.prospects import PLANS


def table(*words: str) -> list[list[str]]:
    out = StringIO()
    call_command("balance", "--games=2", "--bots=apprentice", "--processes=1", *words, stdout=out, stderr=StringIO())
    return [line.split("\t") for line in out.getvalue().splitlines()]


def test_there_is_a_row_for_each_rulebook_and_number_of_players_and_a_plot(tmp_path: Path) -> None:
    plot = tmp_path / "balance.svg"
    head, *rows = table("--players", "2", "3", "--rulebook", "es", f"--svg={plot}")
    assert [(row[0], row[1]) for row in rows] == [("es", "2"), ("es", "3")]
    assert all(len(row) == len(head) for row in rows)
    drawing = ElementTree.parse(plot).getroot()
    bars = [bar for bar in drawing.iter("{http://www.w3.org/2000/svg}rect") if len(bar)]
    assert len(bars) == 2 * len(PLANS)


def test_the_same_seed_gives_the_same_table_and_another_one_another() -> None:
    here = table("--players", "2", "--rulebook", "fr", "--seed=a")
    assert here == table("--players", "2", "--rulebook", "fr", "--seed=a")
    assert here != table("--players", "2", "--rulebook", "fr", "--seed=b")


def test_a_wrong_edition_is_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "edition.json"
    file.write_text("{}")
    with pytest.raises(CommandError, match="edition"):
        table(f"--edition={file}")


def test_a_plot_that_cannot_be_written_is_said_before_any_game(tmp_path: Path) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        call_command("balance", "--svg", tmp_path / "nowhere" / "plot.svg", stdout=out, stderr=StringIO())
    assert out.getvalue() == ""


def test_a_plans_share_is_one_when_it_wins_as_often_as_anybody() -> None:
    balance = Balance(2, "fr")
    for winner in (0, 1):
        balance.add(Outcome(6, "deck_short", (10, 9), ("garage", "garage"), winner))
    assert balance.share("garage").value == 1


def test_dealt_plans_say_nothing_of_rounds_and_points() -> None:
    balance = Balance(2, "fr")
    balance.add(Outcome(6, "deck_short", (10, 9), (None, None), 0))
    balance.add(Outcome(20, "bag_empty", (0, 1), ("safe", "bags"), 1))
    assert average(balance.rounds).value == 6
    assert balance.points == [10, 9]
    assert balance.won["bags"] == 1
