"""The next round, the end of the game and its points (R7)."""

from collections import Counter

from games import rules
from games.rules import chance
from games.rules.commands import Pass
from games.rules.edition import TILES, Art, load_edition
from games.rules.events import GameEnded, RoundStarted
from games.rules.scoring import score
from games.rules.state import Held, Player, State
from tests.rules.tabletop import ALICE, BOB, CHARLIE, Table, agree, kinds

CHEAP = ("1A", "2A")  # each has 2 art slots and 2 card slots of one card


def at_the_exchange(faces: tuple[str, ...] = CHEAP) -> Table:
    return Table(agree(2, faces=faces)).exchange(["cash"], ["jewels"])


def sell(table: Table, art: int = 0, cards: int = 0) -> None:
    """So many slots are empty now; who bought what does not matter here."""
    for _ in range(art):
        change_a_slot(table, cards=False)
    for _ in range(cards):
        change_a_slot(table, cards=True)


def change_a_slot(table: Table, cards: bool) -> None:
    offers = list(table.state.offers)
    for market, offer in enumerate(offers):
        slots = offer.cards if cards else offer.art
        slot = next((slot for slot, content in enumerate(slots) if content), None)
        if slot is None:
            continue
        if cards:
            offers[market] = offer._replace(cards=(*offer.cards[:slot], (), *offer.cards[slot + 1 :]))
        else:
            offers[market] = offer._replace(art=(*offer.art[:slot], None, *offer.art[slot + 1 :]))
        table.state = table.state._replace(offers=tuple(offers))
        return
    raise AssertionError("all is sold")


def end_of_phase(table: Table) -> RoundStarted | GameEnded:
    while (seat := table.state.in_turn()) is not None:
        happened = table.do(seat, Pass())
    event = happened[-1]
    assert isinstance(event, RoundStarted | GameEnded)
    return event


def left(table: Table, bag: int, deck: int) -> None:
    table.state = table.state._replace(bag=table.state.bag[:bag], deck=table.state.deck[:deck])


def reason(table: Table) -> str | None:
    ended = end_of_phase(table)
    return ended.reason if isinstance(ended, GameEnded) else None


def test_R7_1_all_tiles_go_back_and_are_shuffled_anew() -> None:
    table = at_the_exchange()
    before = table.state.tiles
    started = end_of_phase(table)
    assert isinstance(started, RoundStarted)
    assert Counter(started.tiles) == Counter(TILES)
    assert started.tiles != before
    assert started.tiles == tuple(chance.shuffle(table.terms.seed, "tiles/2", TILES))
    assert table.state.lies == ("down",) * 54
    assert all(player.board == () and player.token is None for player in table.state.players)


def test_R7_1_empty_slots_are_filled_market_by_market_art_first() -> None:
    table = at_the_exchange()
    sell(table, art=3, cards=2)
    kept = table.state.offers[1].art[1]
    bag, deck = table.state.bag, table.state.deck
    started = end_of_phase(table)
    assert isinstance(started, RoundStarted)
    assert started.markets[0].art + started.markets[1].art == (*bag[:3], kept)
    assert started.markets[0].cards == ((deck[0],), (deck[1],))
    assert (started.bag, started.deck) == (len(bag) - 3, len(deck) - 2)
    assert (table.state.bag, table.state.deck) == (bag[3:], deck[2:])


def test_R7_2_the_game_goes_on_while_there_is_more_than_the_slots_take() -> None:
    table = at_the_exchange()
    sell(table, art=2, cards=2)
    left(table, bag=3, deck=2)
    assert reason(table) is None


def test_R7_2_b_just_enough_art_ends_the_game() -> None:
    table = at_the_exchange()
    sell(table, art=2)
    left(table, bag=2, deck=20)
    before = table.state.offers
    assert reason(table) == "bag_empty"
    assert table.state.offers == before
    assert len(table.state.bag) == 2


def test_R7_2_b_also_when_the_last_token_was_drawn_before_and_no_slot_is_empty() -> None:
    table = at_the_exchange()
    left(table, bag=0, deck=20)
    assert reason(table) == "bag_empty"


def test_R7_2_c_too_few_cards_end_the_game() -> None:
    table = at_the_exchange()
    sell(table, cards=2)
    left(table, bag=20, deck=1)
    assert reason(table) == "deck_short"


def test_R7_2_c_just_enough_cards_are_enough() -> None:
    table = at_the_exchange()
    sell(table, cards=2)
    left(table, bag=20, deck=2)
    assert reason(table) is None
    assert table.state.deck == ()


def test_R7_2_c_an_empty_deck_is_enough_for_no_empty_slot() -> None:
    table = at_the_exchange()
    left(table, bag=20, deck=0)
    assert reason(table) is None


def test_R7_2_c_a_double_slot_takes_two() -> None:
    table = at_the_exchange(("4B", "1A"))
    sell(table, cards=2)
    left(table, bag=20, deck=2)
    assert reason(table) == "deck_short"


