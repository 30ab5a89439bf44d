"""The bare loop to compare with: an ASGI application behind the same server that passes on what it is sent, no more.

It speaks just enough of the protocol for the crowd to play: no rules, no log, no people.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

PROGRAM = """
import asyncio, sys, uvloop
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
from midnight.bench.echo import application
from midnight.websocket import budget
budget.LIMITS = budget.UNLIMITED
from midnight.websocket.server import SocketServer
SocketServer(application, endpoints=[f"fd:fileno={sys.argv[1]}"]).run()
"""
SIGHT = json.dumps({"type": "sight", "head": 0, "sight": {"tiles": [{"place": "garage"}] * 54}}, separators=(",", ":"))

Send = Callable[[dict[str, Any]], Awaitable[None]]
heads: dict[str, int] = {}
rooms: dict[str, list[Send]] = {}


async def application(scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send) -> None:
    room = rooms.setdefault(scope["path"], [])
    await receive()
    await send({"type": "websocket.accept"})
    room.append(send)
    while (message := await receive())["type"] == "websocket.receive":
        text: str = message["text"]
        if text.startswith('{"do":"join"'):
            await send({"type": "websocket.send", "text": SIGHT})
        mark = text.rpartition('"id":"')[2].partition('"')[0]
        if not mark:
            continue
        head = heads[scope["path"]] = heads.get(scope["path"], 0) + 1
        kind = "search_started" if '"ready"' in text else "lifted"
        frame = f'{{"type":"events","head":{head},"events":[{{"seq":{head},"at":73001,"type":"{kind}","seat":1}}]'
        own = f'{frame},"ack":"{mark}"}}'
        frame += "}"
        for page in room:
            await page({"type": "websocket.send", "text": own if page is send else frame})
    room.remove(send)
