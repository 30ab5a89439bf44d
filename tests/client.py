"""A player written from games/PROTOCOL.md alone: it takes what it finds, and buys what it can."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Iterator
from random import randrange
from typing import Any

from websockets.asyncio.client import connect

Json = dict[str, Any]


async def play(address: str, headers: dict[str, str]) -> Json:
    """Play the game at this address to its end; the answer is what is revealed then."""
    sight, mark, board = Json(), Json(), dict[int, str]()
    async with connect(address, additional_headers=headers) as socket:

        async def say(do: str, **fields: Any) -> None:
            await asyncio.sleep(0.05)  # at most 20 a second
            await socket.send(json.dumps({"do": do, **fields}))

        async def hear() -> Json:
            message: Json = json.loads(await socket.recv())
            mark.update({"mark": message["mark"]} if "mark" in message else {})
            sight.update(message.get("sight", message.get("now", {})))
            return message

        async def ask(do: str, **fields: Any) -> list[Json]:
            """What happens then; nothing where it is refused."""
            asked, answer = secrets.token_hex(5), Json()
            await say(do, id=asked, **fields)
            while asked not in (answer.get("ack"), answer.get("id")):
                answer = await hear()
            return list(answer.get("events", ()))

        async def beat() -> None:
            while True:
                await say("beat", **mark)
                await asyncio.sleep(2.5)

        await say("join", page=secrets.token_hex(5))
        costs = {market["face"]: market["cost"] for market in (await hear())["edition"]["markets"]}
        nonce, fixed = secrets.token_bytes(16), Json()
        await say("share", share=hashlib.sha256(nonce).hexdigest())
        while fixed.get("type") != "shares":
            fixed = await hear()
        assert hashlib.sha256(nonce).hexdigest() in fixed["shares"]
        await say("nonce", nonce=nonce.hex())
        beating = asyncio.create_task(beat())
        while "reveal" not in sight:
            phase = sight.get("phase")
            if phase == "gathering" and await ask("ready", on=True):
                board.clear()
            elif phase == "search" and len(board) < 6:
                tile = randrange(54)
                for event in await ask("lift", tile=tile):
                    if event["type"] == "lifted" and event["tile"] == tile:
                        if await ask("stash", tile=tile):
                            board[tile] = event["loot"]
                        else:
                            await ask("return", tile=tile, face="down")
            elif phase == "search" and await ask("escape"):
                sight["phase"] = "escaped"
            elif phase == "exchange" and sight["turn"] == sight["seat"]:
                for trade in trades(sight["markets"], costs, board):
                    if await ask(**trade):
                        for tile in trade.get("pay", [trade.get("tile")]):
                            board.pop(tile, None)
                        break
            else:
                await hear()
        beating.cancel()
    return dict(sight["reveal"])


def trades(markets: list[Json], costs: dict[str, Json], board: dict[int, str]) -> Iterator[Json]:
    """What may be done in one's turn, best first: what is sold is refused, and the next one tried."""
    for number, market in enumerate(markets):
        cost = costs[market["face"]]
        pay = [tile for loot in cost for tile in [tile for tile in board if board[tile] == loot][: cost[loot]]]
        if len(pay) == sum(cost.values()):
            slots = [(what, slot) for what in ("cards", "art") for slot in range(len(market[what]))]
            yield from ({"do": "buy", "market": number, what: slot, "pay": pay} for what, slot in slots)
    yield from ({"do": "open_bag", "tile": tile} for tile in board if board[tile] == "bag")
    yield {"do": "pass"}
