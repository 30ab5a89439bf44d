"""Several processes serve one game: who looks after it, who plays which seat, and what time it is."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from channels.db import database_sync_to_async

from games import log, servers
from games import table as table_module
from games import tables as tables_module
from games.doorbell import Doorbell
from games.frames import CloseCode
from games.models import Game, Server
from games.rules.events import Resumed
from games.tables import Tables
from games.views.game import SEQ
from tests.browser.site import Site
from tests.table.conftest import QUICK, NewMatch, NewTables, eventually, garage, log_of, same_as_reload, stand_still
from tests.table.inside import InnerPage
from tests.table.long_games import long_game
from tests.table.test_allowance import poster
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases]

SHORT_HANDS = replace(QUICK, hand_ms=3_000)


def crash(tables: Tables) -> None:
    """No more signs of life, no more alarms."""
    assert tables._looking is not None
    tables._looking.cancel()
    tables.heartbeat.fall_silent()
    for table in tables._tables.values():
        table._set_timer(None)
        table._turns.stop()


@pytest.mark.slow
async def test_a_game_whose_keeper_died_goes_on_and_gets_back_the_time_it_lost(
    new_match: NewMatch, new_tables: NewTables, in_time: Callable[[float], float]
) -> None:
    match, keeper, heir = await new_match(limits=SHORT_HANDS), await new_tables(), await new_tables()
    alice, _ = await match.inside(keeper)
    await alice.do("lift", tile=garage(alice)[0])
    watcher = await InnerPage(None).join(heir, match.game)
    crash(keeper)
    await InnerPage(1).join(heir, match.game)
    await watcher.until(lambda page: page.sight["resumes_at"] > 0)
    happened = await database_sync_to_async(log_of)(match.game.pk)
    resumed = next(event for event in happened if isinstance(event, Resumed))
    assert 2_000 < resumed.lost_ms < in_time(6) * 1_000
    # The hand's limit moved by the loss and by the countdown, and acts in the new process.
    lifted = next(event for event in happened if event.type == "lifted")
    await watcher.until(lambda page: page.sight["players"][0]["hand"] is None)
    assert watcher.sight["at"] >= lifted.at + resumed.lost_ms + QUICK.countdown_ms + SHORT_HANDS.hand_ms
    assert await match.faults() == []


async def test_the_keeper_lets_a_limit_act_when_it_passes_and_needs_no_look_for_that(
    new_match: NewMatch, new_tables: NewTables, in_time: Callable[[float], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "orphans", lambda *_: [])
    tables = await new_tables()
    matches = [await new_match() for _ in range(5)]
    await asyncio.gather(*(match.inside(tables) for match in matches))
    for match in matches:
        moments = {event.type: event.at for event in await database_sync_to_async(log_of)(match.game.pk)}
        late = moments["search_started"] - moments["countdown_started"] - QUICK.countdown_ms
        # However late a busy machine is, no other process would have done it.
        assert 0 <= late <= in_time(0.25) * 1_000


@pytest.mark.slow
async def test_of_several_heirs_one_takes_the_game_over_though_nobody_looks_at_it(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "PLAYERS_AWAY_MS", 3_000)
    match, keeper = await new_match(), await new_tables()
    await match.inside(keeper)
    for _ in range(2):
        await new_tables()
    crash(keeper)
    before = await database_sync_to_async(log_of)(match.game.pk)

    async def taken() -> bool:
        game = await Game.objects.aget(pk=match.game.pk)
        # By one of these two, or by a web process that another test has started.
        return game.kept_by_id != keeper.server

    await eventually(taken)
    # Everybody has looked once more since.
    await asyncio.sleep(1.5)
    since = (await database_sync_to_async(log_of)(match.game.pk))[len(before) :]
    taken_at = [event.at for event in since if event.type == "resumed"]
    # Once; or again because this machine stood still, never twice for one silence.
    assert taken_at
    assert all(after - before > servers.SILENT_MS for before, after in pairwise(taken_at))
    assert await taken()
    assert await match.faults() == []


async def test_a_game_whose_keeper_has_no_row_any_more_is_taken_over_though_nobody_looks_at_it(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(limits=LONG), await new_tables()
    await long_game(match, 10)
    started = await Game.objects.values_list("started_ms", flat=True).aget(pk=match.game.pk)
    assert started is not None
    # Nobody was heard of for a minute.
    await Game.objects.filter(pk=match.game.pk).aupdate(kept_by=tables.server + 1_000, started_ms=started - 60_000)

    async def taken() -> bool:
        return await Game.objects.filter(pk=match.game.pk, kept_by=tables.server).aexists()

    await eventually(taken)
    happened = await database_sync_to_async(log_of)(match.game.pk)
    assert isinstance(happened[-1], Resumed)
    assert happened[-1].lost_ms > 50_000


@pytest.mark.slow
async def test_a_keeper_that_lives_is_not_taken_for_dead_between_two_looks(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, keeper, other = await new_match(), await new_tables(), await new_tables()
    _, bob = await match.inside(keeper, other)
    # As far as the last look can tell it was heard of just in time; it is not heard of again before the next.
    for _ in range(25):
        await asyncio.sleep(0.1)
        await InnerPage(None).join(other, match.game)
        assert other.peers.loss(keeper.server, other.clock.now()).ms == 0
    assert bob.sight["resumes_at"] == 0


async def test_a_process_that_was_frozen_resumes_its_games_before_it_lets_a_limit_act(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, keeper = await new_match(limits=SHORT_HANDS), await new_tables()
    alice, bob = await match.inside(keeper)
    await alice.do("lift", tile=garage(alice)[0])
    # As after a long sleep of the machine: the first thing to come is a command.
    stand_still(keeper, 60_000)
    assert (await bob.do("lift", tile=garage(bob)[1]))["code"] == "resuming"
    happened = await database_sync_to_async(log_of)(match.game.pk)
    assert [event.type for event in happened[-2:]] == ["lifted", "resumed"]
    assert await match.faults() == []


@pytest.mark.slow
async def test_a_clock_that_steps_back_makes_no_moment_earlier_and_no_limit_act_early(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, right, wrong = await new_match(limits=SHORT_HANDS), await new_tables(), await new_tables()
    alice, bob = await match.inside(right, wrong)
    began = time.monotonic()
    held = garage(alice)[0]
    await alice.do("lift", tile=held)
    while alice.sight["players"][0]["hand"] is not None:
        # In time it catches up with the other one.
        assert wrong.clock._ahead is not None
        wrong.clock._ahead -= 3_000
        tile = garage(bob)[5]
        assert (await bob.do("lift", tile=tile))["type"] == "events"
        answer = await bob.do("return", tile=tile, face="down")
        if answer["type"] != "events":
            # By the clock that lags both hands were lifted in one moment, so at the end they are let go in one.
            assert answer["code"] == "not_yours"
            await alice.until(lambda page: page.sight["players"][0]["hand"] is None)
        await asyncio.sleep(0.2)
    assert time.monotonic() - began > SHORT_HANDS.hand_ms / 1000
    moments = [event.at for event in await database_sync_to_async(log_of)(match.game.pk)]
    assert moments == sorted(moments)
    assert await match.faults() == []


async def test_a_second_page_of_the_same_person_takes_the_seat_politely(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    match = await new_match()
    first, bob = await match.search(web, web)
    for site in (web, other_web):
        second = await match.page(site, 0, f"on{site.port}").open()
        await first.until(lambda page: page.close_code is not None)
        assert (first.close_code, first.notices[-1]) == (CloseCode.MOVED, "moved")
        assert (await second.do("lift", tile=garage(second)[0]))["type"] == "events"
        await second.do("return", tile=second.sight["players"][0]["hand"], face="down")
        first = second
    assert bob.close_code is None
    await same_as_reload(first)


async def test_of_two_pages_that_take_one_seat_in_one_moment_in_two_processes_one_stays(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    for turn in range(5):
        pages = [InnerPage(0, f"a{turn}"), InnerPage(0, f"b{turn}")]
        await asyncio.gather(pages[0].join(one, match.game), pages[1].join(other, match.game))

        async def is_moved(pages: list[InnerPage] = pages) -> bool:
            return any(page.closed is not None for page in pages)

        await eventually(is_moved)
        await asyncio.sleep(0.1)
        assert sorted(str(page.closed) for page in pages) == sorted(["None", str(CloseCode.MOVED)])


async def test_a_seat_taken_while_the_doorbell_was_silent_is_given_up_later(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    first = await InnerPage(0, "first").join(one, match.game)
    with monkeypatch.context() as patch:
        patch.setattr(other.doorbell, "moved", lambda *_: None)
        await InnerPage(0, "second").join(other, match.game)
    await first.until(lambda page: page.closed == CloseCode.MOVED)


async def test_a_page_that_moves_to_another_process_stays_ready(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    match = await new_match()
    alice, bob = await match.sit_down(web, web)
    await alice.do("ready", on=True)
    await match.page(other_web, 0, "moved").open()
    await alice.until(lambda page: page.close_code == CloseCode.MOVED)
    assert (await bob.do("ready", on=True))["type"] == "events"
    await bob.until(lambda page: page.sight["phase"] == "search")


@pytest.fixture
def deaf_and_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process hears or sees what another one writes."""
    monkeypatch.setattr(Doorbell, "ring", lambda *_: None)
    monkeypatch.setattr(log, "heads", lambda _: {})


