"""A table is loaded from its log: nobody else waits for a long one, and little of it is kept."""

import asyncio
import gc
import json
import tracemalloc
from itertools import pairwise

import pytest
from channels.db import database_sync_to_async

from games import rules, servers
from games import table as table_module
from games.course import TOLD
from games.rules.edition import load_edition
from games.table import PORTION, Table
from games.tables import Tables
from games.told import tell
from midnight.bench import race
from midnight.bench.in_play import games_in_play
from tests.games.finished import kept
from tests.table.conftest import Match, NewMatch, NewTables, as_shown, garage
from tests.table.inside import InnerPage
from tests.table.long_games import goes_on, long_game
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases]

EVENTS = 10 * PORTION
# Together they have every event that there is.
SOME_GAMES = ["pt-3-dozers", "es-2-resumed-and-left", "es-3-forsaken", "pt-4"]


async def table_of(match: Match, tables: Tables) -> Table:
    table = await tables.table(match.game.code)
    assert table is not None
    return table


async def test_while_a_long_log_is_loaded_others_have_their_turn_after_each_portion(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(limits=LONG), await new_tables()
    game = await long_game(match, EVENTS)
    table = await table_of(match, tables)
    loading = asyncio.create_task(table.look())
    heads = [table.head]
    while not loading.done():
        await asyncio.sleep(0)
        heads.append(table.head)
    assert heads[0] == 0
    assert heads[-1] == len(game.done) >= EVENTS
    assert max(after - before for before, after in pairwise(heads)) <= PORTION
    assert await loading == game.after


async def test_pages_that_are_far_behind_are_told_all_they_missed_in_order_before_anything_else(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(limits=LONG), await new_tables()
    game = await long_game(match, 20)
    pages = [await InnerPage(seat).join(tables, match.game) for seat in (0, 1, None)]
    await goes_on(game, 3 * PORTION)
    (await table_of(match, tables)).catch_up(game.after.seq)
    answer = await pages[0].do("lift", tile=garage(pages[0])[5])
    assert answer["head"] == game.after.seq + 1
    # A page fails where an event comes too early, twice or not at all.
    assert [as_shown(page) for page in pages] == await match.in_the_log(0, 1, None)
    assert await match.faults() == []


async def test_whoever_comes_back_to_a_table_that_was_loaded_afresh_is_told_what_they_missed(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(limits=LONG), await new_tables()
    game = await long_game(match, 2 * PORTION)
    cut_off = game.done[-30]
    page = InnerPage(0)
    page.sight, page.head = json.loads(json.dumps(rules.sight(cut_off.after, 0))), cut_off.event.seq
    await page.join(tables, match.game, page.head)
    assert page.frames[-1].startswith('{"type":"events"')
    assert as_shown(page) == (await match.in_the_log(0))[0]


async def test_a_command_of_long_ago_is_known_to_whoever_loads_the_table(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(limits=LONG), await new_tables()
    game = await long_game(match, 3 * PORTION)
    alice = await InnerPage(0).join(tables, match.game)
    own = [line for line in game.lines if line.seat == 0]
    for line in (own[0], own[1], own[len(own) // 2], own[-1]):
        assert (await alice.do("escape", line.command_id))["seq"] == line.seq
    assert (await alice.do("lift", own[0].command_id + "a", tile=garage(alice)[0]))["type"] == "events"


async def test_no_bot_stays_at_a_game_that_is_over_and_none_sits_down_there(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, tables = await new_match(1, bots=["apprentice"]), await new_tables()
    [page] = await match.begun_inside(tables)
    table = await table_of(match, tables)
    assert table._bots is not None
    await page.do("leave")
    await page.until(lambda page: page.sight["phase"] == "over")
    await page.settle()
    assert table._bots is None
    # Were one to sit down there, the table would break off.
    monkeypatch.setattr(table_module, "BotHands", None)
    watcher = await InnerPage(None).join(await new_tables(), match.game)
    assert [as_shown(watcher)] == await match.in_the_log(None)


async def test_a_table_in_play_costs_little_though_it_knows_every_command_and_its_bots_remember(
    new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No look loads a table before it is measured.
    monkeypatch.setattr(servers, "orphans", lambda *_: [])
    tables = await new_tables()
    first, *others = await database_sync_to_async(games_in_play)(4)

    async def load(game_id: int) -> None:
        await tables._adopt([game_id])
        assert await tables._tables[game_id].look() is not None

    # What all tables share is here with the first one.
    await load(first)
    tracemalloc.start()
    for game_id in others:
        await load(game_id)
    gc.collect()
    cost = tracemalloc.get_traced_memory()[0] / len(others)
    tracemalloc.stop()
    most = race.AIMS["played_table_kib"].most
    assert most is not None
    assert cost < most * 1024


@pytest.mark.parametrize("name", SOME_GAMES)
def test_what_a_table_keeps_of_a_round_is_what_is_told_of_it_in_words(name: str) -> None:
    record, edition = kept(name), load_edition()
    state = rules.blank(record.head.terms)
    who = ["Alice", "Bob", "Carol", "Dave"]
    for event in record.events:
        state = rules.apply(state, event)
        assert bool(tell([rules.sight_of_event(state, event, None)], who, edition)) == isinstance(event, TOLD)
