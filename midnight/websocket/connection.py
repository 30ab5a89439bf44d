"""An open WebSocket on an asyncio transport: messages, control frames, the closing handshake, and what bounds them."""

import asyncio
import enum
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from midnight.websocket import frames
from midnight.websocket.budget import CUT, Budget, ExceededError

logger = logging.getLogger(__name__)

# As PROTOCOL.md has it.
FLOOD = 4429


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one connection."""

    message_bytes: int = 64 * 1024
    # Written by us and not yet taken by the peer's side of the network.
    unread_bytes: int = 512 * 1024
    ping_seconds: float = 20.0
    pong_seconds: float = 30.0
    # From the first byte of a message to its last.
    message_seconds: float = 20.0
    # For the peer's half of a closing handshake, and for reading why it was cut.
    close_seconds: float = 3.0
    cut_seconds: float = 1.0


class Listener(Protocol):
    """The side that the application is on."""

    def heard(self, message: str | bytes) -> None:
        """A whole message came."""

    def ended(self, code: int) -> None:
        """The connection is over; called once, and nothing after it."""


class _State(enum.Enum):
    OPEN = enum.auto()
    # Our close frame is out, the peer's is to come.
    CLOSING = enum.auto()
    # No more is read or written; the transport has still to end.
    DONE = enum.auto()


class Connection(asyncio.Protocol):
    """A server's side of a WebSocket whose opening handshake is done.

    It may be written to and closed before it has its transport. Nothing that the peer does raises: any fault
    ends the connection, and `ended` tells.
    """

    __slots__ = (
        "_bounds",
        "_budget",
        "_code",
        "_end",
        "_fragments",
        "_kind",
        "_listener",
        "_loop",
        "_parser",
        "_partial_since",
        "_ping",
        "_pinged_at",
        "_state",
        "_transport",
        "_unsent",
    )

    def __init__(
        self, listener: Listener, budget: Callable[[Callable[[], None]], Budget], bounds: Bounds | None = None
    ) -> None:
        self._listener: Listener | None = listener
        self._bounds = bounds or Bounds()
        self._loop = asyncio.get_running_loop()
        self._budget = budget(self._flood)
        self._parser = frames.Parser(self._bounds.message_bytes, self._budget.frame)
        self._state = _State.OPEN
        self._transport: asyncio.Transport | None = None
        # What was said before there was a transport.
        self._unsent: list[bytes] = []
        self._code = frames.ABNORMAL
        self._end: asyncio.TimerHandle | None = None
        self._kind = frames.TEXT
        self._fragments: list[bytes] = []
        self._partial_since: float | None = None
        self._ping = b""
        self._pinged_at = self._loop.time()

    # For the application.

    def send(self, message: str | bytes) -> None:
        """Send a text or bytes; nothing happens when the connection is closing or over."""
        if self._state is not _State.OPEN:
            return
        if isinstance(message, str):
            self._write(frames.encode(frames.TEXT, message.encode()))
        else:
            self._write(frames.encode(frames.BINARY, message))

    def close(self, code: int, reason: str = "") -> None:
        """Begin the closing handshake. A peer that does not answer is cut after a while."""
        if self._state is not _State.OPEN:
            return
        self._state = _State.CLOSING
        self._write(frames.encode_close(code, reason))
        self._abort_after(self._bounds.close_seconds)

    def abort(self) -> None:
        """End it at once, without a word."""
        self._state = _State.DONE
        if self._transport is None:
            self.connection_lost(None)
        else:
            self._transport.abort()

    def look(self) -> None:
        """To be called every few seconds: ping the peer, and end a connection whose peer does not answer."""
        if self._state is not _State.OPEN:
            return
        now = self._loop.time()
        if self._transport is None:
            if now - self._pinged_at > self._bounds.pong_seconds:
                self.abort()
        elif self._partial_since is not None and now - self._partial_since > self._bounds.message_seconds:
            self._fail(frames.POLICY, "a message took too long", "slow message")
        elif self._ping and now - self._pinged_at > self._bounds.pong_seconds:
            CUT.labels("silent").inc()
            self.abort()
        elif not self._ping and now - self._pinged_at > self._bounds.ping_seconds:
            self._pinged_at, self._ping = now, os.urandom(4)
            self._write(frames.encode(frames.PING, self._ping))

    # For the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are asyncio's in all but their class.
        self._transport = cast(asyncio.Transport, transport)
        if self._listener is None:
            self._transport.abort()
            return
        # The transport says so when more than that is waiting.
        self._transport.set_write_buffer_limits(high=self._bounds.unread_bytes)
        unsent, self._unsent = b"".join(self._unsent), []
        if unsent:
            self._transport.write(unsent)
        if self._is_done:
            self._transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        if self._is_done:
            return
        try:
            self._budget.read()
            self._parser.feed(data)
            while (frame := self._parser.next()) is not None:
                self._take(*frame)
                if self._is_done:
                    return
        except ExceededError:
            self._flood()
            return
        except frames.ViolationError as violation:
            self._fail(violation.code, violation.reason, "protocol")
            return
        if self._parser.is_between_messages:
            self._partial_since = None
        elif self._partial_since is None:
            self._partial_since = self._loop.time()

    def eof_received(self) -> None:
        """The peer sends no more: the transport writes what there is, and ends."""
        self._state = _State.DONE
        self._abort_after(self._bounds.close_seconds)

    def pause_writing(self) -> None:
        CUT.labels("unread").inc()
        self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        listener, self._listener = self._listener, None
        if listener is None:
            return
        self._state, self._transport = _State.DONE, None
        if self._end is not None:
            self._end.cancel()
            self._end = None
        self._budget.close()
        # The parser holds a method of the budget's, which holds one of ours: a ring that only the collector would end.
        del self._parser, self._budget
        self._fragments, self._unsent = [], []
        listener.ended(self._code)

    # Frames.

    def _take(self, final: bool, opcode: int, payload: bytes) -> None:
        if opcode == frames.PING:
            if self._state is _State.OPEN:
                self._write(frames.encode(frames.PONG, payload))
        elif opcode == frames.PONG:
            if payload == self._ping:
                self._ping = b""
        elif opcode == frames.CLOSE:
            self._answer_close(payload)
        elif self._state is not _State.OPEN:
            return
        elif final and opcode != frames.CONTINUATION:
            self._hear(opcode, payload)
        else:
            self._join(final, opcode, payload)

    def _join(self, final: bool, opcode: int, payload: bytes) -> None:
        """One fragment of a message."""
        if opcode != frames.CONTINUATION:
            self._kind = opcode
        if payload:
            self._fragments.append(payload)
        if final:
            whole, self._fragments = b"".join(self._fragments), []
            self._hear(self._kind, whole)

    def _hear(self, kind: int, payload: bytes) -> None:
        assert self._listener is not None
        self._listener.heard(frames.text(payload) if kind == frames.TEXT else payload)

    def _answer_close(self, payload: bytes) -> None:
        self._code = frames.close_code(payload)
        if self._state is _State.OPEN:
            self._write(frames.encode_close(self._code))
        self._state = _State.DONE
        assert self._transport is not None
        self._transport.close()
        # A peer that reads nothing would keep it open.
        self._abort_after(self._bounds.close_seconds)

    # Ends.

    @property
    def _is_done(self) -> bool:
        return self._state is _State.DONE

    def _flood(self) -> None:
        """The peer has sent too much."""
        self._fail(FLOOD, "too many frames", "flood")

    def _fail(self, code: int, reason: str, why: str) -> None:
        """Say what was wrong, read no more, and end as soon as the peer had a moment to hear it."""
        if self._is_done:
            return
        CUT.labels(why).inc()
        logger.debug("A socket is closed with %d: %s.", code, reason)
        if self._state is _State.OPEN:
            self._write(frames.encode_close(code, reason))
        # Writing may have ended it.
        if self._listener is None:
            return
        self._state = _State.DONE
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()
            self._transport.write_eof()
        self._abort_after(self._bounds.cut_seconds)

    def _abort_after(self, seconds: float) -> None:
        if self._end is not None:
            self._end.cancel()
        if self._listener is not None:
            self._end = self._loop.call_later(seconds, self.abort)

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)
