"""One order for everything that arrives at a table: that of arrival (R4.3)."""

import asyncio

import pytest

from games.rules.commands import Lift
from games.table import Table
from games.tables import Tables
from tests.table.conftest import Match, NewMatch, NewTables, garage

pytestmark = [pytest.mark.both_databases]


async def table_of(tables: Tables, match: Match) -> Table:
    table = await tables.table(match.game.code)
    assert table is not None
    return table


async def test_a_seats_second_command_has_its_turn_before_what_others_asked_for_later(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    first, second, *_ = garage(alice)
    await alice.do("lift", tile=first)
    asked = [
        alice.ask_for("stash", tile=first),
        alice.ask_for("lift", tile=second),
        bob.ask_for("lift", tile=second),
    ]
    answers = await asyncio.gather(*asked)
    assert [answer.get("code") for answer in answers] == [None, None, "tile_gone"]
    assert alice.sight["players"][0]["hand"] == second
    await match.all_see_the_log([alice, bob])
    assert await match.faults() == []


async def test_a_bots_command_is_not_overtaken_by_pages_that_were_later(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(3), await new_tables()
    alice, bob, carol = await match.inside(tables)
    table = await table_of(tables, match)
    first, second, *_ = garage(alice)
    done = alice.ask_for("lift", tile=first)
    # As the hand of a bot in bob's seat would do it.
    table._move_bot(1, Lift(second))
    refused = carol.ask_for("lift", tile=second)
    assert [(await answer).get("code") for answer in (done, refused)] == [None, "tile_gone"]
    assert carol.sight["players"][1]["hand"] == second
    await match.all_see_the_log([alice, bob, carol])


async def test_commands_of_many_seats_that_wait_together_are_stored_together(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(4), await new_tables()
    pages = await match.inside(tables)
    before = len(pages[0].frames)
    tiles = garage(pages[0])
    await asyncio.gather(*(page.ask_for("lift", tile=tile) for page, tile in zip(pages, tiles, strict=False)))
    assert len(pages[0].frames) == before + 1
