"""What the score sheet says beside the points."""

import pytest

from games.rules.edition import load_edition
from games.showing import Showing


def sheet(*totals: int, left: tuple[int, ...] = (), void: bool = False) -> Showing:
    """The end of a game of these points, best first."""
    seats = range(len(totals))
    sight = {
        "seat": 0,
        "players": [{"seat": seat, "left": seat in left} for seat in seats],
        "reveal": {"ranking": [] if void else list(seats), "scores": [{"total": total} for total in totals]},
    }
    return Showing(sight, [f"Player {seat}" for seat in seats], load_edition("house-1"))


@pytest.mark.parametrize("totals", [(30, 30, 12), (30, 12, 12), (40, 30, 30, 12), (12, 12)])
def test_equal_points_are_explained_wherever_they_stand(totals: tuple[int, ...]) -> None:
    assert sheet(*totals).tied


def test_nothing_is_explained_where_no_escape_token_decided() -> None:
    assert not sheet(30, 20, 10).tied
    # Whoever left ranks below all who stayed, whatever the points.
    assert not sheet(30, 20, 20, left=(2,)).tied
    assert not sheet(30, 20, 20, left=(1, 2)).tied
    assert not sheet(20, 20, void=True).tied
