"""SocketServer in a process of its own, with an application that answers what it is told, and clients of bare sockets.

As a program it serves: python -m tests.midnight.websocket.served PROXIES ENDPOINT. It prints what its sockets hear.
"""

import base64
import contextlib
import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from midnight import stack
from midnight.websocket import frames
from tests.midnight.running import ROOT, eventually
from tests.midnight.websocket import client
from tests.midnight.websocket.client import frame
from tests.midnight.websocket.fake import split

PATIENCE = 60
BIG = "x" * 60_000


class Site:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], address: Any, tls: ssl.SSLContext | None) -> None:
        self.process, self.address, self.tls = process, address, tls
        self._heard: list[tuple[str, Any]] = []
        self._lines: list[socket.socket] = []
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self._heard.append(tuple(json.loads(line)))

    def hang_up(self) -> None:
        """Close every connection that was made so far."""
        for line in self._lines:
            line.close()
        self._lines.clear()

    def stop(self) -> None:
        self.hang_up()
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._listener.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def heard(self, path: str) -> list[Any]:
        """What the application heard on sockets of this path."""
        return [message for where, message in self._heard if where == path]

    def until_heard(self, path: str, *messages: Any) -> None:
        eventually(lambda: self.heard(path) == list(messages), PATIENCE)

    def connect(self, host: str = "") -> socket.socket:
        """A connection from this address of the loopback network."""
        line = socket.socket(socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET)
        self._lines.append(line)
        line.settimeout(PATIENCE)
        if host and not isinstance(self.address, str):
            line.bind((host, 0))
        line.connect(self.address)
        if self.tls:
            line = self.tls.wrap_socket(line)
            self._lines.append(line)
        return line

    def open(self, path: str = "/", host: str = "", **headers: str) -> "Client":
        """An open socket."""
        made = self.shake_hands(path, host, **headers)
        assert made.status == 101, made.status
        return made

    def shake_hands(self, path: str = "/", host: str = "", **headers: str) -> "Client":
        made = Client(self.connect(host))
        made.line.sendall(request(path, headers))
        made.read_answer()
        return made

    def page(self, path: str = "/", host: str = "") -> tuple[int, str]:
        """An ordinary page's status and body."""
        line = self.connect(host)
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while data := line.recv(65_536):
            answer += data
        line.close()
        head, _, body = answer.decode().partition("\r\n\r\n")
        return int(head.split()[1]), body

    def figure(self, name: str) -> float:
        """One of its metrics, summed over its labels."""
        found = re.findall(rf"^{name}(?:{{.*}})? (.*)$", self.page("/metrics")[1], re.MULTILINE)
        return sum(map(float, found))


