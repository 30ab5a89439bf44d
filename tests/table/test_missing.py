"""Who does not come any more, who comes back in time, and who comes back too late (R8.8)."""

from collections.abc import Sequence

import pytest

from games import rules
from games.rules import terms
from games.table import Table
from games.tables import Tables
from tests.table.conftest import QUICK, NewMatch, NewTables, skip
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]


async def pass_the_round(tables: Tables, table: Table, present: Sequence[InnerPage]) -> None:
    """Of a whole round, in which these say that they are there and nobody does anything else, the clock does it all."""
    assert table.state is not None
    number = table.state.round
    for page in present:
        assert (await page.do("ready", on=True))["type"] == "events"
    while table.state.round == number and not table.over:
        due = rules.wake_at(table.state)
        assert due is not None
        skip(tables, max(0, due - table.at()))
        table.wake()
        await table.settle()


@pytest.mark.parametrize(("pace", "rounds"), [("live", 2), ("relaxed", 1)])
async def test_who_misses_too_many_rounds_has_left_and_comes_back_to_watch(
    new_match: NewMatch, new_tables: NewTables, pace: terms.Pace, rounds: int
) -> None:
    limits = QUICK if pace == "live" else terms.DEFAULT_LIMITS["relaxed"]
    match, tables = await new_match(3, limits, pace=pace), await new_tables()
    alice, bob, carol = await match.begun_inside(tables)
    table = await tables.table(match.game.code)
    assert table is not None
    bob.leave()
    for missed in range(rounds):
        assert table.state is not None
        assert (table.state.round, table.state.leavers) == (missed + 1, ())
        await pass_the_round(tables, table, [alice, carol])
    for page in (alice, carol, await bob.join(tables, match.game, bob.head)):
        assert [player["left"] for player in page.sight["players"]] == [False, True, False]
    assert (await bob.do("ready", on=True))["code"] == "you_left"
    # The others play on, until there is nobody to play with.
    await pass_the_round(tables, table, [alice, carol])
    for _ in range(rounds):
        assert not table.over
        await pass_the_round(tables, table, [alice])
    assert (alice.sight["reveal"]["reason"], alice.sight["reveal"]["ranking"]) == ("abandoned", [0, 2, 1])
    await match.all_see_the_log([alice, bob, carol])
    assert await match.faults() == []


async def test_who_comes_back_in_time_plays_on(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.begun_inside(tables)
    table = await tables.table(match.game.code)
    assert table is not None
    for _ in range(2):
        bob.leave()
        await pass_the_round(tables, table, [alice])
        await bob.join(tables, match.game, bob.head)
        await pass_the_round(tables, table, [alice, bob])
    assert [player["left"] for player in bob.sight["players"]] == [False, False]
    assert not table.over
    await match.all_see_the_log([alice, bob])
    assert await match.faults() == []
