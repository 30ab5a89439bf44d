"""Who sees what (R6.7)."""

import json

import pytest

from games import rules
from games.rules.commands import Buy, Lift, OpenBag, Return, Stash
from games.rules.sight import sight, sight_of_event
from tests.rules.tabletop import ALICE, BOB, Table, agree

FACES = ("1A", "2A")
EVERYBODY = (ALICE, BOB, None)


def tiles(table: Table, seat: int | None) -> list[dict[str, object]]:
    seen = sight(table.state, seat)["tiles"]
    assert isinstance(seen, list)
    return seen


def players(table: Table, seat: int | None) -> list[dict[str, object]]:
    seen = sight(table.state, seat)["players"]
    assert isinstance(seen, list)
    return seen


def seen_by(table: Table, seat: int | None) -> dict[str, object]:
    """The last event, as this viewer sees it."""
    return sight_of_event(table.state, table.log[-1], seat)


@pytest.fixture
def table() -> Table:
    return Table(agree(2, faces=FACES)).search()


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_face_down_tiles_show_their_place_to_all_and_their_loot_to_nobody(table: Table, seat: int | None) -> None:
    assert tiles(table, seat) == [{"place": tile.place, "lies": "down"} for tile in table.state.tiles]


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_face_up_tiles_show_their_loot_to_all(table: Table, seat: int | None) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile, "up")
    assert seen_by(table, seat)["loot"] == "cash"
    assert tiles(table, seat)[tile] == {"place": "garage", "lies": "up", "loot": "cash"}


def test_R6_7_a_tile_in_a_hand_shows_its_loot_to_that_player_only(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    assert tiles(table, ALICE)[tile] == {"place": "garage", "lies": "hand", "loot": "cash"}
    assert seen_by(table, ALICE)["loot"] == "cash"
    for seat in (BOB, None):
        assert tiles(table, seat)[tile] == {"place": "garage", "lies": "hand"}
        assert players(table, seat)[ALICE]["hand"] == tile
        assert "loot" not in seen_by(table, seat)


def test_R6_7_a_face_up_tile_that_is_lifted_is_hidden_again(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile, "up")
    table.lift(ALICE, tile)
    assert "loot" not in tiles(table, BOB)[tile]


def test_R6_7_who_put_a_tile_back_face_down_is_not_told_again(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile, "down")
    for seat in EVERYBODY:
        assert "loot" not in tiles(table, seat)[tile]
        assert "loot" not in seen_by(table, seat)


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_boards_are_open(table: Table, seat: int | None) -> None:
    (tile,) = table.take(ALICE, "cash")
    assert seen_by(table, seat)["loot"] == "cash"
    assert tiles(table, seat)[tile] == {"place": "garage", "lies": "board", "loot": "cash"}
    assert players(table, seat)[ALICE]["board"] == [tile]


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_art_and_open_collections_are_open(table: Table, seat: int | None) -> None:
    table.give(ALICE, art=["watch"], cards=["watch-2"])
    assert players(table, seat)[ALICE]["art"] == ["watch"]
    assert players(table, seat)[ALICE]["collections"] == [{"card": "watch-2", "filled": 0}]


def test_R6_7_of_cards_that_lie_face_down_others_see_the_number(table: Table) -> None:
    table.give(ALICE, cards=["psalter", "watch-2", "tiara"])
    assert players(table, ALICE)[ALICE]["hidden"] == ["psalter", "tiara"]
    for seat in (BOB, None):
        assert players(table, seat)[ALICE]["face_down"] == 2
        assert "hidden" not in players(table, seat)[ALICE]


def test_R6_7_points_are_ones_own(table: Table) -> None:
    table.give(ALICE, cards=["psalter"])
    points = players(table, ALICE)[ALICE]["points"]
    assert isinstance(points, dict)
    assert points["total"] == 3
    assert "points" not in players(table, ALICE)[BOB]
    assert all("points" not in player for player in players(table, None))


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_what_is_paid_bought_and_drawn_is_seen_by_all(seat: int | None) -> None:
    table = Table(agree(2, faces=FACES)).exchange(["jewels", "bag"], ["cash", "cash"])
    tile, first = table.board(ALICE, "jewels"), table.state.offers[0].art[0]
    (bought,) = table.do(ALICE, Buy(0, (tile,), art=0))
    seen = sight_of_event(table.state, bought, seat)
    assert (seen["paid"], seen["loot"], seen["got"], seen["art"]) == ([tile], ["jewels"], [first], 0)
    table.do(BOB, Buy(1, (table.board(BOB, "cash"),), cards=0))
    drawn = table.state.bag[0]
    table.do(ALICE, OpenBag(table.board(ALICE, "bag")))
    assert seen_by(table, seat)["got"] == drawn


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_of_bag_and_deck_all_see_how_many_and_nobody_which(table: Table, seat: int | None) -> None:
    seen = sight(table.state, seat)
    assert (seen["bag"], seen["deck"]) == (len(table.state.bag), len(table.state.deck))
    hidden = json.dumps(sight(table.state._replace(bag=table.state.bag[::-1], deck=table.state.deck[::-1]), seat))
    assert json.dumps(seen) == hidden


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_a_round_starts_with_places_only(table: Table, seat: int | None) -> None:
    seen = sight_of_event(table.state, table.log[0], seat)
    assert set(seen) == {"seq", "at", "type", "round", "places", "markets", "bag", "deck"}
    assert seen["places"] == [tile.place for tile in table.state.tiles]


@pytest.mark.parametrize("seat", EVERYBODY)
def test_R6_7_after_the_game_everybody_sees_everything(table: Table, seat: int | None) -> None:
    table.give(ALICE, cards=["psalter"])
    assert "reveal" not in sight(table.state, seat)
    table.happen(rules.void(table.state, "staff", table.at))
    reveal = sight(table.state, seat)["reveal"]
    assert isinstance(reveal, dict)
    assert reveal == seen_by(table, seat)["reveal"]
    assert reveal["loot"] == [tile.loot for tile in table.state.tiles]
    assert reveal["hidden"] == [["psalter"], []]
    assert reveal["scores"][ALICE]["total"] == 3
    assert reveal["bag"] == list(table.state.bag)
    assert reveal["deck"] == list(table.state.deck)
    assert reveal["server_seed"] == table.terms.server_seed.hex()
    assert reveal["nonces"] == [one.nonce.hex() for one in table.terms.seats]


@pytest.mark.parametrize("seat", EVERYBODY)
def test_a_sight_is_plain_json(table: Table, seat: int | None) -> None:
    table.take(ALICE, "cash", "jewels")
    seen = sight(table.state, seat)
    assert json.loads(json.dumps(seen)) == seen
    for event in table.log:
        part = sight_of_event(table.state, event, seat)
        assert json.loads(json.dumps(part)) == part


def test_the_log_of_a_round_reads_the_same_later(table: Table) -> None:
    """A page that is loaded again asks with a later state of the same round (R6.7)."""
    seen = []
    tile = table.find("cash")
    for command in (Lift(tile), Stash(tile), Return(tile, "up"), Lift(tile), Return(tile, "down")):
        table.wait(500)
        table.do(ALICE, command)
        seen.append([seen_by(table, seat) for seat in EVERYBODY])
    later = [[sight_of_event(table.state, event, seat) for seat in EVERYBODY] for event in table.log[-5:]]
    assert seen == later
