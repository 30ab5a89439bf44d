"""A WebSocket client that costs next to nothing, so that a bench measures the server: RFC 6455, text and pings only."""

import asyncio
import base64
import os
from collections.abc import Callable
from typing import cast


class Wire(asyncio.Protocol):
    """One connection. `heard(wire, text)` is called for every text frame, in order."""

    def __init__(self, path: str, host: str, cookie: str, heard: Callable[["Wire", bytes], None]) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.closed = False
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nCookie: {cookie}\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n"
        )
        self._heard = heard
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are asyncio's in all but their class.
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._request.encode())

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        if not self.opened.done():
            self.opened.set_exception(error or ConnectionError("closed before it was open"))

    def say(self, text: bytes) -> None:
        self._send(0x81, text)

    def _send(self, opcode: int, payload: bytes) -> None:
        """Send a frame; its mask is zero, which the server unmasks all the same."""
        length = len(payload)
        head = bytes((opcode, 0x80 | length)) if length < 126 else bytes((opcode, 0xFE)) + length.to_bytes(2, "big")
        self._transport.write(head + b"\0\0\0\0" + payload)

    def close(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        data = self._data + data
        if not self.opened.done():
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self._data = head
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self.opened.set_exception(ConnectionError(head.split(b"\r\n")[0].decode()))
                return
            self.opened.set_result(None)
        start = 0
        while len(data) - start >= 2:
            length, body = data[start + 1], start + 2
            if length == 126:
                length, body = int.from_bytes(data[start + 2 : start + 4], "big"), start + 4
            elif length == 127:
                length, body = int.from_bytes(data[start + 2 : start + 10], "big"), start + 10
            if len(data) < body + length:
                break
            if data[start] == 0x81:
                self._heard(self, data[body : body + length])
            elif data[start] == 0x89:
                self._send(0x8A, data[body : body + length])
            start = body + length
        self._data = data[start:]
