"""A bot's memory is the fold of what its seat saw, and is right about all of it."""

from collections import Counter

import pytest

from games import rules
from games.bots.memory import Memory
from games.rules.terms import RULEBOOKS
from tests.bots.seats import WHOLE, contents, memory_of, shown, states
from tests.rules.random_play import Game, Luck, random_game, terms_for
from tests.rules.tabletop import ALICE, BOB, Table, agree

# What a whole sight cannot tell: what was looked at and forgotten by it, and how the rounds before went.
ONLY_LIVED = {"looked", "shunned", "bag_left", "searching_since"}
ONLY_LIVED_OF_SIDES = {"closed", "searched_ms", "found"}
BUSTLE = Luck(leave=3, crash=8, doze=5)


def visible(memory: Memory) -> dict[str, object]:
    """What a memory has in common with one that was only shown the whole table as it is now."""
    found = {name: value for name, value in contents(memory).items() if name not in ONLY_LIVED}
    found["sides"] = [
        {name: getattr(side, name) for name in side.__slots__ if name not in ONLY_LIVED_OF_SIDES}
        for side in memory.sides
    ]
    if memory.me.hand is None:
        del found["lifted_at"]
    if memory.phase != "exchange":
        for name in ("order", "tour", "turn"):
            del found[name]
    return found


def game_of(number: int) -> Game:
    rulebook = RULEBOOKS[number % len(RULEBOOKS)]
    return random_game(terms_for(number, rulebook, players=2 + number % 3), number, BUSTLE)


@pytest.mark.parametrize("number", range(6))
def test_a_memory_that_lived_through_a_game_sees_the_table_as_it_is(number: int) -> None:
    game = game_of(number)
    seat = number % len(game.terms.seats)
    lived = Memory(seat, game.terms.edition, WHOLE)
    for seen, state in zip(shown(game.terms, game.log, seat), states(game.terms, game.log), strict=True):
        lived.see(seen)
        if state.phase == "exchange" and state.exchange.turn is None:
            continue  # the next event, at the same moment, says that the phase is over
        now = Memory(seat, game.terms.edition, WHOLE)
        now.see(rules.sight(state, seat))
        assert visible(lived) == visible(now), f"after event {state.seq}"


@pytest.mark.parametrize("number", range(3))
def test_a_memory_knows_what_is_left_in_the_bag_of_art(number: int) -> None:
    game = game_of(number)
    memory = Memory(0, game.terms.edition, WHOLE)
    for seen, state in zip(shown(game.terms, game.log, 0), states(game.terms, game.log), strict=True):
        memory.see(seen)
        if state.phase != "setup":
            assert +Counter(memory.bag_left) == Counter(state.bag)


@pytest.mark.parametrize("number", range(3))
def test_a_memory_knows_the_cards_that_it_saw_turned_over(number: int) -> None:
    game = game_of(number)
    memory = memory_of(game.terms, game.log, 0)
    for side, hidden in zip(memory.sides, _hidden(game), strict=True):
        assert side.closed == [name for name in side.closed if name in hidden]
        assert side.face_down == len(side.closed) == len(hidden)


def _hidden(game: Game) -> list[list[str]]:
    reveal = rules.sight(game.state, None)["reveal"]
    assert isinstance(reveal, dict)
    hidden: list[list[str]] = reveal["hidden"]
    return hidden


def test_the_same_sights_give_the_same_memory_in_any_process() -> None:
    game = game_of(4)
    cut = game.log[: len(game.log) * 2 // 3]
    assert contents(memory_of(game.terms, cut, 1)) == contents(memory_of(game.terms, cut, 1))


def looked_at(table: Table, seat: int, *loot: str) -> list[int]:
    tiles = []
    for one in loot:
        tile = next(
            tile
            for tile, found in enumerate(table.state.tiles)
            if found.loot == one and found.place == "garage" and tile not in tiles
        )
        table.lift(seat, tile)
        table.put_back(seat, tile)
        tiles.append(tile)
    return tiles


def test_what_was_looked_at_is_remembered_and_the_oldest_forgotten_first() -> None:
    table = Table(agree(2)).search()
    first, second, third = looked_at(table, ALICE, "drawer", "cash", "jewels")
    whole = memory_of(table.terms, table.log, ALICE)
    assert [whole.known(tile) for tile in (first, second, third)] == ["drawer", "cash", "jewels"]
    short = memory_of(table.terms, table.log, ALICE, span=2)
    assert [short.known(tile) for tile in (first, second, third)] == [None, "cash", "jewels"]


def test_what_others_looked_at_stays_unknown_but_what_lay_face_up_is_remembered() -> None:
    table = Table(agree(2)).search()
    (tile,) = looked_at(table, BOB, "cash")
    assert memory_of(table.terms, table.log, ALICE).known(tile) is None
    table.lift(BOB, tile)
    table.put_back(BOB, tile, "up")
    assert memory_of(table.terms, table.log, ALICE).known(tile) == "cash"
    table.lift(BOB, tile)
    assert memory_of(table.terms, table.log, ALICE).known(tile) == "cash"
    table.put_back(BOB, tile)
    assert memory_of(table.terms, table.log, ALICE).known(tile) == "cash"


def test_a_new_round_is_a_new_table() -> None:
    game = game_of(1)
    second = next(number for number, event in enumerate(game.log) if event.type == "round_started" and number)
    memory = memory_of(game.terms, game.log[: second + 1], 0)
    assert memory.looked == {}
    assert memory.shunned == set()
    assert set(memory.loot) == {None}
