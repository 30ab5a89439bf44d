"""The proxy hurts lines as it says."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.faults.proxy import BACK, Proxy

SOON = 60
A_WHILE = 0.2


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(1_000):
            writer.write(piece.upper())
    writer.transport.abort()


@pytest_asyncio.fixture
async def proxy() -> AsyncIterator[Proxy]:
    """Before a server that repeats what it hears, louder."""
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = Proxy(server.sockets[0].getsockname())
    yield proxy
    await proxy.close()
    server.close()


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def says(self, word: bytes, seconds: float = SOON) -> bytes:
        self.writer.write(word)
        return await self.hears(len(word), seconds)

    async def hears(self, most: int, seconds: float = SOON) -> bytes:
        async with asyncio.timeout(seconds):
            return await self.reader.readexactly(most)


@pytest_asyncio.fixture
async def line(proxy: Proxy) -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection(*proxy.address)
    yield Line(reader, writer)
    writer.transport.abort()


async def takes_new_line(proxy: Proxy) -> None:
    reader, writer = await asyncio.open_connection(*proxy.address)
    assert await Line(reader, writer).says(b"abc") == b"ABC"
    writer.transport.abort()


async def test_what_is_said_passes_both_ways(line: Line) -> None:
    assert await line.says(b"abc") == b"ABC"


async def test_a_mute_line_stays_open_and_goes_on_later(proxy: Proxy, line: Line) -> None:
    await line.says(b"abc")
    proxy.mute()
    with pytest.raises(TimeoutError):
        await line.says(b"def", A_WHILE)
    proxy.heal()
    assert await line.hears(3) == b"DEF"


async def test_one_way_alone_may_be_mute(proxy: Proxy, line: Line) -> None:
    await line.says(b"abc")
    proxy.mute(BACK)
    with pytest.raises(TimeoutError):
        await line.says(b"def", A_WHILE)
    proxy.heal()
    assert await line.hears(3) == b"DEF"


async def test_a_new_line_to_a_mute_one_gets_no_answer(proxy: Proxy) -> None:
    proxy.mute()
    await asyncio.sleep(A_WHILE)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(A_WHILE):
            await asyncio.open_connection(*proxy.address)
    proxy.heal()
    await takes_new_line(proxy)


async def test_a_reset_ends_open_lines_and_takes_new_ones(proxy: Proxy, line: Line) -> None:
    await line.says(b"abc")
    proxy.reset()
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await line.says(b"def")
    await takes_new_line(proxy)


async def test_one_that_refuses_takes_no_line_until_healed(proxy: Proxy) -> None:
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*proxy.address)
    proxy.heal()
    await takes_new_line(proxy)


async def test_a_slow_line_is_late_and_loses_nothing(proxy: Proxy, line: Line) -> None:
    await line.says(b"abc")
    proxy.delay = A_WHILE
    before = asyncio.get_running_loop().time()
    assert await line.says(b"def") == b"DEF"
    assert asyncio.get_running_loop().time() - before >= 2 * A_WHILE
