"""The attackers of `bench flood`, in a process of their own: python -m midnight.bench.attackers < plan > figures.

Each holds one socket after the other and sends one kind of frames as fast as they are taken, without an account.
"""

import asyncio
import base64
import contextlib
import json
import os
import sys
from dataclasses import dataclass
from typing import Any

import uvloop

MASK = b"\0\0\0\0"
CHUNK = 64 * 1024
# Between two tries of an attacker: even refusing takes the server something.
PAUSE_SECONDS = 0.05


def frame(first: int, payload: bytes = b"") -> bytes:
    """A client's frame of at most 125 bytes; a mask of zeros costs the server what any does."""
    return bytes((first, 0x80 | len(payload))) + MASK + payload


# By kind: what opens it, and what is repeated.
KINDS: dict[str, tuple[bytes, bytes]] = {
    "pings": (b"", frame(0x89, b"x" * 8)),
    "pongs": (b"", frame(0x8A)),
    "empty fragments": (frame(0x01), frame(0x00)),
    "empty texts": (b"", frame(0x81)),
    "beats": (b"", frame(0x81, b"beat")),
    "single bytes": (b"\x82\xfe\xff\xff" + MASK, b"x"),
    "long messages": (b"", b"\x82\xfe\xff\xff" + MASK + b"x" * 65_535),
}


@dataclass
class Figures:
    opened: int = 0
    refused: int = 0
    sent_bytes: int = 0


async def attack(kind: str, plan: dict[str, Any], host: str, figures: Figures) -> None:
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            await one_socket(kind, plan, host, figures)
        await asyncio.sleep(PAUSE_SECONDS)


async def one_socket(kind: str, plan: dict[str, Any], host: str, figures: Figures) -> None:
    """From the handshake until the server has enough."""
    async with asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", plan["port"], local_addr=(host, 0))
    try:
        at = f"localhost:{plan['port']}"
        writer.write(
            f"GET {plan['path']} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode()
        )
        async with asyncio.timeout(30):
            answer = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in answer.split(b"\r\n")[0]:
            figures.refused += b" 429 " in answer.split(b"\r\n")[0]
            return
        figures.opened += 1
        first, repeated = KINDS[kind]
        writer.write(first)
        chunk = repeated if kind == "single bytes" else repeated * max(1, CHUNK // len(repeated))
        # It reads nothing: the answers are not what it is here for.
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            figures.sent_bytes += len(chunk)
            await asyncio.sleep(0)
    finally:
        writer.transport.abort()


async def attack_until_told(plan: dict[str, Any]) -> Figures:
    """One attacker for each address of the plan, until the input ends."""
    figures = Figures()
    kinds = list(KINDS)
    tasks = [
        asyncio.create_task(attack(kinds[number % len(kinds)], plan, host, figures))
        for number, host in enumerate(plan["hosts"])
    ]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return figures


if __name__ == "__main__":
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    done = asyncio.run(attack_until_told(json.loads(sys.stdin.readline())))
    sys.stdout.write(json.dumps(done.__dict__) + "\n")