def test_R7_2_art_is_looked_at_before_cards() -> None:
    table = at_the_exchange()
    sell(table, art=1, cards=2)
    left(table, bag=1, deck=0)
    assert reason(table) == "bag_empty"


def test_R7_2_a_an_opened_bag_comes_before_both() -> None:
    table = at_the_exchange()
    table.state = table.state._replace(exchange=table.state.exchange._replace(short=True))
    assert reason(table) == "bag_opened_empty"


def test_R7_2_the_setup_ends_no_game() -> None:
    state = rules.replay(agree(2), rules.setup(agree(2)))
    assert state.phase == "gathering"
    assert rules.result(state) is None


def player(art: tuple[Art, ...], cards: dict[str, int]) -> Player:
    edition = load_edition()
    return Player(art=art, cards=tuple(Held(edition.card[name], filled) for name, filled in cards.items()))


def test_R7_3_silver_one_gold_two_uniques_three() -> None:
    points = score(BOB, player(("chalice", "statuette", "watch"), {"psalter": 0, "tiara": 0}))
    assert (points.silver, points.gold, points.uniques, points.collections, points.total) == (2, 2, 6, 0, 10)


def test_R7_3_a_collection_has_the_number_on_its_highest_filled_slot() -> None:
    worth = [score(BOB, player((), {"manuscript-3": filled})).collections for filled in range(4)]
    assert worth == [2, 4, 7, 11]


def test_R7_3_loot_is_worth_nothing() -> None:
    table = at_the_exchange()
    table.give(ALICE, loot=["gold", "gems", "bag"])
    assert score(ALICE, table.state.players[ALICE]).total == 0


def ended(points: list[int], order: tuple[int, ...], left_at: list[int | None] | None = None) -> State:
    """A game that is over: so many points (silver tokens) for each seat, the last tokens, who left when."""
    state = rules.blank(agree(len(points)))
    when = left_at or [None] * len(points)
    return state._replace(
        phase="over",
        reason="deck_short",
        exchange=state.exchange._replace(order=order),
        players=tuple(Player(art=("chalice",) * points[seat], left_at=when[seat]) for seat in range(len(points))),
        leavers=tuple(
            sorted((seat for seat in range(len(points)) if when[seat] is not None), key=lambda s: when[s] or 0)
        ),
    )


def ranking(state: State) -> tuple[int, ...]:
    result = rules.result(state)
    assert result is not None
    return result.ranking


def test_R7_4_most_points_win() -> None:
    assert ranking(ended([3, 9, 6], (ALICE, BOB, CHARLIE))) == (BOB, CHARLIE, ALICE)


def test_R7_4_a_tie_goes_to_the_lower_last_token() -> None:
    assert ranking(ended([5, 7, 7], (CHARLIE, ALICE, BOB))) == (CHARLIE, BOB, ALICE)
    assert ranking(ended([5, 7, 7], (BOB, ALICE, CHARLIE))) == (BOB, CHARLIE, ALICE)


def test_R7_4_and_so_nobody_shares_a_place() -> None:
    assert ranking(ended([0, 0, 0, 0], (3, 1, 0, 2))) == (3, 1, 0, 2)


def test_R7_5_the_printed_example_is_37_points() -> None:
    example = player(
        ("manuscript", "watch", "painting"),
        {"psalter": 0, "jewellery-1": 1, "manuscript-3": 3, "statuette-2": 1, "showcase-1": 2},
    )
    points = score(ALICE, example)
    assert (points.silver, points.gold, points.uniques, points.collections) == (1, 4, 3, 5 + 11 + 4 + 9)
    assert points.total == 37


def test_R8_8_who_left_ranks_below_who_stayed_the_earlier_the_lower() -> None:
    assert ranking(ended([1, 50, 40, 2], (0, 1, 2, 3), [None, 100, 200, None])) == (3, 0, 2, 1)


def test_R8_8_who_left_at_the_same_moment_ranks_by_points_tokens_seat() -> None:
    assert ranking(ended([0, 4, 5, 9], (0, 1, 2, 3), [None, 100, 100, 90])) == (0, 2, 1, 3)
    assert ranking(ended([0, 5, 5, 5], (0, 3, 2, 1), [None, 100, 100, 100])) == (0, 3, 2, 1)
    assert ranking(ended([0, 5, 5, 5], (), [None, 100, 100, 100])) == (0, 1, 2, 3)


def test_the_end_follows_the_last_pass_at_once() -> None:
    table = at_the_exchange()
    left(table, bag=0, deck=20)
    table.do(ALICE, Pass())
    happened = table.do(BOB, Pass())
    assert kinds(happened) == ["passed", "game_ended"]
    assert happened[0].at == happened[1].at
    assert table.refused(ALICE, Pass()) == "game_over"
    assert rules.wake_at(table.state) is None
    assert rules.legal(table.state, ALICE, table.at) == ()
    assert table.wait(10**9) == ()
