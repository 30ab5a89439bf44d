"""A process that has more to load than it can at once."""

import asyncio
import json
import threading

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings

from games import consumers
from games import tables as tables_module
from games.models import Game
from midnight.asgi import application
from tests.table.conftest import NewMatch, NewTables, eventually


async def test_it_still_says_that_it_lives(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_SECONDS", 0.05)
    match, here = await new_match(), await new_tables()
    go_on = threading.Event()
    stalled = asyncio.create_task(here.reader.run(go_on.wait, 15))
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


@pytest.mark.slow
async def test_what_it_takes_to_let_a_page_in_is_not_the_pages_silence(
    new_match: NewMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "QUIET_SECONDS", 2.0)
    match, here = await new_match(), await tables_module.here()
    go_on = threading.Event()
    stalled = asyncio.create_task(here.reader.run(go_on.wait, 15))
    await asyncio.sleep(0)
    origin = [(b"origin", settings.SITE_URL.encode())]
    page = WebsocketCommunicator(application, f"/ws/1/games/{match.game.code}", headers=origin)
    assert (await page.connect(timeout=10))[0]
    await page.send_json_to({"do": "join", "page": "p1"})
    await asyncio.sleep(2.5)
    go_on.set()
    await stalled
    assert json.loads((await page.receive_output(timeout=10))["text"])["type"] == "welcome"
    (table,) = here._tables.values()
    assert [page.is_quiet() for page in table.pages] == [False]
    await page.disconnect()
    await tables_module.stop_here()
