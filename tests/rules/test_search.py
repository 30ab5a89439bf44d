"""The search and its end (R3, R4)."""

import pytest

from games import rules
from games.rules.commands import Escape, Leave, Lift, Pass, Ready, Return, Stash
from games.rules.edition import SLOTS, Loot
from games.rules.events import Escaped, ExchangeStarted, Returned
from tests.rules.tabletop import ALICE, BOB, CHARLIE, Table, agree, kinds, only

SIX: tuple[Loot, ...] = ("jewels", "jewels", "cash", "cash", "drawer", "drawer")


@pytest.fixture
def table() -> Table:
    return Table(agree(2)).search()


@pytest.fixture
def three() -> Table:
    return Table(agree(3)).search()


def test_R3_1_a_hand_holds_one_tile(table: Table) -> None:
    table.lift(ALICE, table.tile_of("garage"))
    assert table.refused(ALICE, Lift(table.tile_of("garage"))) == "hand_full"


def test_R3_1_what_one_holds_nobody_else_can_lift(table: Table) -> None:
    tile = table.tile_of("garage", "cash")
    table.lift(ALICE, tile)
    assert table.refused(BOB, Lift(tile)) == "tile_gone"
    assert table.refused(ALICE, Lift(tile)) == "hand_full"
    table.stash(ALICE, tile)
    assert table.refused(BOB, Lift(tile)) == "tile_gone"
    assert table.refused(ALICE, Lift(tile)) == "tile_gone"


def test_R3_1_all_may_search_at_once(table: Table) -> None:
    first, second = table.find("cash"), table.find("jewels")
    table.lift(ALICE, first)
    table.lift(BOB, second)
    assert [player.hand for player in table.state.players] == [first, second]


def test_R3_2_from_the_hand_to_the_board(table: Table) -> None:
    (tile,) = table.take(ALICE, "cash")
    assert table.state.players[ALICE].board == (tile,)
    assert table.state.players[ALICE].hand is None
    assert table.lies(tile) == "board"


@pytest.mark.parametrize("face", ["up", "down"])
def test_R3_2_or_back_among_the_tiles(table: Table, face: str) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile, "up" if face == "up" else "down")
    assert table.lies(tile) == face
    table.lift(BOB, tile)
    assert table.lies(tile) == "hand"


def test_R3_2_only_what_is_in_the_hand_can_be_stashed(table: Table) -> None:
    first, second = table.find("cash"), table.find("jewels")
    assert table.refused(ALICE, Stash(first)) == "not_in_hand"
    table.lift(ALICE, first)
    table.wait(500)
    assert table.refused(ALICE, Stash(second)) == "not_in_hand"
    assert table.refused(BOB, Stash(first)) == "not_in_hand"
    assert table.refused(BOB, Return(first, "down")) == "not_yours"


def test_R3_3_six_tiles_fill_a_board(table: Table) -> None:
    table.take(ALICE, *SIX)
    assert len(table.state.players[ALICE].board) == SLOTS == 6
    seventh = table.find("cash")
    table.lift(ALICE, seventh)
    table.wait(500)
    assert table.refused(ALICE, Stash(seventh)) == "board_full"
    table.put_back(ALICE, seventh)


def test_R3_3_what_goes_back_makes_room(table: Table) -> None:
    tiles = table.take(ALICE, *SIX)
    table.put_back(ALICE, tiles[0])
    table.take(ALICE, "jewels")
    assert len(table.state.players[ALICE].board) == 6


@pytest.mark.parametrize(("place", "key"), [("garage", "iron_key"), ("office", "brass_key")])
def test_R3_3_one_key_of_a_kind(table: Table, place: str, key: Loot) -> None:
    table.take(ALICE, *(("iron_key",) if place == "garage" else ("iron_key", "brass_key")))
    extra = table.tile_of(place, key)
    table.lift(ALICE, extra)
    table.wait(500)
    assert table.refused(ALICE, Stash(extra)) == "second_key"
    table.put_back(ALICE, extra)


def test_R3_3_other_loot_may_be_kept_several_times(table: Table) -> None:
    table.take(ALICE, "cash", "cash", "cash", "cash")


def test_R3_4_the_office_wants_an_iron_key_on_the_board(table: Table) -> None:
    office = table.tile_of("office")
    assert table.refused(ALICE, Lift(office)) == "needs_key"
    key = table.find("iron_key")
    table.lift(ALICE, key)
    assert table.refused(ALICE, Lift(office)) == "hand_full"
    table.stash(ALICE, key)
    table.lift(ALICE, office)
    assert table.refused(BOB, Lift(table.tile_of("office"))) == "needs_key"


def test_R3_4_the_safe_wants_a_brass_key_on_the_board(table: Table) -> None:
    safe = table.tile_of("safe")
    table.take(ALICE, "iron_key")
    assert table.refused(ALICE, Lift(safe)) == "needs_key"
    table.take(ALICE, "brass_key")
    table.lift(ALICE, safe)


def test_R3_4_face_up_tiles_are_no_exception(table: Table) -> None:
    table.take(ALICE, "iron_key")
    office = table.tile_of("office", "gems")
    table.lift(ALICE, office)
    table.put_back(ALICE, office, "up")
    assert table.refused(BOB, Lift(office)) == "needs_key"


