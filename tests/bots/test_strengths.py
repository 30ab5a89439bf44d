"""Master beats Burglar beats Apprentice, clearly, and none of them always."""

from collections.abc import Callable
from hashlib import sha256
from time import process_time

import pytest

from games.bots import Bot, Strength
from games.bots.hand import Choice
from games.bots.selfplay import SelfPlay, seated, terms_for_bots
from games.rules import result
from games.rules.terms import Rulebook

CLEARLY = 0.6


def wins(game: int, better: Strength, worse: Strength, rulebook: Rulebook) -> bool:
    """Whether the better one wins this game of two; each table is played twice, with the seats changed."""
    terms = terms_for_bots(rulebook, 2, sha256(f"strengths {game // 2}".encode()).digest())
    pair = [better, worse] if game % 2 else [worse, better]
    played = SelfPlay(terms, seated(terms, pair, str(game)))
    played.play()
    outcome = result(played.state)
    assert outcome is not None
    return pair[outcome.ranking[0]] == better


@pytest.mark.parametrize("rulebook", ["fr", "es"])
@pytest.mark.parametrize(("better", "worse"), [("master", "burglar"), ("burglar", "apprentice")])
def test_the_better_bot_wins_clearly_and_not_always(
    better: Strength, worse: Strength, rulebook: Rulebook, so_often: Callable[[int, int], int]
) -> None:
    games = so_often(32, 1_000)
    won = sum(wins(game, better, worse, rulebook) for game in range(games))
    assert CLEARLY <= won / games < 1


def test_no_bot_keeps_a_table_waiting(monkeypatch: pytest.MonkeyPatch, in_work: Callable[[float], float]) -> None:
    """A live table thinks for its bots between the commands of people."""
    spent: list[float] = []
    choose = Bot.choose

    def timed(bot: Bot) -> Choice | None:
        start = process_time()
        choice = choose(bot)
        spent.append(process_time() - start)
        return choice

    monkeypatch.setattr(Bot, "choose", timed)
    for game in range(3):
        terms = terms_for_bots("fr", 4, sha256(f"waiting {game}".encode()).digest())
        SelfPlay(terms, seated(terms, ["master"] * 4, str(game))).play()
    spent.sort()
    assert spent[len(spent) * 99 // 100] < in_work(0.005)
    assert spent[len(spent) // 2] < in_work(0.001)
