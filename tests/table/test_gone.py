"""Pages that went with the process they talked to: nobody tells of them, and still they are missed (R8.7)."""

import asyncio

import pytest

from games import tables as tables_module
from games.table import Table
from games.tables import UNHEARD_SECONDS, Tables
from tests.table.conftest import Match, NewMatch, NewTables, eventually
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]


async def table_of(tables: Tables, match: Match) -> Table:
    table = await tables.table(match.game.code)
    assert table is not None
    return table


def is_ready(seat: int, page: InnerPage) -> bool:
    return bool(page.sight["players"][seat]["ready"])


async def die(tables: Tables) -> None:
    """This process looks after nothing any more and tells nobody."""
    assert tables._looking is not None
    tables._looking.cancel()
    tables.heartbeat.fall_silent()
    await tables.doorbell.close()


async def test_a_ready_player_whose_process_died_is_missed_and_no_search_starts_without_them(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_SECONDS", 0.05)
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.begun_inside(one, other)
    # For as long as her process lives she is announced, and stays ready.
    await alice.do("ready", on=True)
    await bob.until(lambda page: is_ready(0, page))
    await die(one)
    monkeypatch.setattr(tables_module, "UNHEARD_SECONDS", 0.5)
    await bob.until(lambda page: not is_ready(0, page))
    await bob.do("ready", on=True)
    assert bob.sight["phase"] == "gathering"
    await match.all_see_the_log([bob])


async def test_who_was_heard_of_a_moment_ago_is_not_missed_and_who_has_a_page_here_never(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_SECONDS", 0.05)
    match, one, other = await new_match(3), await new_tables(), await new_tables()
    alice, bob, _ = await match.begun_inside(one, other)
    table = await table_of(other, match)
    begun = table._since
    await alice.do("ready", on=True)
    await bob.do("ready", on=True)
    await alice.until(lambda page: is_ready(1, page))

    async def alice_is_announced() -> bool:
        return table._announced.get(0, 0) > begun

    await eventually(alice_is_announced)
    # What the look of a second later than so many after the table came here would ask.
    table.miss_whoever_is_unheard(table._announced[0])
    await table.settle()
    assert is_ready(0, bob)
    now = asyncio.get_running_loop().time()
    table.miss_whoever_is_unheard(now + UNHEARD_SECONDS)
    await table.settle()
    assert (is_ready(0, bob), is_ready(1, bob)) == (False, True)


async def test_pages_that_come_back_to_a_new_process_within_seconds_are_as_ready_as_before(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, one = await new_match(), await new_tables()
    alice, bob = await match.begun_inside(one)
    await alice.do("ready", on=True)
    await die(one)
    fresh = await new_tables()
    await bob.join(fresh, match.game, bob.head)
    await fresh._look()
    await bob.settle()
    assert is_ready(0, bob)
    await alice.join(fresh, match.game, alice.head)
    await bob.do("ready", on=True)
    await alice.until(lambda page: page.sight["phase"] != "gathering")


async def test_where_nothing_is_heard_nobody_is_missed(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.begun_inside(one, other)
    await alice.do("ready", on=True)
    await bob.until(lambda page: is_ready(0, page))
    silence = tables_module.DEAF_SECONDS
    monkeypatch.setattr(other.doorbell, "silence", lambda: silence)
    monkeypatch.setattr(tables_module, "UNHEARD_SECONDS", -1.0)
    await other._look()
    await bob.settle()
    assert is_ready(0, bob)
    silence = 0.0
    await other._look()
    await bob.settle()
    assert not is_ready(0, bob)
