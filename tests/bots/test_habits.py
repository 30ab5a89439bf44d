"""What each strength makes of a situation that a player would recognise."""

from collections.abc import Sequence
from random import Random

import pytest

from games import rules
from games.bots import STRENGTHS, Bot, Strength
from games.rules.commands import Buy, Command, Escape, Lift, OpenBag, Pass, Place, Ready, Return, Stash
from games.rules.edition import Art
from games.rules.state import Offer
from games.rules.terms import Rulebook
from tests.bots.seats import bot_of
from tests.rules.tabletop import ALICE, BOB, Table, agree

CLEVER: tuple[Strength, ...] = ("burglar", "master")


def choice_of(table: Table, seat: int, strength: Strength, chance: str = "") -> Command | None:
    """What a bot chooses that sat down just now."""
    bot = Bot(strength, seat, table.terms.edition, Random(chance))
    bot.see(rules.sight(table.state, seat))
    choice = bot.choose()
    return choice.command if choice else None


def jewels_for(*art: Art, cards: Sequence[str] = (), rulebook: Rulebook = "fr") -> Table:
    """Two markets, of which one sells just this for jewels and the other has nothing left."""
    table = Table(agree(2, rulebook, faces=("1A", "3A")))
    left, empty = (
        Offer(offer.face, (None,) * len(offer.art), ((),) * len(offer.cards)) for offer in table.state.offers
    )
    left = left._replace(
        art=(*art, *left.art[len(art) :]),
        cards=(*((card,) for card in cards), *left.cards[len(cards) :]),
    )
    table.state = table.state._replace(offers=(left, empty))
    return table


@pytest.mark.parametrize("strength", STRENGTHS)
def test_everybody_says_once_that_they_are_ready(strength: Strength) -> None:
    table = Table(agree(2))
    assert choice_of(table, ALICE, strength) == Ready(True)
    table.do(ALICE, Ready(True))
    assert choice_of(table, ALICE, strength) is None


@pytest.mark.parametrize("strength", STRENGTHS)
def test_in_a_countdown_hands_rest(strength: Strength) -> None:
    table = Table(agree(2))
    for seat in (ALICE, BOB):
        table.do(seat, Ready(True))
    assert choice_of(table, ALICE, strength) is None


@pytest.mark.parametrize("strength", STRENGTHS)
def test_whoever_has_escaped_watches(strength: Strength) -> None:
    table = Table(agree(3)).search()
    table.give(ALICE, loot=("cash", "cash", "jewels", "jewels", "bag", "bag"))
    table.do(ALICE, Escape())
    assert choice_of(table, ALICE, strength) is None


@pytest.mark.parametrize("strength", STRENGTHS)
def test_with_six_good_tiles_everybody_runs(strength: Strength) -> None:
    table = Table(agree(2, faces=("1A", "2A"))).search()
    table.give(ALICE, loot=("cash", "cash", "jewels", "jewels", "cash", "bag"))
    assert choice_of(table, ALICE, strength) == Escape()


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_second_key_goes_back(strength: Strength) -> None:
    table = Table(agree(2)).search()
    table.give(ALICE, loot=("iron_key",))
    tile = table.find("iron_key")
    table.lift(ALICE, tile)
    choice = choice_of(table, ALICE, strength)
    assert isinstance(choice, Return)
    assert choice.tile == tile


@pytest.mark.parametrize("strength", CLEVER)
def test_a_tile_that_was_looked_at_and_is_good_is_found_again(strength: Strength) -> None:
    table = Table(agree(2, faces=("1A", "2A"))).search()
    good = table.find("jewels")
    table.lift(ALICE, good)
    table.put_back(ALICE, good)
    table.give(ALICE, loot=("cash", "cash", "drawer", "bag", "bag"))
    table.give(BOB, loot=("cash", "cash", "bag", "drawer", "drawer"))
    bot = bot_of(table.terms, table.log, ALICE, strength)
    remembered = bot.memory.looked
    bot.see(rules.sight(table.state, ALICE))
    bot.memory.looked = remembered
    choice = bot.choose()
    assert choice is not None
    assert choice.command == Lift(good)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_who_is_not_in_turn_waits(strength: Strength) -> None:
    table = jewels_for("chalice", "watch").exchange(["jewels"], ["jewels"])
    assert choice_of(table, BOB, strength) is None


