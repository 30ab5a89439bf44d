"""The exchange, cards and art (R5, R6)."""

import pytest

from games import rules
from games.rules.commands import Buy, Leave, Lift, OpenBag, Pass, Place
from games.rules.edition import Art, Loot
from games.rules.errors import Refused
from games.rules.events import BagOpened, Bought, Passed, Placed, RoundStarted
from games.rules.scoring import score
from games.rules.terms import Rulebook
from tests.rules.tabletop import ALICE, BOB, CHARLIE, Table, agree, kinds, only

CHEAP = ("1A", "2A")  # 1 jewels; 1 cash
RICH = ("4A", "1A")  # 1 gold + 1 cash; 1 jewels


def open_table(*boards: list[Loot], faces: tuple[str, ...] = CHEAP, rulebook: Rulebook = "fr") -> Table:
    """An exchange in which Alice is first; nobody has art or cards yet."""
    return Table(agree(len(boards), rulebook, faces=faces)).exchange(*boards)


def with_art(table: Table, seat: int, art: list[Art], cards: list[str]) -> Table:
    table.give(seat, art=art, cards=cards)
    return table


def passes(*happened: object) -> list[tuple[int, str]]:
    return [(event.seat, event.by) for event in happened if isinstance(event, Passed)]


# Turns and tours


def test_R5_1_turns_go_round_in_the_order_of_the_tokens() -> None:
    table = open_table(["cash"] * 3, ["jewels"] * 3, ["bag"] * 3, faces=("1A", "2A", "3A"))
    turns = []
    for _ in range(6):
        seat = table.state.in_turn()
        assert seat is not None
        turns.append(seat)
        table.do(seat, next(one for one in rules.legal(table.state, seat, table.at) if isinstance(one, Buy | OpenBag)))
    assert turns == [ALICE, BOB, CHARLIE] * 2


def test_R5_1_only_who_is_in_turn_trades_or_passes() -> None:
    table = open_table(["cash"], ["jewels"])
    for command in (Pass(), Buy(0, (table.board(BOB, "jewels"),), art=0), OpenBag(table.board(BOB, "jewels"))):
        assert table.refused(BOB, command) == "not_your_turn"


def test_R5_1_another_tour_follows_a_trade_even_of_the_first_seat() -> None:
    table = open_table(["cash", "cash"], ["jewels"])
    table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=0))
    table.do(BOB, Pass())
    assert (table.state.in_turn(), table.state.exchange.tour) == (ALICE, 2)
    table.do(ALICE, Pass())
    happened = table.do(BOB, Pass())
    assert kinds(happened) == ["passed", "round_started"]


def test_R5_1_passes_of_two_tours_do_not_make_a_whole_tour() -> None:
    table = open_table(["cash"], ["jewels", "jewels"])
    table.do(ALICE, Pass())
    table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=0))
    table.do(ALICE, Pass())
    assert table.state.in_turn() == BOB
    table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=1))
    assert table.state.in_turn() == ALICE
    assert table.state.exchange.tour == 3


def test_R5_1_a_phase_in_which_nobody_can_do_anything_ends_as_it_starts() -> None:
    table = Table(agree(2)).search()
    happened = table.wait(table.terms.limits.search_ms)
    assert kinds(happened) == ["escaped", "escaped", "exchange_started", "passed", "passed", "round_started"]


# Trades


def test_R5_2_buy_one_token_of_art() -> None:
    table = open_table(["jewels"], ["cash"])
    tile = table.board(ALICE, "jewels")
    kind = table.state.offers[0].art[1]
    bought = only(table.do(ALICE, Buy(0, (tile,), art=1)), Bought)
    assert bought.got == (kind,)
    assert table.state.players[ALICE].art == (kind,)
    assert table.state.offers[0].art[1] is None
    assert table.state.players[ALICE].board == ()
    assert table.lies(tile) == "down"