async def test_a_page_that_has_heard_more_than_this_process_knows_is_shown_it_for_one_look_at_the_log(
    deaf_and_blind: None, new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, other = await new_match(), await new_tables()
    alice, _ = await match.begun_inside(other)
    client, address = poster(match, 1), f"/games/{match.game.code}/exchange/"

    async def shown(heard: str) -> int:
        return int((await client.get(address, headers={SEQ: heard})).headers[SEQ])

    known = await shown("0")
    await alice.do("ready", on=True)
    assert await shown("0") == known
    assert await shown(str(alice.head)) == alice.head == known + 1
    looks = []

    def look(game_id: int, head: int) -> log.Tail:
        looks.append(head)
        return since(game_id, head)

    since = log.since
    monkeypatch.setattr(log, "since", look)
    # However far it says that it has heard.
    assert await shown("9" * 9) == alice.head
    assert looks == [alice.head]
    for nonsense in ("-1", "²", "9" * 25, "9" * 5_000, "x", ""):
        assert await shown(nonsense) == alice.head
    assert looks == [alice.head]
    await tables_module.stop_here()


async def test_a_form_is_judged_by_what_its_page_has_heard(
    deaf_and_blind: None, new_match: NewMatch, new_tables: NewTables
) -> None:
    match, other = await new_match(), await new_tables()
    alice, _ = await match.begun_inside(other)
    client, address = poster(match, 0), f"/games/{match.game.code}/exchange/"
    assert (await client.get(address)).status_code == 200
    await alice.do("ready", on=True)
    words = {"command": json.dumps({"do": "ready", "on": False})}
    assert (await client.post(address, words, headers={SEQ: str(alice.head)})).status_code == 302
    await tables_module.stop_here()


async def test_who_goes_away_is_no_longer_ready(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    alice, bob = await match.sit_down(web)
    await alice.do("ready", on=True)
    await bob.until(lambda page: page.sight["players"][0]["ready"])
    await alice.cut()
    await bob.until(lambda page: not page.sight["players"][0]["ready"])


@pytest.mark.slow
async def test_a_table_that_nobody_needs_is_dropped_and_its_game_goes_on_all_the_same(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "IDLE_SECONDS", 0.1)
    tables = await new_tables()
    relaxed = await new_match(limits=SHORT_HANDS, pace="relaxed")
    live = await new_match()
    pages = await relaxed.inside(tables)
    await pages[0].do("lift", tile=garage(pages[0])[0])
    kept = await live.inside(tables)
    for page in (*pages, *kept):
        page.leave()

    async def dropped() -> bool:
        return relaxed.game.pk not in tables._tables

    async def returned() -> bool:
        return (await database_sync_to_async(log_of)(relaxed.game.pk))[-1].type == "returned"

    await eventually(dropped)
    assert live.game.pk in tables._tables
    # The hand's limit is due in the game that nobody looks at: it is taken up again, and dropped again.
    await eventually(returned)
    await eventually(dropped)
    back = await InnerPage(0).join(tables, relaxed.game)
    assert back.sight["players"][0]["hand"] is None
    assert await relaxed.faults() == []


async def test_the_rows_of_processes_that_are_long_gone_are_cleared_out(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, tables = await new_match(), await new_tables()
    long_ago = tables.clock.now() - 2 * tables_module.CLEARED_MS
    gone = await Server.objects.acreate(name="gone", seen=long_ago)
    keeper = await Server.objects.acreate(name="keeps a game", seen=long_ago)
    await Game.objects.filter(pk=match.game.pk).aupdate(kept_by=keeper, pace="relaxed")
    monkeypatch.setattr(tables_module, "CLEARED_EVERY", 1)

    async def cleared() -> bool:
        return not await Server.objects.filter(pk=gone.pk).aexists()

    await eventually(cleared)
    assert await Server.objects.filter(pk__in=[keeper.pk, tables.server]).acount() == 2
