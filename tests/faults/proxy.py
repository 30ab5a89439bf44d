"""A TCP proxy between two hosts of a test that can be hurt: it refuses, resets, delays, or goes mute."""

import asyncio
import contextlib
import socket
import struct

Address = tuple[str, int]

# What the kernel keeps of those who connect and are not accepted yet.
BACKLOG = 512
PIECE = 65_536
THERE, BACK = "there", "back"


class Proxy:
    """Forwards what connects to `address` to `target`, as long as nothing is wrong with it.

    Mute: nothing passes, nothing is closed, and a new line gets no answer, as when a host has vanished. A line that
    was mute for a while goes on with all that was sent meanwhile, as TCP does. What no proxy can show is the end of a
    line by the kernel's own time limit: this side of it always acknowledges.
    """

    def __init__(self, target: Address, host: str = "127.0.0.1") -> None:
        self.target = target
        self.delay = 0.0
        self._listener: socket.socket | None = _listening(host, 0)
        self.address: Address = self._listener.getsockname()[:2]
        self._passing = {THERE: asyncio.Event(), BACK: asyncio.Event()}
        self._lines: set[tuple[socket.socket, ...]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        # Connections of our own that fill the backlog while the proxy is mute.
        self._stuffing: list[socket.socket] = []
        self.heal()

    def heal(self) -> None:
        """Forward everything again."""
        self.delay = 0.0
        for ours in self._stuffing:
            ours.close()
        self._stuffing.clear()
        for passing in self._passing.values():
            passing.set()
        if self._listener is None:
            self._listener = _listening(*self.address)
        self._listener.listen(BACKLOG)
        asyncio.get_running_loop().add_reader(self._listener, self._accept, self._listener)

    def mute(self, *ways: str) -> None:
        """Let nothing pass, or nothing that way (THERE or BACK), and close nothing; new lines get no answer."""
        for way in ways or (THERE, BACK):
            self._passing[way].clear()
        if len(ways) != 1:
            self._stop_accepting()
            assert self._listener is not None
            # With a full backlog the kernel drops whatever else asks for a connection.
            self._listener.listen(0)
            for _ in range(4):
                ours = socket.socket()
                ours.setblocking(False)
                ours.connect_ex(self.address)
                self._stuffing.append(ours)

    def refuse(self) -> None:
        """Refuse new lines, and end those that are open."""
        self._stop_accepting()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self.reset()

    def reset(self) -> None:
        """End every open line at once with a reset; new ones are welcome."""
        for line in self._lines:
            for side in line:
                self._break(side)
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        self.refuse()
        for ours in self._stuffing:
            ours.close()
        self._stuffing.clear()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _stop_accepting(self) -> None:
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            near, _ = listener.accept()
            line = (near, socket.socket())
            task = asyncio.create_task(self._serve(*line))
            self._tasks.add(task)
            self._lines.add(line)
            # However it ends, even before it began.
            task.add_done_callback(lambda task: self._ended(task, line))

    def _ended(self, task: asyncio.Task[None], line: tuple[socket.socket, ...]) -> None:
        self._tasks.discard(task)
        self._lines.discard(line)
        for side in line:
            side.close()

    async def _serve(self, near: socket.socket, far: socket.socket) -> None:
        relays: list[asyncio.Task[None]] = []
        try:
            for side in (near, far):
                side.setblocking(False)
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._passing[THERE].wait()
            await asyncio.get_running_loop().sock_connect(far, self.target)
            ways = ((near, far, THERE), (far, near, BACK))
            relays += [asyncio.create_task(self._relay(*way)) for way in ways]
            await asyncio.gather(*relays)
        except OSError:
            # One side broke: the other one is to hear of it in the same way.
            for side in (near, far):
                self._break(side)
        finally:
            for relay in relays:
                relay.cancel()
            await asyncio.gather(*relays, return_exceptions=True)

    @staticmethod
    def _break(side: socket.socket) -> None:
        """Closed next, it says so with a reset."""
        with contextlib.suppress(OSError):
            side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _relay(self, source: socket.socket, sink: socket.socket, way: str) -> None:
        loop = asyncio.get_running_loop()
        while piece := await loop.sock_recv(source, PIECE):
            await self._passing[way].wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            await loop.sock_sendall(sink, piece)
        await self._passing[way].wait()
        sink.shutdown(socket.SHUT_WR)


def _listening(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener
