"""Bots play whole games by the rules, to the end, and the same game from the same seed."""

import hashlib

import pytest

from games.bots import STRENGTHS, Strength
from games.bots.selfplay import self_play
from games.rules import Terms, replay, result
from games.rules.edition import load_edition
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, RULEBOOKS, Rulebook, Seat


def terms_of(players: int, rulebook: Rulebook, seed: str) -> Terms:
    return Terms(
        rulebook=rulebook,
        pace="live",
        ranked=False,
        limits=DEFAULT_LIMITS["live"],
        edition=load_edition(),
        seats=tuple(Seat("bot", character) for character in CHARACTERS[:players]),
        server_seed=hashlib.sha256(seed.encode()).digest(),
    )


@pytest.mark.parametrize("rulebook", RULEBOOKS)
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_bots_play_whole_games(players: int, strength: Strength, rulebook: Rulebook) -> None:
    terms = terms_of(players, rulebook, "whole")
    log = self_play(terms, [strength] * players, "whole")
    outcome = result(replay(terms, log))
    assert outcome is not None
    assert outcome.reason in ("bag_opened_empty", "bag_empty", "deck_short")
    assert sorted(outcome.ranking) == list(range(players))


def test_the_same_seed_gives_the_same_game() -> None:
    terms = terms_of(4, "fr", "again")
    strengths: list[Strength] = ["master", "burglar", "apprentice", "burglar"]
    assert self_play(terms, strengths, "again") == self_play(terms, strengths, "again")
    assert self_play(terms, strengths, "again") != self_play(terms, strengths, "another")
