"""Daphne, whose open WebSockets leave Twisted for asyncio's transports.

Daphne keeps the port, HTTP, the opening handshake and the application; README.md says what this relies on. A socket
without a descriptor to take (TLS that Daphne ends itself) stays with Autobahn, under the same limits.
"""

import asyncio
import logging
import math
import re
import socket
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import error, reactor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPullProducer, ISSLTransport
from twisted.python.failure import Failure
from zope.interface import implementer

from accounts import addresses
from midnight.websocket import budget, frames
from midnight.websocket.budget import CUT, OPEN, Budget, ExceededError, Households
from midnight.websocket.connection import Bounds, Connection

logger = logging.getLogger(__name__)

# Twisted hands a request on with one such header at most, and without line breaks in it.
_FORWARDED_FOR = re.compile(rb"\r\nx-forwarded-for:([^\r\n]*)", re.IGNORECASE)


class SocketServer(Server):  # type: ignore[misc]  # Daphne has no types
    """Daphne's server with our own open sockets.

    `proxies` is how many of ours add to X-Forwarded-For. `while_running` runs beside everything else until the server
    is asked to stop. Then `before_stop` is awaited: new connections are no longer taken, and the applications and
    sockets are still alive.
    """

    def __init__(
        self,
        *args: Any,
        proxies: int = 0,
        while_running: Callable[[], Coroutine[Any, Any, None]] | None = None,
        before_stop: Callable[[], Awaitable[None]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, ready_callable=self._prepare, **options)
        self._ports: list[Any] = []
        self._while_running = while_running
        self._running: asyncio.Task[None] | None = None
        self._before_stop = before_stop
        self.proxies = proxies
        self.households = Households(budget.LIMITS)
        self.bounds = Bounds(
            message_bytes=self.websocket_max_message_size,
            ping_seconds=self.ping_interval,
            pong_seconds=self.ping_timeout,
        )

    def _prepare(self) -> None:
        """Called by `run` when everything is set up and nothing has been accepted yet."""
        self.ws_factory.protocol = SocketProtocol
        budget.KEPT_OUT.set_function(self.households.kept_out)
        cast(Any, reactor).callWhenRunning(self._begin)
        # After the applications had their say.
        cast(Any, reactor).addSystemEventTrigger("during", "shutdown", self._end_sockets)

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self._ports.append(port)

    def _begin(self) -> None:
        if self._while_running is not None:
            self._running = asyncio.ensure_future(self._while_running())

    def kill_all_applications(self) -> "Deferred[None]":
        """Called when the server is asked to stop; it ends its connections once this is done."""
        # A proxy asks another process from now on; where none is, visitors wait or are refused.
        for port in self._ports:
            port.stopListening()
        if self._running is not None:
            self._running.cancel()
        return Deferred.fromFuture(asyncio.ensure_future(self._end_applications()))

    async def _end_applications(self) -> None:
        if self._before_stop is not None:
            try:
                await self._before_stop()
            except Exception:
                logger.exception("What comes before a stop failed.")
        running = [details.get("application_instance") for details in self.connections.values()]
        tasks = [task for task in running if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def application_checker(self) -> None:
        try:
            super().application_checker()
        except Exception:
            # Daphne would look no more, at any application.
            logger.exception("An application could not be looked at.")
            cast(Any, reactor).callLater(1, self.application_checker)

    def timeout_checker(self) -> None:
        try:
            super().timeout_checker()
        except Exception:
            logger.exception("A connection could not be looked at.")
            cast(Any, reactor).callLater(2, self.timeout_checker)

    def _end_sockets(self) -> None:
        for protocol in list(self.connections):
            if isinstance(protocol, SocketProtocol) and protocol.connection is not None:
                protocol.connection.close(frames.GOING_AWAY)


class SocketProtocol(WebSocketProtocol):  # type: ignore[misc]  # Daphne has no types
    """One WebSocket: Daphne's until it is open, then a Connection's."""

    connection: Connection | None = None
    _budget: Budget | None = None
    _code = frames.ABNORMAL
    _has_shaken_hands = _was_opened = _was_moved = _was_lost = False

    # The opening handshake.

    def dataReceived(self, data: bytes) -> None:
        if self._has_shaken_hands and self.state == self.STATE_CONNECTING:
            # A client waits for our answer (RFC 6455, 4.1), and Autobahn would keep what comes without a limit.
            self.dropConnection(abort=True)
            return
        super().dataReceived(data)

    def processHandshake(self) -> None:
        self._has_shaken_hands = True
        self._household = _household(self.transport.getPeer(), self.data, self.factory.server_class.proxies)
        wait = self.factory.server_class.households.knock(self._household)
        if wait:
            self.failHandshake("Too Many Requests", 429, [("Retry-After", str(math.ceil(wait)))])
            return
        super().processHandshake()

    def succeedHandshake(self, answer: Any) -> None:
        """Open the socket, or be done with it where the line broke while the application made up its mind.

        uvloop stops watching such a line without a word to Twisted, and then raises when it is to be written to.
        """
        try:
            super().succeedHandshake(answer)
        except Exception as problem:
            logger.info("A socket broke before it was open: %s", problem)
            self.transport.abortConnection()
            self.connectionLost(Failure(error.ConnectionLost()))  # type: ignore[no-untyped-call]

    def onOpen(self) -> None:
        super().onOpen()
        self._was_opened = True
        OPEN.inc()
        if not isinstance(self.transport.getHandle(), socket.socket) or ISSLTransport.providedBy(self.transport):
            self._budget = self.server.households.budget(self._household, self._flood)
            return
        self.connection = Connection(
            self, lambda cut: self.server.households.budget(self._household, cut), self.server.bounds
        )
        self.transport.stopReading()
        # The HTTP channel is the transport's producer still.
        self.transport.unregisterProducer()
        self.transport.registerProducer(_WhenWritten(self), False)

    async def move(self) -> None:
        """Give the socket to the connection. All that Twisted had to write is written."""
        if self.connection is None:
            return
        self._was_moved = True
        twisteds: socket.socket = self.transport.getHandle()
        self.transport.unregisterProducer()
        self.transport.stopWriting()
        try:
            ours = twisteds.dup()
        except OSError as problem:
            logger.error("A socket could not be taken over: %s", problem)
            self.connection.abort()
            twisteds.close()
            return
        # Closed without Twisted's knowing, who would shut down what both descriptors stand for.
        twisteds.close()
        connection = self.connection
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, ours)
        except OSError as problem:
            logger.info("A socket broke while it was taken over: %s", problem)
            ours.close()
            connection.abort()

    # For the connection.

    def heard(self, message: str | bytes) -> None:
        kind = "text" if isinstance(message, str) else "bytes"
        self.application_queue.put_nowait({"type": "websocket.receive", kind: message})

    def ended(self, code: int) -> None:
        self._code = code
        if not (self._was_moved or self._was_lost):
            self.transport.abortConnection()
        # Autobahn and Daphne clear up.
        self.connectionLost(Failure(error.ConnectionDone()))  # type: ignore[no-untyped-call]

    def connectionLost(self, reason: Failure) -> None:
        """Called by Twisted before a socket is moved, by us afterwards; the second time nothing is left to do."""
        if not self._was_lost:
            self._was_lost = True
            super().connectionLost(reason)

    # For Daphne.

    def handle_reply(self, message: dict[str, Any]) -> None:
        if self.connection is None:
            super().handle_reply(message)
        elif message["type"] == "websocket.send":
            text = message.get("text")
            self.connection.send(message["bytes"] if text is None else text)
        elif message["type"] == "websocket.close":
            code = message.get("code")
            self.connection.close(frames.NORMAL if code is None else int(code), message.get("reason") or "")

    def handle_exception(self, exception: Exception) -> None:
        if self.connection is None:
            super().handle_exception(exception)
        else:
            self.connection.close(frames.SERVER_ERROR)

    def check_timeouts(self) -> None:
        if self.connection is None:
            super().check_timeouts()
        elif self.duration() > self.server.websocket_timeout >= 0:
            self.connection.close(frames.NORMAL)
        else:
            self.connection.look()

    def onClose(self, was_clean: bool, code: int, reason: str) -> None:
        if self._was_opened:
            self._was_opened = False
            OPEN.dec()
        if self._budget is not None:
            self._budget.close()
        if self.connection is not None:
            connection, self.connection = self.connection, None
            connection.abort()
            code = self._code
        # Daphne knows those only whose handshake was worth an application.
        if self in self.factory.server_class.connections:
            super().onClose(was_clean, code, reason)

    # For Autobahn, where it still takes the frames apart.

    def onFrameBegin(self) -> None:
        if self._budget is not None:
            try:
                self._budget.frame(self.current_frame.length)
            except ExceededError:
                self._flood()
                return
        super().onFrameBegin()

    def _flood(self) -> None:
        CUT.labels("flood").inc()
        # At once: until TLS is properly ended, all that comes would be decrypted.
        self.dropConnection(abort=True)


@implementer(IPullProducer)
class _WhenWritten:
    """Moves a socket when Twisted has written the answer to its handshake."""

    def __init__(self, protocol: SocketProtocol) -> None:
        self._protocol = protocol
        self._asked = False
        self._moving: asyncio.Task[None] | None = None

    def resumeProducing(self) -> None:
        """Asked once when it is registered, and again when there is nothing left to write."""
        if self._asked:
            self._moving = asyncio.get_running_loop().create_task(self._protocol.move())
        self._asked = True

    def stopProducing(self) -> None:
        """The transport ended before."""


def _household(peer: Any, request: bytes, proxies: int) -> str | None:
    """Who asks, as limits count; None where that cannot be known."""
    found = _FORWARDED_FOR.search(request)
    forwarded_for = found[1].decode("latin-1") if found else ""
    address = addresses.client(str(getattr(peer, "host", "")), forwarded_for, proxies)
    return None if address == addresses.UNKNOWN else addresses.household(address)