def test_R5_2_buy_what_is_in_a_card_slot_both_of_a_double_one() -> None:
    table = open_table(["gold", "cash"], ["jewels"], faces=RICH)
    slot = table.state.offers[0].cards[2]
    pay = (table.board(ALICE, "gold"), table.board(ALICE, "cash"))
    bought = only(table.do(ALICE, Buy(0, pay, cards=2)), Bought)
    assert len(slot) == 2
    assert bought.got == slot
    assert tuple(held.card.id for held in table.state.players[ALICE].cards) == slot
    assert table.state.offers[0].cards[2] == ()


def test_R5_2_a_slot_that_is_sold_stays_empty_all_phase() -> None:
    table = open_table(["jewels", "jewels"], ["jewels", "jewels"])
    table.do(ALICE, Buy(0, (table.board(ALICE, "jewels"),), art=0))
    table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), cards=0))
    pay = (table.board(ALICE, "jewels"),)
    assert table.refused(ALICE, Buy(0, pay, art=0)) == "sold"
    assert table.refused(ALICE, Buy(0, pay, cards=0)) == "sold"
    table.do(ALICE, Buy(0, pay, cards=1))


def test_R5_2_an_empty_market_sells_nothing() -> None:
    table = open_table(["jewels"] * 3, ["jewels"] * 3)
    for slot in range(4):
        seat = slot % 2
        pay = (table.board(seat, "jewels"),)
        happened = table.do(seat, Buy(0, pay, art=slot) if slot < 2 else Buy(0, pay, cards=slot - 2))
    assert passes(*happened) == [(ALICE, "auto"), (BOB, "auto")]
    assert happened[-1].type == "round_started"


@pytest.mark.parametrize("command", [Buy(4, (0,), art=0), Buy(0, (0,), art=9), Buy(0, (0,), cards=9)])
def test_R5_2_there_must_be_such_a_market_and_slot(command: Buy) -> None:
    assert open_table(["jewels"], ["cash"]).refused(ALICE, command) == "no_market"


def test_R5_2_one_pays_with_tiles_of_ones_own_board() -> None:
    table = open_table(["jewels"], ["jewels", "cash"])
    assert table.refused(ALICE, Buy(0, (table.board(BOB, "jewels"),), art=0)) == "not_on_board"
    assert table.refused(ALICE, Buy(0, (table.tile_of("garage", "jewels"),), art=0)) == "not_on_board"
    mine = table.board(ALICE, "jewels")
    assert table.refused(ALICE, Buy(0, (mine, mine), art=0)) == "not_on_board"


def test_R5_3_open_a_bag() -> None:
    table = open_table(["bag"], ["cash"])
    first, left = table.state.bag[0], len(table.state.bag)
    tile = table.board(ALICE, "bag")
    opened = only(table.do(ALICE, OpenBag(tile)), BagOpened)
    assert opened.got == first
    assert table.state.players[ALICE].art == (first,)
    assert len(table.state.bag) == left - 1
    assert table.lies(tile) == "down"


def test_R5_3_only_a_leather_bag_of_ones_own() -> None:
    table = open_table(["cash"], ["bag"])
    assert table.refused(ALICE, OpenBag(table.board(ALICE, "cash"))) == "not_a_bag"
    assert table.refused(ALICE, OpenBag(table.board(BOB, "bag"))) == "not_on_board"


def test_R5_3_over_an_empty_bag_of_art_nothing_is_drawn_and_the_game_ends_after_the_phase() -> None:
    table = open_table(["bag", "jewels"], ["cash"])
    table.state = table.state._replace(bag=())
    tile = table.board(ALICE, "bag")
    opened = only(table.do(ALICE, OpenBag(tile)), BagOpened)
    assert opened.got is None
    assert table.lies(tile) == "down"
    assert table.state.players[ALICE].art == ()
    assert table.state.phase == "exchange"
    table.do(BOB, Pass())
    table.do(ALICE, Pass())
    table.do(BOB, Pass())
    ended = rules.result(table.state)
    assert ended is not None
    assert ended.reason == "bag_opened_empty"


