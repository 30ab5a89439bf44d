"""What loot is worth before it is spent, and how much of that hangs on the order of the exchange."""

from games.bots.prospects import BUYING, EMPTY, PURSE, Prospects, Purse
from games.bots.worth import Collector
from games.rules.edition import ART
from tests.bots.seats import memory_of
from tests.rules.tabletop import ALICE, Table, agree


def prospects(*faces: str) -> Prospects:
    table = Table(agree(2, faces=faces)).search()
    memory = memory_of(table.terms, table.log, ALICE)
    return Prospects(memory, Collector.of([], {}, [0.3] * len(ART), memory.edition))


def purse(*loot: str) -> Purse:
    return tuple(loot.count(name) for name in BUYING)


def test_every_tile_that_pays_a_price_adds_something_and_any_other_nothing() -> None:
    market = prospects("1A", "4B")
    alone = market.crowd(0)
    assert market.more(EMPTY, "jewels", alone) > 0
    assert market.more(EMPTY, "gold", alone) > 0
    assert market.more(EMPTY, "cash", alone) == 0
    assert market.more(EMPTY, "drawer", alone) == 0


def test_half_a_price_is_worth_less_than_a_whole_one() -> None:
    market = prospects("3A", "4A")
    alone = market.crowd(0)
    half, whole = market.haul(purse("gold"), alone), market.haul(purse("gold", "cash"), alone)
    assert 0 < half < whole


def test_what_is_lost_by_a_tile_is_what_it_added() -> None:
    market = prospects("1A", "2A")
    crowd = market.crowd(1)
    one, two = purse("jewels"), purse("jewels", "jewels")
    assert set(PURSE) == set(BUYING)
    assert market.less(two, "jewels", crowd) == market.more(one, "jewels", crowd)


def test_the_order_of_the_exchange_matters_only_where_others_want_the_same() -> None:
    market = prospects("1A", "4B")
    jewels = purse("jewels")
    assert market.stakes(jewels, market.crowd(0)) == 0
    assert market.stakes(EMPTY, market.crowd(3)) == 0
    assert market.stakes(jewels, market.crowd(3)) > 0


def test_the_deeper_a_plan_goes_the_more_its_keys_cost_where_there_is_nothing_to_buy_with_what_lies_there() -> None:
    market = prospects("1A", "2A")
    assert market.plan_worth("garage", 2) > market.plan_worth("safe", 2)
