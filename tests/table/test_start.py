"""How a game begins: with everybody's share of its chance, once, whichever process is first; and how a table ends."""

import threading

import pytest
from channels.db import database_sync_to_async
from django.db import OperationalError

from games import log, opening, servers, tables
from games.frames import CloseCode
from games.models import Game
from games.pulse import pulse
from games.rules import chance, terms
from tests.table.conftest import Match, NewMatch, NewTables, eventually, garage, log_of, skip
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]

MINUTE_MS = 60 * 1_000
DAY_MS = 24 * 60 * MINUTE_MS


async def nonces_in_the_record(match: Match) -> list[str]:
    opened = await database_sync_to_async(opening.find_by_id)(match.game.pk)
    assert opened is not None
    return [seat.nonce.hex() for seat in opened.terms().seats]


async def types(match: Match) -> list[str]:
    return [event.type for event in await database_sync_to_async(log_of)(match.game.pk)]


async def test_a_game_begins_once_though_two_processes_begin_it(new_match: NewMatch, new_tables: NewTables) -> None:
    processes = [await new_tables(), await new_tables()]
    for turn in range(10):
        match = await new_match(4)
        pages = [
            await InnerPage(seat, f"p{seat}").join(processes[seat % 2], match.game)
            for seat in range(len(match.cookies))
        ]
        for seat, page in enumerate(pages):
            page.give_nonce(bytes([turn, seat] * 8))
        for page in pages:
            await page.until(lambda page: bool(page.sight and page.nonce))
        assert await types(match) == ["round_started"]
        assert [page.nonce for page in pages] == await nonces_in_the_record(match)
        assert [page.nonce for page in pages] == [bytes([turn, seat] * 8).hex() for seat in range(4)]
        assert await match.faults() == []


async def test_who_gives_no_nonce_in_time_has_zeros_and_is_told_so(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than any machine takes: here the time passes when it is told to.
    monkeypatch.setitem(opening.NONCE_MS, "live", MINUTE_MS)
    match, tables = await new_match(), await new_tables()
    alice, bob = [await InnerPage(seat).join(tables, match.game) for seat in range(2)]
    alice.give_nonce(bytes(range(16)))
    # A command before the first event neither counts nor stops the clock.
    assert (await alice.do("ready", on=True))["code"] == "not_begun"
    table = await tables.table(match.game.code)
    assert table is not None
    # The shares are fixed, and then the game begins.
    for _ in range(2):
        skip(tables, MINUTE_MS)
        table.wake()
        await table.settle()
    await bob.until(lambda page: bool(page.sight))
    bob.give_nonce(b"x" * 16)
    alice.give_nonce(b"y" * 16)
    await bob.until(lambda page: page.nonce != "")
    await alice.settle()
    assert (alice.nonce, bob.nonce) == (bytes(range(16)).hex(), chance.NO_NONCE.hex())
    assert await nonces_in_the_record(match) == [alice.nonce, bob.nonce]


async def test_a_game_that_nobody_comes_to_begins_all_the_same(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(opening.NONCE_MS, "live", 100)
    match, _ = await new_match(), await new_tables()

    async def begun() -> bool:
        return await types(match) == ["round_started"]

    await eventually(begun)
    assert await nonces_in_the_record(match) == [chance.NO_NONCE.hex()] * 2


@pytest.mark.parametrize("comes_back", [True, False])
async def test_a_relaxed_game_waits_a_day_for_the_nonce_of_a_player_who_is_not_there(
    new_match: NewMatch, new_tables: NewTables, comes_back: bool
) -> None:
    match, tables = await new_match(pace="relaxed", limits=terms.DEFAULT_LIMITS["relaxed"]), await new_tables()
    alice = await InnerPage(0).join(tables, match.game)
    alice.give_nonce(b"a" * 16)
    table = await tables.table(match.game.code)
    assert table is not None
    skip(tables, DAY_MS - MINUTE_MS)
    table.wake()
    await table.settle()
    assert (await types(match), alice.sight) == ([], {})
    bob = await InnerPage(1).join(tables, match.game)
    if comes_back:
        bob.give_nonce(b"b" * 16)
    else:
        skip(tables, MINUTE_MS)
        table.wake()
    for page in (alice, bob):
        await page.until(lambda page: bool(page.sight))
    bob.give_nonce(b"c" * 16)
    await bob.until(lambda page: page.nonce != "")
    assert bob.nonce == (b"b" * 16 if comes_back else chance.NO_NONCE).hex()
    assert await nonces_in_the_record(match) == [alice.nonce, bob.nonce]


async def test_a_step_that_fails_sends_the_pages_of_this_table_away_and_no_others(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = await new_tables()
    match, other = await new_match(), await new_match()
    alice, bob = await match.inside(tables)
    carol, _ = await other.inside(tables)
    faults = pulse.faults

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("games.rules.decide", fail)
        alice.ask_for("lift", tile=garage(alice)[0])
        await alice.until(lambda page: page.closed is not None)
    assert alice.closed == bob.closed == CloseCode.FAULT
    assert carol.closed is None
    assert pulse.faults == faults + 1
    # They come back to a table that was loaded afresh.
    await alice.join(tables, match.game, alice.head)
    assert (await alice.do("lift", tile=garage(alice)[0]))["type"] == "events"
    assert (await carol.do("lift", tile=garage(carol)[0]))["type"] == "events"


async def test_where_a_game_is_no_more_its_pages_are_told(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, _ = await match.inside(tables)
    await Game.objects.filter(pk=match.game.pk).adelete()
    alice.ask_for("lift", tile=garage(alice)[0])
    await alice.until(lambda page: page.closed is not None)
    assert alice.closed == CloseCode.NO_GAME


async def test_a_process_whose_database_is_away_tries_again_with_everybody_who_comes_and_leaves_nothing_behind(
    new_match: NewMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    await new_match()

    def away() -> int:
        raise OperationalError("away")

    before = threading.enumerate()
    with monkeypatch.context() as patch:
        patch.setattr(servers, "database_now", away)
        for _ in range(5):
            with pytest.raises(log.Unwritten):
                await tables.here()
    since = [thread for thread in threading.enumerate() if thread not in before]
    assert not [thread for thread in since if thread.name.startswith("log-")]
    assert await tables.here() is await tables.here()
    await tables.stop_here()
