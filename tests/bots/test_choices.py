"""What bots choose is legal, in time, and hangs on nothing but what their seat saw."""

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import games.bots
from games import rules
from games.bots import STRENGTHS, Strength
from games.bots.hand import jittered
from games.rules import State
from games.rules.events import Event, Lifted, Returned, RoundStarted, Stashed
from games.rules.terms import DEFAULT_LIMITS, RULEBOOKS, Limits
from tests.bots.seats import bot_of, shown, states
from tests.rules.random_play import Game, Luck, random_game, terms_for
from tests.rules.tabletop import ALICE, Table, agree


def game_of(number: int) -> Game:
    rulebook = RULEBOOKS[number % len(RULEBOOKS)]
    return random_game(terms_for(number, rulebook, players=2 + number % 3), number, Luck(leave=2, crash=6))


def must_act(state: State, seat: int) -> bool:
    """Whether nobody but this seat can bring the game on, or its hand is full."""
    player = state.players[seat]
    if player.left_at is not None or state.phase == "over":
        return False
    if state.phase == "gathering":
        return not player.ready
    return state.in_turn() == seat or player.hand is not None


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("number", range(5))
def test_whatever_happened_a_bot_chooses_what_is_legal_and_never_leaves_others_waiting(
    number: int, strength: Strength
) -> None:
    game = game_of(number)
    for seat in range(len(game.terms.seats)):
        bot = games.bots.Bot(strength, seat, game.terms.edition, Random(number))
        for seen, state in zip(shown(game.terms, game.log, seat), states(game.terms, game.log), strict=True):
            bot.see(seen)
            if state.phase == "exchange" and state.exchange.turn is None:
                continue
            choice = bot.choose()
            if choice is None:
                assert not must_act(state, seat)
                continue
            at = state.at + choice.after_ms
            due = rules.wake_at(state)
            assert due is not None
            if at < due:
                assert choice.command in rules.legal(state, seat, at), f"after event {state.seq}"


# Hidden facts


def unseen(log: Sequence[Event], seat: int) -> list[int]:
    """The tiles of the last round whose loot this seat cannot know."""
    start = max(number for number, event in enumerate(log) if isinstance(event, RoundStarted))
    seen = set()
    for event in log[start:]:
        if isinstance(event, Lifted) and event.seat == seat:
            seen.add(event.tile)
        if isinstance(event, Stashed) or (isinstance(event, Returned) and event.face == "up"):
            seen.add(event.tile)
    return [tile for tile in range(54) if tile not in seen]


def other_world(game: Game, log: Sequence[Event], seat: int, rng: Random) -> list[Event]:
    """The same game, but what this seat cannot know lies elsewhere."""
    start = max(number for number, event in enumerate(log) if isinstance(event, RoundStarted))
    laid = log[start]
    assert isinstance(laid, RoundStarted)
    tiles = list(laid.tiles)
    for place in ("garage", "office", "safe"):
        spots = [tile for tile in unseen(log, seat) if tiles[tile].place == place]
        loot = [tiles[tile] for tile in spots]
        rng.shuffle(loot)
        for spot, tile in zip(spots, loot, strict=True):
            tiles[spot] = tile
    changed = RoundStarted(laid.seq, laid.at, laid.round, tuple(tiles), laid.markets, laid.bag, laid.deck)
    return [*log[:start], changed, *log[start + 1 :]]


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("number", range(8))
def test_hidden_facts_change_no_choice(number: int, strength: Strength) -> None:
    game = game_of(number)
    rng = Random(number)
    searching = [cut for cut, state in enumerate(states(game.terms, game.log)) if state.phase == "search"]
    for cut in rng.sample(searching, 5):
        seat = rng.randrange(len(game.terms.seats))
        here = game.log[:cut]
        there = other_world(game, here, seat, rng)
        assert there != here
        assert [json.dumps(seen) for seen in shown(game.terms, here, seat)] == [
            json.dumps(seen) for seen in shown(game.terms, there, seat)
        ]
        assert (
            bot_of(game.terms, here, seat, strength, "a").choose()
            == bot_of(game.terms, there, seat, strength, "a").choose()
        )


def test_no_bot_ever_holds_a_state() -> None:
    """Bots are made of what `sight` shows; only who plays whole games among them has the game itself."""
    folder = Path(games.bots.__file__).parent
    for path in folder.glob("*.py"):
        if path.name in ("selfplay.py", "balance.py"):
            continue
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not names & {"State", "Terms", "blank", "replay", "decide", "legal", "rules"}, path.name


# Hands and clocks


@pytest.mark.parametrize("limits", [Limits(2_000, 3_000, 30_000, 10_000, 10_000, 1_000), DEFAULT_LIMITS["live"]])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_hand_moves_a_tile_when_it_has_turned_over_and_before_the_clock_does(
    strength: Strength, limits: Limits
) -> None:
    table = Table(agree(2, limits=limits)).search()
    table.lift(ALICE, table.tile_of("garage"))
    for chance in range(50):
        choice = bot_of(table.terms, table.log, ALICE, strength, str(chance)).choose()
        assert choice is not None
        assert limits.hold_ms < choice.after_ms < limits.hand_ms


@pytest.mark.parametrize("strength", STRENGTHS)
def test_nobody_is_ever_as_fast_as_a_machine_or_twice_the_same(strength: Strength) -> None:
    table = Table(agree(2)).search()
    times = [
        choice.after_ms
        for chance in range(50)
        if (choice := bot_of(table.terms, table.log, ALICE, strength, str(chance)).choose())
    ]
    assert len(times) == 50
    assert min(times) > 250
    assert len(set(times)) > 30


def test_a_hand_waits_for_the_end_of_the_countdown_that_follows_a_fault() -> None:
    table = Table(agree(2)).search()
    table.at += 5_000
    table.happen(rules.resume(table.state, 4_000, table.at))
    choice = bot_of(table.terms, table.log, ALICE, "master").choose()
    assert choice is not None
    assert choice.after_ms > table.terms.limits.countdown_ms


def test_a_jittered_time_is_near_the_usual_one_and_bounded() -> None:
    rng = Random(1)
    times = sorted(jittered(rng, 1_000, 0.3) for _ in range(1_000))
    assert 900 < times[500] < 1_100
    assert 300 < times[0] < times[-1] <= 2_500
