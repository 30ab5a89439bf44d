"""The campaign itself notices what is wrong: a lost move, one done twice, an aim that is missed."""

from collections import Counter
from pathlib import Path

import pytest

from tests.faults import report
from tests.faults.campaign import Outcome, Table, lost_or_doubled
from tests.faults.faults import ELSEWHERE, FAULTS, WHEN_OVER, Fault, nothing
from tests.faults.journal import Journal, Told
from tests.faults.player import Heard

MOVE = Told("game", 0, "p-1", 7)


def test_a_move_that_the_log_has_once_is_fine() -> None:
    assert lost_or_doubled([MOVE], [MOVE, Told("game", 1, "p-1", 8)]) == []


def test_an_answer_without_a_number_is_compared_by_its_command() -> None:
    assert lost_or_doubled([MOVE._replace(seq=0)], [MOVE]) == []


@pytest.mark.parametrize(
    "rows",
    [[], [MOVE._replace(seat=1)], [MOVE._replace(seq=8)], [MOVE, MOVE._replace(seq=8)]],
    ids=["lost", "another seat's", "another event", "twice"],
)
def test_a_move_that_is_lost_moved_or_doubled_is_named(rows: list[Told]) -> None:
    (found,) = lost_or_doubled([MOVE], rows)
    assert "p-1" in found


def test_the_journal_holds_what_was_written_before_anything_else(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.write(MOVE)
    # Without a close: its writer may be killed.
    assert journal.read() == [MOVE]
    journal.close()


def test_a_standstill_is_the_longest_time_without_a_move() -> None:
    table = Table("game", [], Heard(accepted=[1.0, 2.0, 6.0, 7.0]))
    assert table.stood_still(0.5, 8.0) == 4.0
    assert table.stood_still(6.5, 20.0) == 13.0
    assert table.played_again(2.5) == 3.5


def test_each_missed_aim_is_named() -> None:
    cheap = Outcome(
        Fault("a fault", nothing, ELSEWHERE), still=0.9, resumed=1, lines=("web1", 60), memory=("web1", 90, 180)
    )
    assert cheap.missed() == []
    dear = Outcome(
        Fault("a fault", nothing, ELSEWHERE),
        still=1.2,
        well=40,
        resumed=2,
        lines=("web1", 61),
        memory=("web1", 90, 200),
    )
    assert len(dear.missed()) == 5
    assert Outcome(Fault("a fault", nothing, WHEN_OVER), still=60, after=4).missed() == []
    assert len(Outcome(Fault("a fault", nothing, WHEN_OVER), still=60, after=6).missed()) == 1


def test_a_partial_run_keeps_the_lines_of_other_faults(tmp_path: Path) -> None:
    file, (first, second, third) = tmp_path / "FAULTS.md", FAULTS[:3]
    report.write([Outcome(third, still=1.5), Outcome(first, still=2.5)], file)
    report.write([Outcome(second, told=Counter({"stopping": 4})), Outcome(third, still=3.5)], file)
    lines = [line for line in file.read_text().splitlines() if line.startswith("| ")][2:]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [first.name, second.name, third.name]
    assert "2.5 s" in lines[0]
    assert "4 × stopping" in lines[1]
    assert "3.5 s" in lines[2]
    assert {len(line.split(" | ")) for line in lines} == {len(report.COLUMNS)}


def test_every_fault_has_a_name_of_its_own() -> None:
    names = [fault.name for fault in report.ORDER]
    assert len(set(names)) == len(names)
