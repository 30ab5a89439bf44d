"""A relaxed game may rest for a day, but not because the process that moved its bots' hands has died."""

import pytest
from channels.db import database_sync_to_async

from games import servers
from games.bot_hands import BotHands
from games.models import Game, Server
from games.rules import terms
from games.tables import Tables
from tests.table.conftest import Match, NewMatch, NewTables, eventually, log_of
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]


async def left_in_a_bots_turn(
    new_match: NewMatch, one: Tables, monkeypatch: pytest.MonkeyPatch
) -> tuple[Match, InnerPage]:
    """Alice is ready, the bot is not yet, and their process dies."""
    match = await new_match(1, terms.DEFAULT_LIMITS["relaxed"], bots=["burglar"], pace="relaxed")
    with monkeypatch.context() as patch:
        patch.setattr(BotHands, "think", lambda hands: None)
        [alice] = await match.begun_inside(one)
        await alice.do("ready", on=True)
    assert one._looking is not None
    one._looking.cancel()
    one.heartbeat.fall_silent()
    await one.doorbell.close()
    await Server.objects.filter(pk=one.server).aupdate(seen=1, clock=1)
    return match, alice


async def goes_on(match: Match) -> None:
    async def the_bot_was_ready() -> bool:
        return "countdown_started" in [event.type for event in await database_sync_to_async(log_of)(match.game.pk)]

    await eventually(the_bot_was_ready)


async def test_where_nobody_looks_on_another_process_moves_the_bots_hands(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, _ = await left_in_a_bots_turn(new_match, await new_tables(), monkeypatch)
    await new_tables()
    await goes_on(match)


async def test_a_game_that_the_sweep_left_to_nobody_goes_on_too(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, _ = await left_in_a_bots_turn(new_match, await new_tables(), monkeypatch)
    await Game.objects.filter(pk=match.game.pk).aupdate(kept_by=None)
    await new_tables()
    await goes_on(match)


async def test_whoever_comes_to_such_a_game_finds_its_bots_awake(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, alice = await left_in_a_bots_turn(new_match, await new_tables(), monkeypatch)
    monkeypatch.setattr(servers, "orphans", lambda *_: [])
    other = await new_tables()
    await alice.join(other, match.game, alice.head)
    await alice.until(lambda page: page.sight["phase"] != "gathering")


async def test_a_game_whose_bots_a_living_process_moves_is_left_to_it(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await new_tables(), await new_tables()
    match = await new_match(1, terms.DEFAULT_LIMITS["relaxed"], bots=["burglar"], pace="relaxed")
    monkeypatch.setattr(BotHands, "think", lambda hands: None)
    [alice] = await match.begun_inside(one)
    await alice.do("ready", on=True)
    await (await InnerPage(None).join(other, match.game)).settle()
    await other._look()
    kept_by = (await Game.objects.aget(pk=match.game.pk)).kept_by_id
    assert kept_by == one.server


async def test_bots_alone_end_the_game_that_the_last_person_left(new_match: NewMatch, new_tables: NewTables) -> None:
    match = await new_match(1, bots=["burglar", "apprentice", "apprentice"])
    [alice] = await match.begun_inside(await new_tables())
    await alice.do("leave")

    async def it_is_over() -> bool:
        return await Game.objects.filter(pk=match.game.pk, reason="abandoned").aexists()

    await eventually(it_is_over)
    events = await database_sync_to_async(log_of)(match.game.pk)
    assert [event.type for event in events[-4:]] == ["abandoned", "abandoned", "abandoned", "game_ended"]