@pytest.mark.parametrize("strength", CLEVER)
def test_in_the_last_exchange_what_completes_a_collection_is_bought(strength: Strength) -> None:
    """4 points for the watch, 2 for a collection that nothing will complete any more."""
    table = jewels_for("manuscript", "watch", cards=["chalice-3"])
    table.give(ALICE, art=["watch"], cards=["manuscript-1", "watch-2"])
    table.exchange(["jewels"], []).do(ALICE, Place("watch", "watch-2"))
    table.state = table.state._replace(bag=table.state.bag[:1])
    bought = [choice_of(table, ALICE, strength, str(chance)) for chance in range(20)]
    assert bought.count(Buy(0, (table.board(ALICE, "jewels"),), art=1)) > 15


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_unique_piece_is_better_than_art_that_nothing_waits_for(strength: Strength) -> None:
    table = jewels_for("manuscript", cards=["psalter"]).exchange(["jewels"], [])
    bought = [choice_of(table, ALICE, strength, str(chance)) for chance in range(20)]
    unique = Buy(0, (table.board(ALICE, "jewels"),), cards=0)
    assert bought.count(unique) > 15


def test_master_takes_what_the_other_needs_where_it_is_all_the_same() -> None:
    for kinds in (("manuscript", "chalice"), ("chalice", "manuscript")):
        table = jewels_for(*kinds)
        table.give(BOB, cards=["chalice-1"])
        table.exchange(["jewels"], ["jewels"])
        wanted = Buy(0, (table.board(ALICE, "jewels"),), art=kinds.index("chalice"))
        assert choice_of(table, ALICE, "master") == wanted


@pytest.mark.parametrize("strength", STRENGTHS)
def test_art_is_placed_where_it_makes_the_most_points(strength: Strength) -> None:
    """4 + 2 and 2 + 7: two manuscripts belong on the same card."""
    table = jewels_for("watch")
    table.give(ALICE, art=("manuscript", "manuscript"), cards=("manuscript-1", "manuscript-2"))
    table.exchange(["jewels"], [])
    for _ in range(2):
        placed = choice_of(table, ALICE, strength)
        assert placed == Place("manuscript", "manuscript-2")
        table.do(ALICE, placed)
    assert isinstance(choice_of(table, ALICE, strength), Buy)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_R6_6_art_is_placed_by_who_has_nothing_to_trade(strength: Strength) -> None:
    table = jewels_for("watch")
    table.give(ALICE, art=("chalice",), cards=("chalice-1",))
    table.exchange(["drawer"], ["jewels"])
    assert choice_of(table, ALICE, strength) == Place("chalice", "chalice-1")


@pytest.mark.parametrize("strength", STRENGTHS)
def test_R8_2a_in_a_closing_tour_nobody_tries_to_trade(strength: Strength) -> None:
    table = jewels_for("watch", "watch", rulebook="es")
    table.give(ALICE, art=("chalice", "chalice"), cards=("chalice-2",))
    table.exchange(["jewels"], [])
    table.state = table.state._replace(exchange=table.state.exchange._replace(tour=3))
    placed = choice_of(table, ALICE, strength)
    assert placed == Place("chalice", "chalice-2")
    table.give(ALICE, art=("manuscript",), cards=("manuscript-1",))
    table.do(ALICE, placed)
    assert isinstance(choice_of(table, ALICE, strength), Place)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_bag_is_opened_where_nothing_else_can_be_had(strength: Strength) -> None:
    table = jewels_for("watch").exchange(["bag", "drawer"], [])
    assert choice_of(table, ALICE, strength) == OpenBag(table.board(ALICE, "bag"))


@pytest.mark.parametrize("strength", STRENGTHS)
def test_nobody_ends_the_game_by_an_empty_bag(strength: Strength) -> None:
    table = jewels_for("watch")
    table.state = table.state._replace(bag=())
    table.exchange(["bag"], [])
    assert choice_of(table, ALICE, strength) == Pass()


def test_burglar_keeps_the_key_that_its_plan_needs() -> None:
    """With gems and gold only on sale, what lies in the garage buys nothing."""
    table = Table(agree(2, faces=("3B", "4B"))).search()
    tile = table.find("iron_key")
    table.lift(ALICE, tile)
    assert choice_of(table, ALICE, "burglar") == Stash(tile)
