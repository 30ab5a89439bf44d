"""Who says nothing, or reads nothing of what they are told, is closed in time, and the others notice nothing."""

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from games import consumers, tables
from games.frames import CloseCode
from games.models import Seat
from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch
from tests.table.page import Message, Page
from tests.table.racers import racing
from tests.table.test_crash import LONG
from tests.table.test_hostile import about_as_quick, resident_bytes, slowest_of_hundred, until_closed

JOIN = {"do": "join", "page": "silent"}
READERS = 40
FRAME = json.dumps({"type": "welcome", "filler": "x" * 5_000})


class Line:
    """A connection by hand: what was told, and what is said."""

    def __init__(self, match: Match) -> None:
        self.told: list[Any] = []
        self.consumer = consumers.TableConsumer()
        self._changed = asyncio.Event()
        self._said: asyncio.Queue[Any] = asyncio.Queue()
        scope = {"type": "websocket", "headers": [], "cookies": {}, "user": AnonymousUser(), "session": SessionStore()}
        scope["url_route"] = {"kwargs": {"code": match.game.code}}
        self._said.put_nowait({"type": "websocket.connect"})
        self.say(do="join", page="line")
        self._serving = asyncio.create_task(self.consumer(scope, self._said.get, self._send))

    async def _send(self, message: Any) -> None:
        self.told.append(message)
        self._changed.set()

    def say(self, **said: Any) -> None:
        self._said.put_nowait({"type": "websocket.receive", "text": json.dumps(said)})

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.told if message["type"] == "websocket.send"]

    async def answer(self, kind: str) -> Message:
        """The last message of this kind, once it is there."""
        async with asyncio.timeout(15):
            while not (found := [text for text in self.texts if text.startswith(f'{{"type":"{kind}"')]):
                self._changed.clear()
                await self._changed.wait()
        answer: Message = json.loads(found[-1])
        return answer

    async def beat(self, mark: str) -> str:
        """Say that everything up to this mark was read; the answer is the next one."""
        self.told.clear()
        self.say(do="beat", mark=mark)
        return str((await self.answer("beat"))["mark"])

    async def tell(self, size: int) -> None:
        for _ in range(size // len(FRAME)):
            await self.consumer.tell(FRAME)

    async def hang_up(self) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1006})
        await self._serving


async def test_a_page_that_reads_nothing_is_told_so_much_and_not_one_message_more(
    new_match: NewMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "QUIET_SECONDS", 3_600.0)
    line = Line(await new_match())
    await line.answer("welcome")
    await line.tell(10 * consumers.MOST_UNREAD_BYTES)
    *told, notice = line.texts
    assert consumers.MOST_UNREAD_BYTES - len(FRAME) < sum(map(len, told)) <= consumers.MOST_UNREAD_BYTES
    assert json.loads(notice)["code"] == "quiet"
    assert line.told[-1] == {"type": "websocket.close", "code": CloseCode.QUIET, "reason": None}
    await line.hang_up()
    await tables.stop_here()


async def test_a_page_that_shows_what_it_has_read_may_be_told_as_much_again(new_match: NewMatch) -> None:
    line = Line(await new_match())
    await line.answer("welcome")
    mark = await line.beat("")
    for _ in range(10):
        await line.tell(100_000)
        old, mark = mark, await line.beat(mark)
    # Whoever says an old mark again has not read what came since.
    for _ in range(2):
        await line.tell(50_000)
        await line.beat(old)
    assert line.told[-1]["type"] == "websocket.send"
    await line.tell(100_000)
    assert line.told[-1]["type"] == "websocket.close"
    await line.hang_up()
    await tables.stop_here()


async def closed_after(page: Page, *said: Message) -> tuple[int | None, float]:
    """Say this and nothing more, but read everything: the close code, and after how many seconds it came."""
    began = time.monotonic()
    async with connect(page.address, additional_headers=page.headers) as line:
        for message in said:
            await line.send(json.dumps(message))
        await until_closed(line)
        return line.close_code, time.monotonic() - began


@pytest.mark.slow
async def test_who_says_nothing_is_closed(web: Site, new_match: NewMatch, in_time: Callable[[float], float]) -> None:
    page = (await new_match()).page(web, None)
    for code, seconds in await asyncio.gather(closed_after(page), closed_after(page, JOIN)):
        assert code == CloseCode.QUIET
        assert consumers.QUIET_SECONDS <= seconds < consumers.QUIET_SECONDS + in_time(3.0)


async def reads_nothing(page: Page) -> ClientConnection:
    """A line that has joined and takes nothing of what it is sent."""
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    small.connect(("127.0.0.1", urlsplit(page.address).port))
    line = await connect(page.address, additional_headers=page.headers, sock=small, max_queue=1)
    line.transport.pause_reading()
    await line.send(json.dumps(JOIN))
    return line


async def beats_on(line: ClientConnection) -> None:
    """Say that this line holds, until the server breaks it."""
    with suppress(ConnectionClosed):
        while not line.transport.is_closing():
            await line.send(json.dumps({"do": "beat"}))
            await asyncio.sleep(0.1)
    line.transport.abort()


async def tell_everybody(match: Match, web: Site, most: int) -> None:
    """Tell all who are at this table so many bytes: who sits there changes again and again."""
    watcher = match.page(web, None, "watcher")
    for number in count():
        await watcher.open()
        if sum(map(len, watcher.frames)) > most:
            return
        await Seat.objects.filter(game=match.game, number=0).aupdate(program=number % 2 == 0)
        # More handshakes a second than this are refused to one address.
        await asyncio.sleep(0.05)


@pytest.mark.alone
@pytest.mark.slow
async def test_many_who_read_nothing_are_closed_though_they_beat_and_neither_memory_nor_the_others_suffer(
    web: Site, new_match: NewMatch, in_time: Callable[[float], float]
) -> None:
    calm, noisy = await new_match(4, LONG), await new_match(2, LONG)
    async with racing(await calm.search(web)) as racers:
        await noisy.search(web)
        page = noisy.page(web, None)
        before = await slowest_of_hundred(racers, 2)
        memory = resident_bytes(web)
        # It is not the other players' wait that this process opens so many lines.
        readers = [asyncio.create_task(beats_on(await reads_nothing(page))) for _ in range(READERS)]
        telling = asyncio.create_task(tell_everybody(noisy, web, 4 * consumers.MOST_UNREAD_BYTES))
        during = await slowest_of_hundred(racers, 4)
        await asyncio.gather(*readers)
        await telling
        grown = resident_bytes(web) - memory
    assert about_as_quick(during, before, in_time), (during, before)
    assert grown < READERS * consumers.MOST_UNREAD_BYTES + 10 * 1024 * 1024
