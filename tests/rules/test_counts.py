"""How many lines of play there are from many exchanges: one wrong rule changes a number."""

import random
from collections import Counter
from itertools import combinations

import pytest

from games import rules
from games.rules.commands import Buy, Command, Leave, OpenBag
from games.rules.edition import ART, LOOT, Art, Loot
from games.rules.state import State
from games.rules.terms import Rulebook
from tests.rules.tabletop import ALICE, BOB, Table, agree

CHEAP = ("1A", "2A")  # 1 jewels, and 1 cash, for each of 2 art slots and 2 card slots


def moves(state: State, at: int) -> list[Command]:
    """What the seat in turn may do, but leaving."""
    seat = state.in_turn()
    assert seat is not None
    return [command for command in rules.legal(state, seat, at) if not isinstance(command, Leave)]


def lines(state: State, at: int, depth: int) -> int:
    """The lines of play of so many moves of whoever is in turn; a line that ends the phase is over."""
    seat = state.in_turn()
    if depth == 0 or seat is None:
        return 1
    found = 0
    for command in moves(state, at):
        after = state
        for event in rules.decide(state, seat, command, at):
            after = rules.apply(after, event)
        found += lines(after, at, depth - 1)
    return found


def count(table: Table, depth: int) -> list[int]:
    return [lines(table.state, table.at, moves) for moves in range(1, depth + 1)]


def open_table(*boards: list[Loot], faces: tuple[str, ...] = CHEAP, rulebook: Rulebook = "fr") -> Table:
    return Table(agree(len(boards), rulebook, faces=faces)).exchange(*boards)


def test_lines_that_were_counted_by_hand() -> None:
    """Alice: 2 jewels for 4 slots, 1 cash for 4 slots, or a pass: 13. Bob then has 4 slots and the pass, but
    3 and the pass where Alice bought with cash: 8 * 5 + 4 * 4 + 5 = 61."""
    assert count(open_table(["jewels", "jewels", "cash"], ["cash"]), 2) == [13, 61]


def test_a_phase_that_ends_is_the_end_of_its_lines() -> None:
    """Bob has nothing. Alice buys (4 slots) and then has nothing either, or passes: each is the end."""
    assert count(open_table(["jewels"], ["drawer"]), 3) == [5, 5, 5]


def test_a_bag_is_one_trade_and_a_pass_another() -> None:
    """Each of two bags, or a pass. The bags again in another order, or a pass: 2 * 2 + 1."""
    assert count(open_table(["bag", "bag"], ["drawer"]), 2) == [3, 5]


def test_two_of_a_price_may_be_paid_in_several_ways() -> None:
    """1 gold + 1 cash of 4A: 2 * 2 ways for 4 + 3 slots; 1 gold of nothing else; a pass."""
    assert count(open_table(["gold", "gold", "cash", "cash"], ["drawer"], faces=("4A", "3A")), 1) == [29]


def test_placements_are_lines_too() -> None:
    """A pass; a watch on either of two cards; after that the other watch on what still fits, or the pass."""
    table = Table(agree(2, faces=CHEAP))
    table.give(ALICE, art=["watch", "watch"], cards=["watch-1", "watch-2"])
    table.exchange(["drawer"], ["cash"])
    # After watch-1: watch-2 or pass. After watch-2: watch-1, watch-2 or pass. After the pass: Bob's 4 slots or pass.
    assert count(table, 2) == [3, 2 + 3 + 5]


def a_position(number: int) -> Table:
    """A position that its number makes: boards, art, cards, markets, rulebook."""
    rng = random.Random(f"position {number}")
    players = rng.choice([2, 2, 3, 4])
    boards: list[list[Loot]] = []
    left = Counter(loot for loot in LOOT for _ in range(4))
    for _ in range(players):
        board: list[Loot] = []
        for loot in rng.sample([loot for loot in LOOT for _ in range(3)], 6):
            if left[loot] and not (loot in board and loot.endswith("key")):
                board.append(loot)
                left[loot] -= 1
        boards.append(board)
    faces = tuple(board + rng.choice("AB") for board in rng.sample("1234", players))
    table = Table(agree(players, rng.choice(["fr", "es"]), seed=number, faces=faces))
    for seat in range(players):
        kinds: list[Art] = rng.choices(ART, k=2)
        table.give(seat, art=kinds, cards=[card.id for card in rng.sample(table.terms.edition.cards, 2)])
    return table.exchange(*boards)


# Moves, lines of two moves, lines of three.
COUNTED = {
    0: [10, 140, 2732],
    1: [4, 24, 78],
    2: [16, 177, 1747],
    3: [12, 123, 888],
    4: [12, 118, 1980],
    5: [11, 83, 522],
    6: [7, 44, 200],
    7: [10, 59, 328],
    8: [6, 31, 406],
    9: [6, 36, 124],
    10: [20, 306, 5875],
    11: [22, 337, 5198],
    12: [14, 80, 450],
    13: [19, 305, 3751],
    14: [15, 454, 5808],
    15: [10, 101, 610],
    16: [2, 8, 22],
    17: [20, 161, 2589],
    18: [11, 104, 934],
    19: [7, 69, 430],
    20: [20, 261, 1687],
    21: [11, 134, 1012],
    22: [11, 122, 666],
    23: [6, 80, 259],
}


@pytest.mark.parametrize("number", COUNTED)
def test_the_lines_of_many_positions_are_what_they_were(number: int) -> None:
    assert count(a_position(number), len(COUNTED[number])) == COUNTED[number]


def by_brute_force(state: State, seat: int) -> set[Command]:
    """Every trade, found by trying every pile of tiles against every slot."""
    board = state.players[seat].board
    found: set[Command] = {OpenBag(tile) for tile in board if state.tiles[tile].loot == "bag"}
    for size in range(1, 7):
        for pay in combinations(board, size):
            loot = Counter(state.tiles[tile].loot for tile in pay)
            for market, offer in enumerate(state.offers):
                if loot == Counter(dict(state.terms.edition.market[offer.face].cost)):
                    found |= {Buy(market, pay, art=slot) for slot, kind in enumerate(offer.art) if kind}
                    found |= {Buy(market, pay, cards=slot) for slot, cards in enumerate(offer.cards) if cards}
    return found


@pytest.mark.parametrize("number", range(60))
def test_no_trade_is_missing_and_none_too_many(number: int) -> None:
    table = a_position(number)
    seat = table.state.in_turn()
    if seat is not None:
        trades = {command for command in moves(table.state, table.at) if isinstance(command, Buy | OpenBag)}
        assert trades == by_brute_force(table.state, seat)


def test_who_is_not_in_turn_has_no_trade() -> None:
    table = open_table(["jewels"], ["cash"])
    assert rules.legal(table.state, BOB, table.at) == (Leave(),)