def test_R5_4_who_could_trade_may_pass_and_is_asked_again() -> None:
    table = open_table(["cash"], ["jewels"])
    assert passes(*table.do(ALICE, Pass())) == [(ALICE, "player")]
    table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=0))
    assert table.state.in_turn() == ALICE
    table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=0))


def test_R5_4_a_bag_over_an_empty_bag_of_art_is_a_legal_trade() -> None:
    table = open_table(["bag"], ["cash"])
    table.state = table.state._replace(bag=())
    assert table.state.in_turn() == ALICE
    assert OpenBag(table.board(ALICE, "bag")) in rules.legal(table.state, ALICE, table.at)


def test_R5_4_who_can_do_nothing_passes_at_the_same_moment() -> None:
    table = open_table(["cash", "cash"], ["drawer"])
    happened = table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=0))
    assert kinds(happened) == ["bought", "passed"]
    assert passes(*happened) == [(BOB, "auto")]
    assert happened[1].at == happened[0].at


@pytest.mark.parametrize("loot", ["iron_key", "brass_key", "drawer", "bag", "gems", "cash"])
def test_R5_5_nothing_but_the_printed_loot_pays(loot: Loot) -> None:
    table = open_table(["jewels", loot], ["cash"])
    assert table.refused(ALICE, Buy(0, (table.board(ALICE, loot),), art=0)) == "wrong_price"


def test_R5_5_no_change_is_given() -> None:
    table = open_table(["gold", "gold", "cash"], ["cash"], faces=("3A", "4A"))
    both = tuple(table.state.players[ALICE].board[:2])
    assert table.refused(ALICE, Buy(0, both, art=0)) == "wrong_price"
    assert table.refused(ALICE, Buy(1, both, art=0)) == "wrong_price"
    assert table.refused(ALICE, Buy(1, both[:1], art=0)) == "wrong_price"
    assert table.refused(ALICE, Buy(1, (*both, table.board(ALICE, "cash")), art=0)) == "wrong_price"


def test_R8_2_gold_and_cash_is_one_of_each() -> None:
    table = open_table(["gold", "cash", "cash"], ["cash"], faces=RICH)
    gold, *cash = table.state.players[ALICE].board
    assert table.refused(ALICE, Buy(0, (gold, *cash), art=0)) == "wrong_price"
    table.do(ALICE, Buy(0, (cash[0], gold), art=0))


# Cards and art


def test_R6_1_a_unique_piece_is_worth_three() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, cards=["pharaoh"])
    assert score(ALICE, table.state.players[ALICE]).uniques == 3
    assert table.refused(ALICE, Place("statuette", "pharaoh")) == "no_art"
    table.give(ALICE, art=["statuette"])
    assert table.refused(ALICE, Place("statuette", "pharaoh")) == "no_card"


def test_R6_2_an_empty_collection_is_worth_two() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, cards=["showcase-1", "manuscript-1"])
    assert score(ALICE, table.state.players[ALICE]).collections == 4


def test_R6_3_slots_are_filled_from_the_lowest_with_what_is_printed_on_them() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, art=["painting", "watch", "jewellery"], cards=["showcase-1"])
    assert table.refused(ALICE, Place("painting", "showcase-1")) == "does_not_fit"
    printed: list[tuple[Art, int]] = [("jewellery", 5), ("watch", 9), ("painting", 14)]
    for kind, worth in printed:
        placed = only(table.do(ALICE, Place(kind, "showcase-1")), Placed)
        assert (placed.art, placed.worth) == (kind, worth)
        assert score(ALICE, table.state.players[ALICE]).collections == worth


