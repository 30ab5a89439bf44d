"""Clocks are set, answers are slow, processes stop and come back: games keep their time, and their processes."""

import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from channels.db import database_sync_to_async

from games import clock, servers, sweep
from games import course as course_module
from games import table as table_module
from games import tables as tables_module
from games.models import Game, Seat, Server
from games.rules import events
from games.tables import Tables
from tests.browser.site import Site
from tests.table.conftest import QUICK, Match, NewMatch, NewTables, eventually, garage, log_of, skip, stand_still
from tests.table.inside import InnerPage
from tests.table.test_processes import crash

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

HOUR_MS = 3_600_000
STEPS = [HOUR_MS, -HOUR_MS]
SHORT_HANDS = replace(QUICK, hand_ms=3_000)


class Database:
    """The database's clock as a test sets it, and how long it takes to tell the time."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self.off_ms = 0
        self.answers_after = 0.0

    def now(self) -> int:
        answer = self._read() + self.off_ms
        time.sleep(self.answers_after)
        return answer


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    database = Database(clock.database_now)
    for module in (clock, servers, tables_module):
        monkeypatch.setattr(module, "database_now", database.now)
    return database


@database_sync_to_async
def resumes(match: Match) -> list[events.Resumed]:
    return [event for event in log_of(match.game.pk) if isinstance(event, events.Resumed)]


async def all_have_noticed(processes: Sequence[Tables], database: Database) -> None:
    async def noticed() -> bool:
        return all(abs(tables.clock.skew_ms + database.off_ms) < 1_000 for tables in processes)

    await eventually(noticed)


async def lift_and_put_back(page: InnerPage, tile: int) -> None:
    assert (await page.do("lift", tile=tile))["type"] == "events"
    assert (await page.do("return", tile=tile, face="down"))["type"] == "events"


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_of_the_database_takes_no_time_from_a_game_and_gives_it_none(
    new_match: NewMatch, new_tables: NewTables, database: Database, step: int
) -> None:
    match, one, other = await new_match(limits=SHORT_HANDS), await new_tables(), await new_tables()
    alice, bob = await match.inside(one, other)
    began, at = time.monotonic(), alice.sight["at"]
    database.off_ms = step
    await all_have_noticed([one, other], database)
    # One that begins now has the same time.
    late = await new_tables()
    assert abs(late.clock.now() - one.clock.now()) < 1_000
    watcher = await InnerPage(None).join(late, match.game)
    await lift_and_put_back(alice, garage(alice)[0])
    await lift_and_put_back(bob, garage(bob)[1])
    assert abs((bob.sight["at"] - at) - (time.monotonic() - began) * 1000) < 2_000
    # A limit acts when it passes, neither at once nor in an hour.
    await alice.do("lift", tile=garage(alice)[2])
    lifted = time.monotonic()
    await watcher.until(lambda page: page.sight["players"][0]["hand"] is not None)
    await watcher.until(lambda page: page.sight["players"][0]["hand"] is None)
    assert time.monotonic() - lifted > 0.95 * SHORT_HANDS.hand_ms / 1000
    assert await resumes(match) == []
    game = await Game.objects.aget(pk=match.game.pk)
    assert game.wake_at is not None
    assert 0 < game.wake_at - one.clock.now() <= QUICK.search_ms
    assert await match.faults() == []


@pytest.mark.parametrize("step", STEPS)
async def test_a_process_that_dies_after_a_step_is_missed_as_soon_as_any_other(
    new_match: NewMatch, new_tables: NewTables, database: Database, step: int
) -> None:
    match, keeper, heir = await new_match(), await new_tables(), await new_tables()
    _, bob = await match.inside(keeper)
    crash(keeper)
    database.off_ms = step
    await bob.join(heir, match.game, bob.head)
    await bob.until(lambda page: page.sight["resumes_at"] > 0)
    (resumed,) = await resumes(match)
    assert servers.SILENT_MS < resumed.lost_ms < 60_000
    assert not resumed.stalled


async def test_a_slow_answer_of_the_database_winds_no_game_back_and_moves_no_clock(
    new_match: NewMatch, new_tables: NewTables, database: Database
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.inside(one, other)
    before = one.clock.now() - other.clock.now()
    database.answers_after = 1.5
    for turn in range(8):
        await lift_and_put_back((alice, bob)[turn % 2], garage(alice)[turn])
        await asyncio.sleep(0.5)
    database.answers_after = 0.0
    assert abs(one.clock.now() - other.clock.now() - before) < 50
    assert abs(one.clock.skew_ms) < 500
    assert await resumes(match) == []


async def test_two_processes_that_both_stood_still_do_not_fight_and_resume_a_game_once(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    matches, one, other = [await new_match() for _ in range(3)], await new_tables(), await new_tables()
    pages = [await match.inside(one, other) for match in matches]
    time.sleep(servers.SILENT_MS / 1000 + 1.5)  # noqa: ASYNC251 - both loops are to stand still
    for turn in range(8):
        for alice, bob in pages:
            (alice, bob)[turn % 2].ask_for("lift", tile=garage(alice)[turn])
            await (alice, bob)[turn % 2].settle()
        await asyncio.sleep(0.5)
    for match in matches:
        found = await resumes(match)
        assert len(found) <= 1
        assert all(resumed.stalled for resumed in found)


async def test_a_process_that_returns_leaves_its_games_to_the_heir(new_match: NewMatch, new_tables: NewTables) -> None:
    match, frozen, heir = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.inside(frozen)
    # As in a machine that is halted: nothing of it runs.
    looking, beat = frozen._look, frozen._beat
    frozen._looking.cancel()  # type: ignore[union-attr]
    frozen.heartbeat._beat = lambda _ms: None
    table = await frozen.table(match.game.code)
    assert table is not None
    table._set_timer(None)
    bob.leave()
    await bob.join(heir, match.game, bob.head)
    await bob.until(lambda page: page.sight["resumes_at"] > 0)
    stand_still(frozen, 5_000)
    skip(frozen, -5_000)
    frozen.heartbeat._beat = beat
    await looking()
    for _ in range(4):
        await asyncio.sleep(1.0)
        await looking()
        await heir._look()
        await alice.settle()
    assert len(await resumes(match)) == 1
    assert (await Game.objects.aget(pk=match.game.pk)).kept_by_id == heir.server
    assert (await alice.do("lift", tile=garage(alice)[0]))["type"] == "events"


async def test_a_game_waits_for_its_players_after_its_process_was_lost(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "PLAYERS_AWAY_MS", 600_000)
    match, keeper, heir = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.begun_inside(keeper)
    crash(keeper)

    async def is_gone() -> bool:
        return heir.peers.loss(keeper.server, heir.clock.now()).ms > 0

    await eventually(is_gone)
    table = heir._table(await heir.reader.run(tables_module.opening.find_by_id, match.game.pk))  # type: ignore[arg-type]
    # All limits of a round pass.
    for _ in range(10):
        skip(heir, 4_000)
        await heir._look()
        table.wake()
        await table.settle()
    assert [event.type for event in await database_sync_to_async(log_of)(match.game.pk)] == ["round_started"]
    # The first who comes back finds the game as it was, with all the time that was left.
    await bob.join(heir, match.game, bob.head)
    await bob.settle()
    (resumed,) = await resumes(match)
    assert resumed.lost_ms > 40_000
    assert not resumed.stalled
    await alice.join(heir, match.game, alice.head)
    for page in (alice, bob):
        assert (await page.do("ready", on=True))["type"] == "events"
    assert len(await resumes(match)) == 1
    assert not await Seat.objects.filter(game=match.game, conduct="missed").aexists()
    assert await match.faults() == []


async def test_a_game_without_returning_players_goes_on_after_a_while(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "PLAYERS_AWAY_MS", 4_000)
    match, keeper = await new_match(), await new_tables()
    await match.begun_inside(keeper)
    heir = await new_tables()
    crash(keeper)

    async def is_taken() -> bool:
        return (await Game.objects.aget(pk=match.game.pk)).kept_by_id == heir.server

    await eventually(is_taken)
    (resumed,) = await resumes(match)
    assert not resumed.stalled


async def test_a_database_set_back_while_no_process_ran_leaves_no_game_without_limits(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(course_module, "CATCHES_UP_SECONDS", 0.5)
    match, before = await new_match(limits=SHORT_HANDS), await new_tables()
    alice, _ = await match.inside(before)
    await alice.do("lift", tile=garage(alice)[0])
    at = alice.sight["at"]
    crash(before)
    await Server.objects.all().adelete()
    game = await Game.objects.aget(pk=match.game.pk)
    assert game.started_ms is not None
    assert game.wake_at is not None
    await Game.objects.filter(pk=game.pk).aupdate(started_ms=game.started_ms + HOUR_MS, wake_at=game.wake_at + HOUR_MS)
    after = await new_tables()
    watcher = await InnerPage(1).join(after, match.game)
    await watcher.until(lambda page: page.sight["players"][0]["hand"] is None)
    assert watcher.sight["at"] - at < 60_000
    game = await Game.objects.aget(pk=match.game.pk)
    assert game.wake_at is not None
    assert game.wake_at - after.clock.now() <= QUICK.search_ms


@pytest.mark.parametrize("step", STEPS)
async def test_the_sweep_leaves_games_to_their_process_whatever_the_database_says(
    new_match: NewMatch, new_tables: NewTables, database: Database, step: int
) -> None:
    match, keeper = await new_match(), await new_tables()
    relaxed = await new_match(pace="relaxed")
    await match.inside(keeper)
    await relaxed.begun_inside(keeper)
    before = [len(await database_sync_to_async(log_of)(one.game.pk)) for one in (match, relaxed)]
    database.off_ms = step
    # In the moment of the step no process has said yet what it means.
    assert await database_sync_to_async(sweep.wake_overdue)() == 0
    await all_have_noticed([keeper], database)
    assert await database_sync_to_async(sweep.wake_overdue)() == 0
    assert [len(await database_sync_to_async(log_of)(one.game.pk)) for one in (match, relaxed)] == before


async def test_a_frozen_process_loses_its_games_once_and_does_not_fight_for_them(
    web: Site, other_web: Site, new_match: NewMatch
) -> None:
    matches = [await new_match() for _ in range(3)]
    for match in matches:
        await match.search(web)
    # The other one has to be heard of, too.
    stranger = await (await new_match()).page(other_web, None).open()
    assert web.process is not None
    web.process.send_signal(signal.SIGSTOP)
    try:
        returned = [[match.page(other_web, seat, f"back{seat}") for seat in (0, 1)] for match in matches]
        for page in [page for pages in returned for page in pages]:
            await page.open()
        for alice, _ in returned:
            await alice.until(lambda page: page.sight["resumes_at"] > 0)
    finally:
        web.process.send_signal(signal.SIGCONT)
    for turn in range(10):
        for pages in returned:
            page = pages[turn % 2]
            if (await page.do("lift", tile=garage(page)[turn]))["type"] == "events":
                await page.do("return", tile=page.sight["players"][turn % 2]["hand"], face="down")
        await asyncio.sleep(0.5)
    assert stranger.close_code is None
    for match in matches:
        assert len(await resumes(match)) == 1
        assert await match.faults() == []
