"""A page as PROTOCOL.md describes it: one connection, and the sight that it keeps up to date by what it is told."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

Message = dict[str, Any]


class Page:
    """Joined and listening after `open`. `sight` is what a person would see on the screen."""

    def __init__(self, address: str, cookie: str = "", key: str = "page", token: str = "") -> None:
        self.address, self.key = address, key
        host = address.split("/")[2]
        self.headers = {"Origin": f"http://{host}"}
        if cookie:
            self.headers["Cookie"] = f"sessionid={cookie}"
        if token:
            self.headers = {"Authorization": f"Bearer {token}"}
        self.sight: Message = {}
        self.welcome: Message = {}
        self.cards: dict[str, Message] = {}
        self.head = 0
        self.frames: list[str] = []
        self.notices: list[str] = []
        self.nonce = ""
        self.close_code: int | None = None
        self._socket: ClientConnection | None = None
        self._listener: asyncio.Task[None] | None = None
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._changed = asyncio.Condition()
        self._commands = 0

    async def open(self, again: bool = False) -> "Page":
        self.close_code = None
        self._socket = await connect(self.address, additional_headers=self.headers, max_size=2**20)
        self._listener = asyncio.create_task(self._listen(self._socket))
        after = self.head if again and self.sight else None
        await self._socket.send(json.dumps({"do": "join", "page": self.key, "after": after}))
        await self.until(lambda page: bool(page.welcome) or page.close_code is not None)
        return self

    async def cut(self) -> None:
        """The line breaks: no close, nothing."""
        assert self._socket is not None
        assert self._listener is not None
        self._listener.cancel()
        self._socket.transport.abort()
        self._socket = None

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._listener is not None:
            await asyncio.gather(self._listener, return_exceptions=True)

    async def send(self, **message: Any) -> None:
        assert self._socket is not None
        await self._socket.send(json.dumps(message))

    async def do(self, word: str, command_id: str = "", **fields: Any) -> Message:
        """Say a command; the answer is the frame that acknowledges or refuses it."""
        self._commands += 1
        command_id = command_id or f"{self.key}-{self._commands}"
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[command_id] = answer
        await self.send(do=word, id=command_id, **fields)
        return await asyncio.wait_for(answer, 10)

    async def until(self, holds: Callable[["Page"], bool], seconds: float = 10) -> None:
        """Wait for what the page shows."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: holds(self))

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for frame in socket:
                assert isinstance(frame, str)
                self.frames.append(frame)
                self._take(json.loads(frame))
                async with self._changed:
                    self._changed.notify_all()
        except ConnectionClosed:
            pass
        self.close_code = socket.close_code
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ConnectionError(f"closed with {self.close_code}"))
                answer.exception()
        async with self._changed:
            self._changed.notify_all()

    def _take(self, message: Message) -> None:
        match message["type"]:
            case "welcome":
                self.welcome = message
                self.cards = {card["id"]: card for card in message["edition"]["cards"]}
            case "sight":
                self.sight, self.head = message["sight"], message["head"]
            case "events":
                for event in message["events"]:
                    assert event["seq"] == self.head + 1, f"{event['seq']} came after {self.head}"
                    self.head = event["seq"]
                    show(self.sight, event, self.cards)
                if "sight" in message:
                    self.sight = message["sight"]
                elif "now" in message:
                    now = dict(message["now"])
                    own = now.pop("own", {})
                    self.sight |= now
                    if own:
                        self.sight["players"][self.sight["seat"]] |= own
            case "nonce":
                self.nonce = message["nonce"]
            case "notice":
                self.notices.append(message["code"])
        answer = self._answers.get(message.get("ack") or message.get("id") or "")
        if answer and not answer.done():
            answer.set_result(message)


def show(sight: Message, event: Message, cards: dict[str, Message]) -> None:
    """Put one event into the picture."""
    sight["seq"], sight["at"] = event["seq"], event["at"]
    tiles = sight["tiles"]
    player = sight["players"][event["seat"]] if "seat" in event else None
    match event["type"]:
        case "ready":
            player["ready"] = event["on"]
        case "lifted":
            tiles[event["tile"]].pop("loot", None)
            tiles[event["tile"]] |= {"lies": "hand"} | ({"loot": event["loot"]} if "loot" in event else {})
            player |= {"hand": event["tile"], "lifted_at": event["at"]}
        case "stashed":
            tiles[event["tile"]] |= {"lies": "board", "loot": event["loot"]}
            player |= {"hand": None, "lifted_at": None}
            player["board"].append(event["tile"])
        case "returned":
            lie_back(tiles[event["tile"]], event["face"], event.get("loot"))
            if event["source"] == "board":
                player["board"].remove(event["tile"])
            else:
                player |= {"hand": None, "lifted_at": None}
            if event["by"] == "clock":
                player["let_go"] = sorted([*player["let_go"], event["tile"]])
        case "escaped":
            player["token"] = event["token"]
        case "bought":
            for tile in event["paid"]:
                lie_back(tiles[tile], "down", None)
                player["board"].remove(tile)
            market = sight["markets"][event["market"]]
            if "art" in event:
                market["art"][event["art"]] = None
                player["art"] += event["got"]
            else:
                market["cards"][event["cards"]] = []
                for card in event["got"]:
                    take_card(player, cards[card])
        case "bag_opened":
            lie_back(tiles[event["tile"]], "down", None)
            player["board"].remove(event["tile"])
            if event["got"]:
                player["art"].append(event["got"])
                sight["bag"] -= 1
        case "placed":
            player["art"].remove(event["art"])
            fill(player, cards[event["card"]])


def lie_back(tile: Message, face: str, loot: str | None) -> None:
    tile["lies"] = face
    tile.pop("loot", None)
    if loot:
        tile["loot"] = loot


def take_card(player: Message, card: Message) -> None:
    if card["kind"] == "unique":
        player["face_down"] += 1
    else:
        player["collections"].append({"card": card["id"], "filled": 0})


def fill(player: Message, card: Message) -> None:
    held = next(held for held in player["collections"] if held["card"] == card["id"])
    held["filled"] += 1
    if held["filled"] == len(card["needs"]):
        player["collections"].remove(held)
        player["face_down"] += 1
