"""A TCP proxy that can fall silent as a host does that vanishes: nothing is refused, nothing is closed, no packet is
acknowledged, and a new connection gets no answer to its first packet.

A server that is killed or stopped never shows this: its kernel goes on answering.
"""

import asyncio
import ctypes
import socket
import struct
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
# BPF_RET | BPF_K with 0: of each packet take nothing.
DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))

Target = Path | tuple[str, int]


class MutableProxy:
    """Carries connections from a port of its own to `target`, a unix socket or a host and port, from its own thread."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._sockets: set[Any] = set()
        self._carried: set[asyncio.Task[None]] = set()
        self._speaks = asyncio.Event()
        self._speaks.set()
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def mute(self) -> None:
        """From now on no packet comes through, nor any acknowledgement."""
        self._call(self._mute)

    def unmute(self) -> None:
        """Carry again, first what was held back. Connections that were given up meanwhile stay so."""
        self._call(self._unmute)

    def cut(self) -> None:
        """Close every connection."""
        self._call(self._cut)

    def stop(self) -> None:
        self._call(self._unmute)
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, do: Callable[[], None]) -> None:
        async def done() -> None:
            do()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result()

    async def _listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._sockets.update(server.sockets)
        return server

    def _mute(self) -> None:
        self._speaks.clear()
        program = struct.pack("HL", 1, ctypes.addressof(DROP_ALL))
        for one in self._sockets:
            one.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)

    def _unmute(self) -> None:
        if not self._speaks.is_set():
            for one in self._sockets:
                one.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
            self._speaks.set()

    def _cut(self) -> None:
        for task in self._carried:
            task.cancel()

    async def _stop(self) -> None:
        self._server.close()
        self._cut()
        await asyncio.gather(*self._carried, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._carry(reader, writer))
        self._carried.add(task)
        task.add_done_callback(self._carried.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        near = writer.get_extra_info("socket")
        self._sockets.add(near)
        try:
            async with self._target_streams() as (there, back), asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, back))
                both.create_task(self._pump(there, writer))
        except* OSError:
            pass
        finally:
            self._sockets.discard(near)
            writer.close()

    @asynccontextmanager
    async def _target_streams(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        if isinstance(self._target, Path):
            reader, writer = await asyncio.open_unix_connection(self._target)
        else:
            reader, writer = await asyncio.open_connection(*self._target)
        try:
            yield reader, writer
        finally:
            writer.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            await self._speaks.wait()
            sink.write(data)
            await sink.drain()
        await self._speaks.wait()
        sink.close()
        # The other direction ends with this one.
        raise ConnectionResetError


@contextmanager
def proxy_to(target: Target) -> Iterator[MutableProxy]:
    proxy = MutableProxy(target)
    try:
        yield proxy
    finally:
        proxy.stop()
