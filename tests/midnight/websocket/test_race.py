"""Play as fast as the rules let it is far from what a socket may send."""

from pathlib import Path

import pytest

from midnight.bench import echo, race

UNLIMITED = "budget.LIMITS = budget.UNLIMITED\n"


@pytest.mark.slow
def test_a_race_of_four_at_one_address_is_never_cut(tmp_path: Path) -> None:
    """20 commands a second of each player (R8.5), with their beats."""
    assert UNLIMITED in echo.PROGRAM
    rooms = [{"path": "/race", "cookies": [""] * race.SEATS}]
    with race.running_web(echo.PROGRAM.replace(UNLIMITED, ""), tmp_path) as web:
        figures = race.under_load(web, race.Load(1, 20, 10), rooms)
    assert (figures["lost"], figures["refused"], figures["rooms_apart"]) == (0, 0, 0)
