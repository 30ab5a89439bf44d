"""Bots play whole games by the rules, to the end, and the same game from the same seed."""

import hashlib
from collections.abc import Sequence

import pytest

from games import rules
from games.bots import STRENGTHS, Strength
from games.bots.prospects import PLANS, Plan
from games.bots.selfplay import SelfPlay, seated, self_play, terms_for_bots
from games.rules import Terms, result
from games.rules.commands import Leave
from games.rules.events import Event
from games.rules.terms import DEFAULT_LIMITS, RULEBOOKS, Limits, Pace, Rulebook, Seat
from tests.rules.tabletop import agree

ENDS = ("bag_opened_empty", "bag_empty", "deck_short")


def terms_of(players: int, rulebook: Rulebook, seed: str) -> Terms:
    return terms_for_bots(rulebook, players, hashlib.sha256(seed.encode()).digest())


def game_of(terms: Terms, strengths: Sequence[Strength], seed: str = "") -> SelfPlay:
    return SelfPlay(terms, seated(terms, strengths, seed))


def by_the_clock(log: Sequence[Event]) -> list[Event]:
    """What happened because somebody had not moved in time."""
    return [event for event in log if getattr(event, "by", None) == "clock"]


@pytest.mark.parametrize("rulebook", RULEBOOKS)
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_bots_play_whole_games_without_waiting_for_the_clock(
    players: int, strength: Strength, rulebook: Rulebook
) -> None:
    game = game_of(terms_of(players, rulebook, "whole"), [strength] * players)
    log = game.play()
    outcome = result(game.state)
    assert outcome is not None
    assert outcome.reason in ENDS
    assert sorted(outcome.ranking) == list(range(players))
    assert by_the_clock(log) == []


def test_the_same_seed_gives_the_same_game() -> None:
    terms = terms_of(4, "fr", "again")
    strengths: list[Strength] = ["master", "burglar", "apprentice", "burglar"]
    assert self_play(terms, strengths, "again") == self_play(terms, strengths, "again")
    assert self_play(terms, strengths, "again") != self_play(terms, strengths, "another")


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("rulebook", ["fr", "es"])
def test_four_of_the_same_plan_come_to_an_end(plan: Plan, rulebook: Rulebook) -> None:
    terms = terms_of(4, rulebook, "plans")
    log = self_play(terms, ["master"] * 4, "plans", [plan] * 4)
    assert by_the_clock(log) == []


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("pace", ["live", "relaxed"])
@pytest.mark.parametrize(
    "limits",
    [
        Limits(2_000, 3_000, 30_000, 10_000, 10_000, 1_000),
        Limits(0, 60_000, 1_800_000, 604_800_000, 604_800_000, 10_000),
    ],
    ids=["the shortest limits", "the longest limits"],
)
def test_bots_keep_to_any_limits(strength: Strength, pace: Pace, limits: Limits) -> None:
    game = game_of(agree(3, pace=pace, limits=limits, kind="bot"), [strength] * 3)
    log = game.play()
    assert game.state.reason in ENDS
    assert [event for event in by_the_clock(log) if event.type != "escaped"] == []


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("phase", ["gathering", "countdown", "search", "exchange"])
def test_bots_go_on_after_a_fault_and_without_those_who_left(phase: str, strength: Strength) -> None:
    game = game_of(terms_of(4, "fr", "fault"), [strength] * 4)
    while game.state.phase != phase or game.state.round < 2:
        game.step()
    at = game.state.at + 10_000
    game.happen(rules.resume(game.state, 9_000, at), at)
    game.happen(rules.decide(game.state, 2, Leave(), at), at)
    log = game.play()
    assert game.state.reason in ENDS
    assert game.state.players[2].left_at == at
    assert by_the_clock(log) == []


def test_bots_play_on_beside_people_who_do_nothing() -> None:
    """One seat has no bot: the clock moves for it until it has missed two rounds."""
    terms = terms_of(3, "fr", "asleep")
    terms = Terms(
        **{name: getattr(terms, name) for name in ("rulebook", "pace", "ranked", "edition", "server_seed")},
        limits=DEFAULT_LIMITS["live"],
        seats=(*terms.seats[:2], Seat("human", terms.seats[2].character)),
    )
    game = SelfPlay(terms, seated(terms, ["burglar", "master", "burglar"], "asleep")[:2])
    game.play()
    assert game.state.leavers == (2,)
    assert game.state.reason in ENDS
