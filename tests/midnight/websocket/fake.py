"""A connection between a listener that keeps what it hears and a transport that keeps what is written."""

import asyncio

from midnight.websocket import frames
from midnight.websocket.budget import UNLIMITED, Households, Limits
from midnight.websocket.connection import Bounds, Connection


class Heard:
    def __init__(self) -> None:
        self.messages: list[str | bytes] = []
        self.codes: list[int] = []
        self.over = asyncio.Event()

    def heard(self, message: str | bytes) -> None:
        self.messages.append(message)

    def ended(self, code: int) -> None:
        self.codes.append(code)
        self.over.set()


class Transport(asyncio.Transport):
    """Writes to a list. A peer that reads nothing leaves it all waiting."""

    def __init__(self, connection: Connection, *, is_read: bool = True) -> None:
        super().__init__()
        self.connection, self.is_read = connection, is_read
        self.written = b""
        self.high = 65_536
        self.closed = self.aborted = self.ended = self.paused = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high or 65_536

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.ended
        self.written += data
        if not self.is_read and len(self.written) > self.high:
            self.connection.pause_writing()

    def write_eof(self) -> None:
        self.ended = True

    def pause_reading(self) -> None:
        self.paused = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self._end()

    def abort(self) -> None:
        self.aborted = True
        self._end()

    def _end(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)


class Pair:
    """One connection with both its ends. It must be made where an event loop runs."""

    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        limits: Limits = UNLIMITED,
        households: Households | None = None,
        household: str | None = None,
        is_read: bool = True,
    ) -> None:
        self.listener = Heard()
        self.households = Households(limits) if households is None else households
        self.connection = Connection(
            self.listener, lambda cut: self.households.budget(household, cut), bounds or Bounds()
        )
        self.transport = Transport(self.connection, is_read=is_read)

    def open(self) -> "Pair":
        self.connection.connection_made(self.transport)
        return self

    def send(self, data: bytes) -> None:
        """What the peer sends, as far as the server still reads."""
        if not (self.transport.paused or self.transport.closed):
            self.connection.data_received(data)

    @property
    def frames(self) -> list[tuple[int, bytes]]:
        """The frames that were written."""
        return split(self.transport.written)

    @property
    def close_codes(self) -> list[int]:
        """The codes of the close frames that were written; NO_CODE for an empty one."""
        return [frames.close_code(payload) for opcode, payload in self.frames if opcode == frames.CLOSE]


def split(stream: bytes) -> list[tuple[int, bytes]]:
    """A server's whole frames; what is left over is left out."""
    found, at = [], 0
    while len(stream) - at >= 2:
        length, body = stream[at + 1], at + 2
        if length > 125:
            size = 2 if length == 126 else 8
            length, body = int.from_bytes(stream[body : body + size], "big"), body + size
        if len(stream) < body + length:
            break
        found.append((stream[at] & 15, stream[body : body + length]))
        at = body + length
    return found
