"""A process that has more to load than it can at once."""

import asyncio
import json
import threading

import pytest
from channels.db import database_sync_to_async
from django.conf import settings

from games import consumers
from games import tables as tables_module
from games.models import Game
from midnight.asgi import application
from tests.sockets import PATIENCE, Socket
from tests.table.conftest import NewMatch, NewTables, eventually


async def test_it_still_says_that_it_lives(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_SECONDS", 0.05)
    match, here = await new_match(), await new_tables()
    go_on = threading.Event()
    stalled = asyncio.create_task(here.reader.run(go_on.wait, PATIENCE))
    await asyncio.sleep(0)
    await database_sync_to_async(Game.objects.update)(wake_at=0)

    async def adopting() -> bool:
        return here._adopting is not None and not here._adopting.done()

    await eventually(adopting)
    looks = here._looks

    async def has_looked() -> bool:
        return here._looks > looks + 2

    await eventually(has_looked)
    assert not here._tables
    go_on.set()
    await stalled

    async def adopted() -> bool:
        return match.game.pk in here._tables

    await eventually(adopted)


async def test_what_it_takes_to_let_a_page_in_is_not_the_pages_silence(new_match: NewMatch) -> None:
    match, here = await new_match(), await tables_module.here()
    go_on = threading.Event()
    stalled = asyncio.create_task(here.reader.run(go_on.wait, PATIENCE))
    await asyncio.sleep(0)
    origin = [(b"origin", settings.SITE_URL.encode())]
    line = Socket(application, f"/ws/1/games/{match.game.code}", headers=origin)
    assert (await line.connect())[0]
    await line.send_json_to({"do": "join", "page": "p1"})
    # It has asked, and waits.
    await asyncio.sleep(0.1)
    waited_until = asyncio.get_running_loop().time()
    go_on.set()
    await stalled
    assert json.loads((await line.receive_output())["text"])["type"] == "welcome"
    (table,) = here._tables.values()
    (page,) = table.pages
    assert isinstance(page, consumers.TableConsumer)
    assert page._alive >= waited_until
    await line.disconnect()
    await tables_module.stop_here()


async def test_who_went_while_the_table_would_have_let_it_in_is_not_there_afterwards(new_match: NewMatch) -> None:
    match, here = await new_match(), await tables_module.here()
    table = await here.table(match.game.code)
    assert table is not None
    go_on = threading.Event()
    stalled = asyncio.create_task(here.reader.run(go_on.wait, PATIENCE))
    await asyncio.sleep(0)
    origin = [(b"origin", settings.SITE_URL.encode())]
    line = Socket(application, f"/ws/1/games/{match.game.code}", headers=origin)
    assert (await line.connect())[0]
    await line.send_json_to({"do": "join", "page": "p1"})

    async def waits() -> bool:
        return table._turns.busy

    await eventually(waits)
    # As a server does with whoever was cut off and does not come to an end.
    line.future.cancel()
    await asyncio.wait([line.future])
    go_on.set()
    await stalled
    await table.settle()
    assert table.pages == set()
    await tables_module.stop_here()
