"""Daphne's HTTP with bounds: what a connection may send, how fast, and by when.

A head has to be complete `HEAD_SECONDS` after its first byte, a body has a length and a slowest speed, and an idle
connection is closed. What is refused is answered here, with a page made beforehand: Django never hears of it.
"""

from typing import Any

import daphne.server
from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel

from accounts import addresses
from midnight.edge import probes, refusals
from midnight.edge.admission import DESCRIPTORS, MALFORMED, TOO_LARGE, TOO_SLOW, Admission, Refusal, admission

HEAD_SECONDS = 15
BODY_SECONDS = 15
BODY_BYTES_A_SECOND = 16 * 1024
# Longer than a proxy keeps its idle connections (nginx: 60 s), so that it never sends a request into one that closes.
IDLE_SECONDS = 75
# What was answered before its body was read: the rest is read and dropped so that the answer is not lost to a reset.
DROP_SECONDS = 3
DROP_BYTES = 8 * 1024 * 1024
# A connection that is refused as a whole has sent at most a head.
DOOR_SECONDS = 1
# An answer that its reader does not take.
ABORT_SECONDS = 15

UPLOAD_BYTES = {b"/replay/": 2 * 1024 * 1024}


def longest_body(path: bytes) -> int:
    """The bytes that a request's body may have at this path: nginx.conf says the same."""
    return UPLOAD_BYTES.get(path, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


class Request(WebRequest):
    """A request that counts while it is under way, and whose body ends where it may."""

    household = ""

    def __init__(self, channel: "Channel", queued: object) -> None:
        # Django parses forms; Twisted would do so too, in the event loop.
        super().__init__(channel, queued, parsePOSTFormSubmission=False)
        self.longest = 0
        self.received = 0
        self.leave = _nothing

    def asks_for_socket(self) -> bool:
        upgrade = self.requestHeaders.getRawHeaders(b"Upgrade", [b""])
        return bool(upgrade[0].lower() == b"websocket")

    def handleContentChunk(self, data: bytes) -> None:
        if self.channel.refused:
            return
        self.received += len(data)
        if self.received > self.longest:
            self.channel.refuse(TOO_LARGE)
        else:
            super().handleContentChunk(data)

    def process(self) -> object:
        # Only now: a body that comes slowly takes no place from others.
        self.leave = self.channel.admission.requests.enter(self.household)
        processing = super().process()
        if self.transport is None:  # It is a socket now, which the ASGI layer counts.
            self.leave()
            self.channel.leave()
        return processing

    def finish(self) -> None:
        self.leave()
        super().finish()

    def connectionLost(self, reason: Failure) -> None:
        self.leave()
        super().connectionLost(reason)


class Channel(HTTPChannel):
    """One HTTP connection."""

    # Twisted's own types of these are wider than what a served connection has.
    transport: Any
    persistent: Any
    _command: Any
    _path: Any

    def __init__(self) -> None:
        super().__init__()
        self.admission: Admission = admission()
        self.refused = False
        self.leave = _nothing
        self._waits_for_head = False
        self._reads = True
        self._dropped = 0

    def connectionMade(self) -> None:
        self.timeOut = HEAD_SECONDS
        super().connectionMade()
        peer = addresses.household(addresses.tidy(self._peer()))
        refusal = self.admission.check_connection(peer, self.transport.fileno())
        self.leave = self.admission.connections.enter(peer)
        if refusal:
            self.refuse(refusal, within=DOOR_SECONDS)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.leave()
        super().connectionLost(reason)

    def _peer(self) -> str:
        """The address at the other end, empty for a unix socket's."""
        return getattr(self.getPeer(), "host", "")

    # What arrives --------------------------------------------------------------------------------------------------

    def dataReceived(self, data: bytes) -> None:
        if self.refused:
            self._dropped += len(data)
            if self._dropped > DROP_BYTES:
                self.transport.abortConnection()
            return
        if self._waits_for_head:
            self._waits_for_head, self._reads = False, True
            self.setTimeout(HEAD_SECONDS)
        super().dataReceived(data)

    def resetTimeout(self) -> None:
        """A byte now and then buys no time."""

    def lineReceived(self, line: bytes) -> None:
        if not self.refused:
            super().lineReceived(line)

    def rawDataReceived(self, data: bytes) -> None:
        if not self.refused:
            super().rawDataReceived(data)

    def allHeadersReceived(self) -> None:
        request: Request = self.requests[-1]
        # Daphne takes it from any visitor, and it would move every address of the site (application.py).
        request.requestHeaders.removeHeader(b"Daphne-Root-Path")
        path = self._path.partition(b"?")[0]
        request.longest = longest_body(path)
        if refusal := self._check(request, path):
            self.refuse(refusal, self._command, path)
            return
        super().allHeadersReceived()
        if self.length != 0:
            self.setTimeout(BODY_SECONDS + (self.length or request.longest) // BODY_BYTES_A_SECOND)

    def _check(self, request: Request, path: bytes) -> Refusal | None:
        if self.length is not None and self.length > request.longest:
            return TOO_LARGE
        is_socket = request.asks_for_socket()
        protocols = request.requestHeaders.getRawHeaders(b"Sec-WebSocket-Protocol", [])
        if not (self._command.isascii() and all(name.isascii() for name in protocols)):
            return MALFORMED
        forwarded = b",".join(request.requestHeaders.getRawHeaders(b"X-Forwarded-For", [])).decode("latin-1")
        request.household = addresses.household(addresses.client(self._peer(), forwarded, settings.TRUSTED_PROXIES))
        if probes.is_probe(path) and probes.is_near(self._peer(), forwarded):
            return None  # A process that is full lives all the same.
        return self.admission.check_request(request.household, path, is_socket)

    def allContentReceived(self) -> None:
        if self.refused:
            return
        self._reads = False
        self.timeOut = IDLE_SECONDS  # for when the answer has been given: until then it has no timeout
        super().allContentReceived()

    # Its end -------------------------------------------------------------------------------------------------------

    def requestDone(self, request: Request) -> None:
        self._waits_for_head = self.persistent
        super().requestDone(request)
        if not self.persistent:
            self.setTimeout(IDLE_SECONDS)

    def timeoutConnection(self) -> None:
        if self._reads and not self.refused and not self.transport.disconnecting:
            self.refuse(TOO_SLOW)
        elif self.transport.disconnecting or self.refused:
            self.transport.abortConnection()
        else:
            self.setTimeout(ABORT_SECONDS)
            self.loseConnection()

    def refuse(self, refusal: Refusal, method: bytes = b"", path: bytes = b"", within: float = DROP_SECONDS) -> None:
        """Answer at once, and drop what still arrives."""
        self.refused = True
        self.admission.refused(refusal)
        self.transport.write(refusals.answer(refusal, method, path))
        self.setTimeout(within)
        self.transport.loseWriteConnection()


class Factory(HTTPFactory):
    """Daphne's, with our connections and requests."""

    protocol = Channel

    def buildProtocol(self, addr: IAddress | None) -> Any:
        if admission().is_closed():
            admission().refused(DESCRIPTORS)
            return None  # Twisted closes it at once.
        channel = super().buildProtocol(addr)
        channel.requestFactory = Request
        return channel


def install() -> None:
    """Let Daphne's server, which makes its factory by this name, make ours."""
    daphne.server.HTTPFactory = Factory


def _nothing() -> None:
    """What takes back a place that was never taken."""
