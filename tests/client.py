"""A player written from games/PROTOCOL.md alone: it takes what it finds, buys what it can, and tries the next best."""

import asyncio
import json
import random
import secrets
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

from websockets.asyncio.client import connect

Json = dict[str, Any]
LIES = {"lifted": "hand", "stashed": "board"}


async def play(address: str, headers: dict[str, str]) -> Json:
    """Play the game at this address to its end; the answer is what is revealed then."""
    async with connect(address, additional_headers=headers) as socket:

        async def say(do: str, wait: float = 0.05, **fields: Any) -> None:  # at most 20 a second
            await asyncio.sleep(wait)
            await socket.send(json.dumps({"do": do, **fields}))

        await say("join", page=secrets.token_hex(5))
        costs = {market["face"]: market["cost"] for market in json.loads(await socket.recv())["edition"]["markets"]}
        await say("nonce", nonce=secrets.token_hex(16))
        await say("beat")
        sight, wishes, asked, ids, beats = Json(), iter(list[Json]()), "", count(1), set()
        async for frame in socket:
            message = json.loads(frame)
            if message["type"] == "beat":
                beats = {asyncio.create_task(say("beat", 2.5, mark=message["mark"]))}
            for event in message.get("events", ()):
                happen(sight, event)
            sight = message.get("sight", sight | message.get("now", {}))
            if sight.get("phase") == "over":
                for task in beats:
                    task.cancel()
                return dict(sight["reveal"])
            if sight and asked in ("", message.get("ack"), message.get("id")):
                if message["type"] != "refused":  # else the next best
                    wishes = choose(sight, costs)
                wish = next(wishes, None)
                asked = str(next(ids)) if wish else ""
                if wish:
                    await say(**wish, id=asked)
    raise ConnectionError("The line broke.")


def happen(sight: Json, event: Json) -> None:
    """Put an event into the picture, as far as this player looks at it."""
    player = sight["players"][event.get("seat", 0)]
    player["token"] = event.get("token", player["token"])
    for tile in event.get("paid", [event["tile"]] if "tile" in event else []):
        lies = LIES.get(event["type"]) or event.get("face", "down")
        sight["tiles"][tile] |= {"lies": lies, "loot": event.get("loot")}
        player["hand"] = tile if lies == "hand" else None
        player["board"] = [kept for kept in player["board"] if kept != tile] + [tile] * (lies == "board")
    if event["type"] == "bought":
        what = "art" if "art" in event else "cards"
        sight["markets"][event["market"]][what][event[what]] = None


def choose(sight: Json, costs: dict[str, Json]) -> Iterator[Json]:
    """What this player wants now, best first: what cannot be is refused, and the next one tried."""
    own, tiles = sight["players"][sight["seat"]], sight["tiles"]
    if sight["phase"] == "gathering":
        yield {"do": "ready", "on": True}
    if sight["phase"] == "search" and own["token"] is None:
        if own["hand"] is not None:
            yield {"do": "stash", "tile": own["hand"]}
            yield {"do": "return", "tile": own["hand"], "face": "down"}
        elif len(own["board"]) == 6:
            yield {"do": "escape"}
        else:
            lying = [tile for tile, seen in enumerate(tiles) if seen["lies"] in ("down", "up")]
            yield from ({"do": "lift", "tile": tile} for tile in random.sample(lying, len(lying)))
    if sight["turn"] == sight["seat"]:
        board = {tile: tiles[tile]["loot"] for tile in own["board"]}
        for number, market in enumerate(sight["markets"]):
            cost = Counter(costs[market["face"]])
            if cost <= Counter(board.values()):
                pay = [tile for loot in cost for tile in [tile for tile in board if board[tile] == loot][: cost[loot]]]
                slots = [(what, slot) for what in ("cards", "art") for slot, it in enumerate(market[what]) if it]
                yield from ({"do": "buy", "market": number, what: slot, "pay": pay} for what, slot in slots)
        yield from ({"do": "open_bag", "tile": tile} for tile in board if board[tile] == "bag")
        yield {"do": "pass"}