def test_R6_4_a_complete_collection_takes_no_more_and_its_art_is_out_of_the_game() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, art=["manuscript", "manuscript"], cards=["manuscript-1"])
    bag = table.state.bag
    table.do(ALICE, Place("manuscript", "manuscript-1"))
    assert table.refused(ALICE, Place("manuscript", "manuscript-1")) == "no_card"
    assert table.state.bag == bag
    assert table.state.players[ALICE].art == ("manuscript",)
    alice, bob = (rules.sight(table.state, seat)["players"] for seat in (ALICE, BOB))
    assert isinstance(alice, list)
    assert isinstance(bob, list)
    assert (alice[ALICE]["face_down"], alice[ALICE]["hidden"]) == (1, ["manuscript-1"])
    assert bob[ALICE]["face_down"] == 1
    assert "hidden" not in bob[ALICE]


def test_R6_5_art_may_be_placed_in_anybodys_turn() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(BOB, art=["watch"], cards=["watch-2"])
    assert table.state.in_turn() == ALICE
    assert kinds(table.do(BOB, Place("watch", "watch-2"))) == ["placed"]
    assert table.state.in_turn() == ALICE


def test_R6_5_but_only_in_an_exchange() -> None:
    table = Table(agree(2))
    table.give(ALICE, art=["watch"], cards=["watch-2"])
    assert table.refused(ALICE, Place("watch", "watch-2")) == "not_now"
    table.search()
    assert table.refused(ALICE, Place("watch", "watch-2")) == "not_now"


def test_R6_5_a_placement_gives_a_turn_no_more_time() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, art=["watch"], cards=["watch-2"])
    due = rules.wake_at(table.state)
    table.wait(10_000)
    table.do(ALICE, Place("watch", "watch-2"))
    assert rules.wake_at(table.state) == due
    assert table.state.in_turn() == ALICE


def test_R6_5_art_takes_no_slot_and_stays() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, art=["watch"] * 8, cards=["watch-2"])
    table.do(ALICE, Place("watch", "watch-2"))
    for seat in (ALICE, BOB):
        table.do(seat, Pass())
    table.search()
    table.take(ALICE, "cash", "cash", "jewels", "jewels", "drawer", "drawer")
    assert table.state.players[ALICE].art == ("watch",) * 7
    assert table.state.players[ALICE].cards[0].filled == 1


def test_R6_6_who_could_place_is_asked_before_passing() -> None:
    table = with_art(Table(agree(2, faces=CHEAP)), ALICE, ["watch"], ["watch-1"]).exchange(["drawer"], ["cash"])
    assert table.state.in_turn() == ALICE
    assert set(rules.legal(table.state, ALICE, table.at)) == {Pass(), Place("watch", "watch-1"), Leave()}


def test_R6_6_the_pass_follows_when_nothing_is_left_to_place() -> None:
    table = with_art(Table(agree(2, faces=CHEAP)), ALICE, ["watch", "watch"], ["watch-2"])
    table.exchange(["drawer"], ["cash"])
    assert kinds(table.do(ALICE, Place("watch", "watch-2"))) == ["placed"]
    happened = table.do(ALICE, Place("watch", "watch-2"))
    assert kinds(happened) == ["placed", "passed"]
    assert passes(*happened) == [(ALICE, "auto")]


def test_R6_6_but_not_while_a_trade_is_left() -> None:
    table = open_table(["cash"], ["cash"])
    table.give(ALICE, art=["watch"], cards=["watch-1"])
    assert kinds(table.do(ALICE, Place("watch", "watch-1"))) == ["placed"]


@pytest.mark.parametrize("by", ["player", "clock"])
def test_R6_6_a_pass_without_a_legal_trade_is_final(by: str) -> None:
    table = with_art(Table(agree(2, faces=CHEAP)), ALICE, ["watch"], ["watch-2"])
    table.exchange(["drawer"], ["cash", "cash"])
    if by == "player":
        table.do(ALICE, Pass())
    else:
        table.wait_for_the_clock()
    happened = table.do(BOB, Buy(1, (table.board(BOB, "cash"),), art=0))
    assert passes(*happened) == [(ALICE, "auto")]
    assert table.state.in_turn() == BOB
    table.do(ALICE, Place("watch", "watch-2"))