class Client:
    """The client's end of a socket."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.status = 0
        self.headers = ""
        self._read = b""

    def read_answer(self) -> None:
        answer = b""
        while b"\r\n\r\n" not in answer:
            if not (data := self.line.recv(65_536)):
                break
            answer += data
        head, _, self._read = answer.partition(b"\r\n\r\n")
        self.headers = head.decode()
        self.status = int(self.headers.split()[1]) if head else 0

    def send(self, *stream: bytes) -> None:
        """Send this, as far as the server still reads."""
        with contextlib.suppress(OSError):
            self.line.sendall(b"".join(stream))

    def say(self, *texts: str) -> None:
        self.send(*map(client.text, texts))

    def receive(self, number: int = 1) -> list[tuple[int, bytes]]:
        """The next so many frames; fewer when the connection ends before."""
        while len(split(self._read)) < number and (data := self._recv()):
            self._read += data
        found = split(self._read)[:number]
        self._read = self._read[sum(len(frames.encode(*one)) for one in found) :]
        return found

    def texts(self, number: int) -> list[str]:
        return [payload.decode() for opcode, payload in self.receive(number) if opcode == frames.TEXT]

    def rest(self) -> list[tuple[int, bytes]]:
        """All that comes until the connection ends."""
        return self.receive(10**6)

    def close_code(self) -> int | None:
        """The code in the close frame that comes, which is answered; None when the connection ends without one."""
        while found := self.receive():
            opcode, payload = found[0]
            if opcode == frames.CLOSE:
                self.send(frame(frames.CLOSE, payload))
                return frames.close_code(payload)
        return None

    def _recv(self) -> bytes:
        try:
            return self.line.recv(65_536)
        except TimeoutError:
            raise
        except OSError:
            return b""

    def reset(self) -> None:
        """End with RST."""
        self.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.line.close()


def request(path: str, headers: dict[str, str]) -> bytes:
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n{more}\r\n"
    ).encode()


@contextlib.contextmanager
def serving(kind: str, folder: Path, proxies: int = 0) -> Iterator[Site]:
    """A server on a TCP port (`tcp`, `tls`) or a unix socket (`unix`)."""
    address: Any
    tls, listening = None, None
    if kind == "unix":
        address = str(folder / "socket")
        endpoint = f"unix:{address}"
    elif kind == "tcp":
        listening = stack.listen("127.0.0.1", 0)
        address = listening.getsockname()
        endpoint = f"fd:fileno={listening.fileno()}"
    else:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = probe.getsockname()
        certificate = self_signed(folder / "certificate.pem")
        endpoint = f"ssl:port={address[1]}:interface=127.0.0.1:privateKey={certificate}:certKey={certificate}"
        tls = ssl.create_default_context(cafile=str(certificate))
        tls.check_hostname = False
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.midnight.websocket.served", str(proxies), endpoint],
        cwd=ROOT,
        pass_fds=[listening.fileno()] if listening else [],
        stdout=subprocess.PIPE,
        text=True,
    )
    site = Site(process, address, tls)
    try:
        eventually(lambda: _answers(site) or process.poll() is not None, PATIENCE)
        yield site
    finally:
        site.stop()
        if listening:
            listening.close()


def _answers(site: Site) -> bool:
    try:
        return site.page()[0] == 200
    except OSError:
        return False


def self_signed(path: Path) -> Path:
    """A key with its certificate, in one file."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


# The server.


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await _page(scope["path"], receive, send)
        return
    path = scope["path"]
    await receive()
    if path == "/refuse":
        await send({"type": "websocket.close"})
        return
    await send({"type": "websocket.accept"})
    if path.startswith("/moments"):
        _say("/moments", "opened")
    if path in ("/close-at-once", "/moments/close"):
        await send({"type": "websocket.send", "text": "bye"})
        await send({"type": "websocket.close", "code": 4404})
    if path == "/raise-at-once":
        raise ArithmeticError("asked to")
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            _say("/moments" if path.startswith("/moments") else path, message["code"])
            return
        text, data = message.get("text"), message.get("bytes")
        if path not in ("/", "/moments", "/moments/close"):
            _say(path, text if data is None else len(data))
        if text == "close":
            await send({"type": "websocket.close", "code": 4001})
        elif text == "raise":
            raise ArithmeticError("asked to")
        elif text == "big":
            for _ in range(400):
                await send({"type": "websocket.send", "text": BIG})
        else:
            await send({"type": "websocket.send", "text": text, "bytes": data})


async def _page(path: str, receive: Any, send: Any) -> None:
    from prometheus_client import generate_latest

    await receive()
    body = generate_latest() if path == "/metrics" else b"a page"
    headers = [(b"Content-Length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _say(path: str, message: Any) -> None:
    sys.stdout.write(json.dumps([path, message]) + "\n")
    sys.stdout.flush()


def serve(proxies: int, endpoint: str) -> None:
    import asyncio
    import logging

    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    logging.getLogger("daphne.server").setLevel(logging.CRITICAL)
    from midnight.websocket.server import SocketServer

    SocketServer(
        application,
        endpoints=[endpoint],
        proxies=proxies,
        websocket_max_message_size=64 * 1024,
        websocket_max_frame_size=64 * 1024,
        server_name="",
    ).run()


if __name__ == "__main__":
    # Dies with its tests.
    stack.die_with(os.getppid())
    serve(int(sys.argv[1]), sys.argv[2])
