"""What is in the box, and the table before the first round (R1, R2)."""

from collections import Counter
from dataclasses import replace

import pytest

from games import rules
from games.rules import chance, commands
from games.rules.edition import ART_TOKENS, CARDS, TILES, load_edition
from games.rules.events import Escaped, RoundStarted
from games.rules.terms import CHARACTERS, Seat, TermsError
from tests.rules.tabletop import ALICE, BOB, Table, agree


def laid_out(players: int = 2, seed: int = 0, faces: tuple[str, ...] = ()) -> RoundStarted:
    (event,) = rules.setup(agree(players, seed=seed, faces=faces))
    assert isinstance(event, RoundStarted)
    return event


@pytest.mark.parametrize("players", [0, 1, 5])
def test_R1_1_two_to_four_players(players: int) -> None:
    seats = tuple(Seat("human", CHARACTERS[seat % 4]) for seat in range(players))
    with pytest.raises(TermsError) as refused:
        replace(agree(), seats=seats)
    assert refused.value.code == "players"


def test_R1_1_every_player_is_somebody_else() -> None:
    with pytest.raises(TermsError) as refused:
        replace(agree(), seats=(Seat("human", "violet"), Seat("human", "violet")))
    assert refused.value.code == "characters"


def test_R1_2_all_54_tiles_are_there() -> None:
    assert Counter(laid_out().tiles) == Counter(TILES)
    assert len(TILES) == 54


@pytest.mark.parametrize("players", [2, 3, 4])
def test_R1_3_art_cards_and_escape_tokens_are_complete(players: int) -> None:
    event = laid_out(players)
    on_markets = [kind for offer in event.markets for kind in offer.art]
    cards = [card for offer in event.markets for slot in offer.cards for card in slot]
    assert len(on_markets) + event.bag == ART_TOKENS == 60
    assert len(cards) + event.deck == CARDS == 24
    state = rules.replay(agree(players), [event])
    assert Counter(kind for kind in on_markets) + Counter(state.bag) == Counter(load_edition().art_tokens)
    assert set(cards) | set(state.deck) == set(load_edition().card)


def test_R1_4_another_edition_is_played_without_a_change_of_code() -> None:
    house = load_edition()
    other = replace(house, name="house-9", markets=tuple(replace(market, art=1) for market in house.markets))
    (event,) = rules.setup(replace(agree(), edition=other))
    assert isinstance(event, RoundStarted)
    assert [len(offer.art) for offer in event.markets] == [1, 1]


def test_R2_1_all_tiles_lie_face_down_each_on_its_spot() -> None:
    state = rules.replay(agree(), rules.setup(agree()))
    assert state.lies == ("down",) * 54
    assert laid_out(seed=1).tiles != laid_out(seed=2).tiles


@pytest.mark.parametrize("players", [2, 3, 4])
def test_R2_1_there_are_as_many_escape_tokens_as_players(players: int) -> None:
    table = Table(agree(players)).search()
    happened = table.wait(table.terms.limits.search_ms)
    tokens = [event.token for event in happened if isinstance(event, Escaped)]
    assert tokens == list(range(1, players + 1))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_R2_2_markets_are_drawn_from_the_seed(players: int) -> None:
    drawn = set()
    for seed in range(40):
        terms = agree(players, seed=seed)
        faces = [offer.face for offer in laid_out(players, seed).markets]
        assert faces == chance.draw_markets(terms.seed, players)
        assert len({face[0] for face in faces}) == players
        drawn |= set(faces)
    assert len(drawn) == 8


def test_R2_2_the_owner_may_choose_them() -> None:
    assert [offer.face for offer in laid_out(2, faces=("4B", "2A")).markets] == ["4B", "2A"]
    assert agree(2, faces=("4B", "2A")).markets_by == "owner"
    assert agree(2).markets_by == "draw"


@pytest.mark.parametrize("faces", [("4B",), ("4A", "4B"), ("4A", "5A"), ("1A", "2A", "3A")])
def test_R2_2_but_only_faces_of_different_boards_one_for_each_player(faces: tuple[str, ...]) -> None:
    with pytest.raises(TermsError) as refused:
        agree(2, faces=faces)
    assert refused.value.code == "faces"


def test_R2_3_art_is_dealt_market_by_market_from_the_front_of_the_bag() -> None:
    terms = agree(2, faces=("4A", "1A"))
    bag = chance.shuffle(terms.seed, "bag", terms.edition.art_tokens)
    event = laid_out(2, faces=("4A", "1A"))
    assert [kind for offer in event.markets for kind in offer.art] == bag[:6]
    assert rules.replay(terms, [event]).bag == tuple(bag[6:])


def test_R2_4_cards_are_dealt_open_and_a_double_slot_takes_two() -> None:
    terms = agree(2, faces=("4A", "1A"))
    deck = chance.shuffle(terms.seed, "deck", [card.id for card in terms.edition.cards])
    event = laid_out(2, faces=("4A", "1A"))
    assert [[len(slot) for slot in offer.cards] for offer in event.markets] == [[1, 1, 2], [1, 1]]
    assert [card for offer in event.markets for slot in offer.cards for card in slot] == deck[:6]
    assert rules.replay(terms, [event]).deck == tuple(deck[6:])


def test_R2_5_loot_may_buy_nothing_all_game_long() -> None:
    table = Table(agree(2, faces=("1A", "3A")))
    table.exchange(["gold", "cash"], [])
    assert not [one for one in rules.legal(table.state, ALICE, table.at) if isinstance(one, commands.Buy)]
    assert table.state.in_turn() == ALICE
    assert rules.decide(table.state, ALICE, commands.Leave(), table.at)
    assert table.refused(BOB, commands.Pass()) == "not_your_turn"


def test_the_first_event_is_number_one_at_zero() -> None:
    assert (laid_out().seq, laid_out().at, laid_out().round) == (1, 0, 1)