def test_R6_6_a_pass_of_the_clock_with_a_legal_trade_is_not() -> None:
    table = open_table(["cash"], ["jewels"])
    assert passes(*table.wait_for_the_clock()) == [(ALICE, "clock")]
    table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=0))
    assert table.state.in_turn() == ALICE


def test_R6_6_final_is_for_one_phase_only() -> None:
    table = with_art(Table(agree(2, faces=CHEAP)), ALICE, ["watch"], ["watch-2"])
    table.exchange(["drawer"], ["cash"])
    table.do(ALICE, Pass())
    assert only(table.do(BOB, Pass()), RoundStarted).round == 2
    assert not table.state.players[ALICE].final


@pytest.mark.parametrize("rulebook", ["es", "pt"])
def test_R8_1_at_most_two_tours_have_trades(rulebook: Rulebook) -> None:
    table = open_table(["cash"] * 3, ["jewels"] * 3, rulebook=rulebook)
    for tour in range(2):
        table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=tour))
        happened = table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=tour))
    assert kinds(happened) == ["bought", "passed", "passed", "round_started"]
    assert passes(*happened) == [(ALICE, "auto"), (BOB, "auto")]


@pytest.mark.parametrize("rulebook", ["fr", "it", "de"])
def test_R8_1_the_others_have_as_many_as_players_like(rulebook: Rulebook) -> None:
    table = open_table(["cash"] * 4, ["jewels"] * 4, rulebook=rulebook)
    for tour in range(4):
        for seat, market, loot in ((ALICE, 1, "cash"), (BOB, 0, "jewels")):
            pay = (next(tile for tile in table.state.players[seat].board if table.tile(tile).loot == loot),)
            table.do(seat, Buy(market, pay, art=tour) if tour < 2 else Buy(market, pay, cards=tour - 2))
    assert table.state.round == 2


@pytest.mark.parametrize("rulebook", ["es", "pt"])
def test_R8_2a_in_the_closing_tour_one_may_place_and_not_trade(rulebook: Rulebook) -> None:
    table = Table(agree(2, rulebook, faces=CHEAP))
    table.give(BOB, art=["watch"], cards=["watch-2"])
    table.exchange(["cash"] * 3, ["jewels"] * 3)
    for tour in range(2):
        table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=tour))
        happened = table.do(BOB, Buy(0, (table.board(BOB, "jewels"),), art=tour))
    assert passes(*happened) == [(ALICE, "auto")]
    assert table.state.in_turn() == BOB
    assert table.refused(BOB, Buy(0, (table.board(BOB, "jewels"),), cards=0)) == "closing_tour"
    fits = {Place("watch", "watch-2")}
    assert fits <= set(rules.legal(table.state, BOB, table.at)) <= fits | {Pass(), Leave()}
    happened = table.do(BOB, Pass())
    assert kinds(happened) == ["passed", "round_started"]


def test_R8_2a_a_phase_may_end_before_its_closing_tour() -> None:
    table = open_table(["cash"] * 3, ["jewels"] * 3, rulebook="es")
    table.do(ALICE, Buy(1, (table.board(ALICE, "cash"),), art=0))
    table.do(BOB, Pass())
    table.do(ALICE, Pass())
    assert kinds(table.do(BOB, Pass())) == ["passed", "round_started"]


def test_a_refusal_says_why_in_a_sentence() -> None:
    table = open_table(["cash"], ["cash"])
    with pytest.raises(Refused, match=r"^It is not your turn\.$") as refused:
        rules.decide(table.state, BOB, Pass(), table.at)
    assert refused.value.code == "not_your_turn"
    assert table.refused(ALICE, Lift(0)) == "not_now"
