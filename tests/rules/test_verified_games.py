"""Games of nobody in particular, of every rulebook and number of players, with and without mishaps: all verified."""

from collections.abc import Callable

import pytest

from games.rules.judge import judge
from games.rules.record import write_record
from games.rules.terms import Rulebook

from .random_play import Luck, random_game, terms_for

MISHAPS = [
    Luck(),
    Luck(leave=2, remove=1, crash=10),
    Luck(dreamy=(0,), sleepy=(1,), crash=2),
    Luck(void=1, doze=30),
]


@pytest.mark.parametrize("rulebook", ["fr", "es", "pt"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_are_verified(rulebook: Rulebook, players: int, so_often: Callable[[int, int], int]) -> None:
    for seed in range(so_often(8, 200)):
        pace = "relaxed" if seed % 8 == 7 else "live"
        game = random_game(terms_for(seed, rulebook, players, pace), seed, MISHAPS[seed % len(MISHAPS)])
        faults = judge(write_record(game.record()))
        assert not faults, f"seed {seed}: {faults[0]}"