def test_R3_5_tiles_go_back_from_the_board_face_down_or_up(table: Table) -> None:
    first, second = table.take(ALICE, "cash", "jewels")
    down = only(table.put_back(ALICE, first, "down"), Returned)
    up = only(table.put_back(ALICE, second, "up"), Returned)
    assert (down.source, down.face, up.source, up.face) == ("board", "down", "board", "up")
    assert (table.lies(first), table.lies(second)) == ("down", "up")
    assert table.state.players[ALICE].board == ()


def test_R3_5_at_once_but_with_an_empty_hand(table: Table) -> None:
    (kept,) = table.take(ALICE, "cash")
    table.lift(ALICE, table.find("jewels"))
    assert table.refused(ALICE, Return(kept, "down")) == "hand_full"


def test_R3_5_a_stashed_key_stays(table: Table) -> None:
    (key,) = table.take(ALICE, "iron_key")
    assert table.refused(ALICE, Return(key, "down")) == "key_stays"
    second = table.find("iron_key")
    table.lift(ALICE, second)
    table.put_back(ALICE, second, "up")


def test_R3_6_a_tile_goes_back_to_its_own_spot(table: Table) -> None:
    before = table.state
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile)
    assert (table.state.tiles, table.state.lies) == (before.tiles, before.lies)


def test_R3_7_a_drawer_takes_a_slot(table: Table) -> None:
    table.take(ALICE, "drawer", "drawer")
    assert len(table.state.players[ALICE].board) == 2


def test_R4_1_six_tiles_and_an_empty_hand_escape(three: Table) -> None:
    assert three.refused(ALICE, Escape()) == "board_not_full"
    three.take(ALICE, *SIX)
    three.lift(ALICE, three.find("cash"))
    assert three.refused(ALICE, Escape()) == "hand_full"
    hand = three.state.players[ALICE].hand
    assert hand is not None
    three.put_back(ALICE, hand)
    escaped = only(three.do(ALICE, Escape()), Escaped)
    assert (escaped.token, escaped.by) == (1, "player")


def test_R4_1_after_the_escape_no_command_counts(three: Table) -> None:
    tiles = three.take(ALICE, *SIX)
    three.do(ALICE, Escape())
    for command in (Lift(three.tile_of("garage")), Return(tiles[0], "down"), Escape(), Stash(tiles[0])):
        assert three.refused(ALICE, command) == "you_stopped"
    assert rules.legal(three.state, ALICE, three.at) == (Leave(),)


def test_R4_1_tokens_are_taken_from_the_lowest() -> None:
    table = Table(agree(3)).search()
    table.take(CHARLIE, *SIX)
    table.do(CHARLIE, Escape())
    table.take(BOB, "cash", "cash", "jewels", "jewels", "bag", "bag")
    assert only(table.do(BOB, Escape())[:1], Escaped).token == 2


def test_R4_2_the_last_player_stops_at_once(three: Table) -> None:
    three.take(ALICE, *SIX)
    three.take(BOB, "cash", "cash", "jewels", "jewels", "bag", "bag")
    three.take(CHARLIE, "iron_key")
    three.do(ALICE, Escape())
    happened = three.do(BOB, Escape())
    assert kinds(happened)[:3] == ["escaped", "escaped", "exchange_started"]
    last = [event for event in happened if isinstance(event, Escaped)][1]
    assert (last.seat, last.token, last.by, last.at) == (CHARLIE, 3, "last", three.at)


def test_R4_2_the_last_hand_goes_back_face_down_before_the_token(table: Table) -> None:
    tile = table.find("bag")
    table.take(ALICE, *SIX)
    table.lift(BOB, tile)
    happened = table.do(ALICE, Escape())
    assert kinds(happened)[:4] == ["escaped", "returned", "escaped", "exchange_started"]
    back = only(happened, Returned)
    assert (back.seat, back.tile, back.face, back.source, back.by) == (BOB, tile, "down", "hand", "end")
    assert len({event.at for event in happened}) == 1
    assert table.lies(tile) == "down"


def test_R4_2_the_order_of_the_exchange_is_that_of_the_tokens() -> None:
    table = Table(agree(3)).search()
    table.take(CHARLIE, *SIX)
    table.take(ALICE, "cash", "cash", "jewels", "jewels", "bag", "bag")
    table.do(CHARLIE, Escape())
    assert only(table.do(ALICE, Escape()), ExchangeStarted).order == (CHARLIE, ALICE, BOB)


def test_R4_3_two_who_want_the_same_tile_are_not_served_at_once(table: Table) -> None:
    tile = table.tile_of("garage")
    table.lift(ALICE, tile)
    assert table.refused(BOB, Lift(tile)) == "tile_gone"
    with pytest.raises(ValueError, match="time never falls"):
        rules.decide(table.state, BOB, Lift(table.tile_of("garage")), table.at - 1)


def test_commands_of_the_search_count_in_the_search_only() -> None:
    table = Table(agree(2))
    tile = table.tile_of("garage")
    for command in (Lift(tile), Stash(tile), Return(tile, "down"), Escape(), Pass()):
        assert table.refused(ALICE, command) == "not_now"
    table.search()
    assert table.refused(ALICE, Ready(True)) == "not_now"
    table.wait(table.terms.limits.search_ms)
    assert table.refused(ALICE, Lift(tile)) == "not_now"
