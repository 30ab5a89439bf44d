"""Whose session ends is out at once: the doorbell tells it, and where it does not, a look finds it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async
from django.utils import timezone

from accounts import moderation
from accounts.models import User
from games import listening, tables, valkey
from games.frames import CloseCode
from tests.sockets import PATIENCE, Socket
from tests.table.conftest import Listening, Match, NewMatch, at_table, line_of

pytestmark = [pytest.mark.both_databases]

NEVER = 3_600.0


async def suspend(match: Match, seat: int) -> None:
    person = await User.objects.aget(seats__game=match.game, seats__number=seat)
    until = timezone.now() + timedelta(days=1)
    await database_sync_to_async(moderation.suspend)(person, until, by="test")


async def close_code(line: Socket) -> int:
    """With what the connection ends, whatever it is told before."""
    while (said := await line.receive_output())["type"] != "websocket.close":
        pass
    return int(said["code"])


@pytest_asyncio.fixture
async def here(transactional_db: None) -> AsyncIterator[None]:
    yield
    await tables.stop_here()


@pytest.mark.usefixtures("here")
async def test_a_ring_ends_the_pages_at_a_table_though_the_next_look_is_far_and_the_database_locked(
    new_match: NewMatch, listening_begun: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "LOOK_SECONDS", NEVER)
    match = await new_match()
    going, staying = await at_table(match, 0), await at_table(match, 1)
    await listening_begun(1)
    # The thread that says that this process lives waits for a lock.
    go_on = threading.Event()
    stalled = asyncio.create_task((await tables.here())._heart.run(go_on.wait, PATIENCE))
    await suspend(match, 0)
    assert await close_code(going) == CloseCode.SIGNED_OUT
    await staying.send_json_to({"do": "beat"})
    # That the other one has left the game may be told before.
    while json.loads((await staying.receive_output())["text"])["type"] != "beat":
        pass
    go_on.set()
    await stalled
    for line in (going, staying):
        await line.disconnect()


async def test_a_ring_ends_the_other_pages_too(
    new_match: NewMatch, listening_begun: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "LOOK_SECONDS", NEVER)
    match = await new_match()
    going, staying = await line_of(match, 0, "/ws/1/news/lobby"), await line_of(match, 1, "/ws/1/news/lobby")
    await listening_begun(1)
    await suspend(match, 0)
    assert await close_code(going) == CloseCode.SIGNED_OUT
    # Nobody said anything to the other one, which hears of the next suspension: its own.
    await suspend(match, 1)
    assert await close_code(staying) == CloseCode.SIGNED_OUT


@pytest.mark.usefixtures("here")
async def test_where_the_ring_is_lost_a_look_finds_who_is_out(
    new_match: NewMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(valkey, "publish", lambda _channel, _message: None)
    match = await new_match()
    lines = [await at_table(match, 0), await line_of(match, 0, "/ws/1/news/lobby")]
    await suspend(match, 0)
    for line in lines:
        assert await close_code(line) == CloseCode.SIGNED_OUT
    await lines[0].disconnect()
