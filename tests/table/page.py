"""A page as PROTOCOL.md describes it: what it shows, kept up to date by what it is told, and its connection."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

Message = dict[str, Any]

BEAT_SECONDS = 2.5
OF_MOVES = {"moves_wait", "moves_count", "uncertain"}


class Picture:
    """What a person sees on the screen, kept up to date by what the page is told and by nothing else."""

    def __init__(self) -> None:
        # Whose page it is, as the one who opened it knows; None for a spectator.
        self.seat: int | None = None
        self.sight: Message = {}
        self.welcome: Message = {}
        self.cards: dict[str, Message] = {}
        self.head = 0
        self.frames: list[str] = []
        # Why its connections were closed, and how it stood with the moves.
        self.notices: list[str] = []
        self.of_moves: list[str] = []
        self.nonce = ""
        self.share: str | None = ""
        self.shares: Message = {}
        self.mark = ""

    def take(self, frame: str) -> Message:
        """Put one message into the picture."""
        self.frames.append(frame)
        message: Message = json.loads(frame)
        match message["type"]:
            case "welcome":
                self.welcome = message
                self.cards = {card["id"]: card for card in message["edition"]["cards"]}
            case "sight":
                self.sight, self.head = message["sight"], message["head"]
            case "events":
                self._happen(message)
            case "share":
                self.share = message["share"]
            case "shares":
                self.shares = message
            case "nonce":
                self.nonce = message["nonce"]
            case "beat":
                self.mark = message["mark"]
            case "notice":
                code = message["code"]
                (self.of_moves if code in OF_MOVES else self.notices).append(code)
        return message

    def _happen(self, message: Message) -> None:
        for event in message["events"]:
            assert event["seq"] == self.head + 1, f"{event['seq']} came after {self.head}"
            self.head = event["seq"]
            show(self.sight, event, self.cards)
        assert self.head == message["head"]
        if "sight" in message:
            self.sight = message["sight"]
        elif "now" in message:
            now = dict(message["now"])
            own = now.pop("own", {})
            self.sight |= now
            if own:
                self.sight["players"][self.sight["seat"]] |= own


class Page(Picture):
    """Joined and listening after `open`."""

    def __init__(self, address: str, cookie: str = "", key: str = "page", token: str = "") -> None:
        super().__init__()
        self.address, self.key = address, key
        host = address.split("/")[2]
        self.headers = {"Origin": f"http://{host}"}
        if cookie:
            self.headers["Cookie"] = f"sessionid={cookie}"
        if token:
            self.headers = {"Authorization": f"Bearer {token}"}
        self.close_code: int | None = None
        self._socket: ClientConnection | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._changed = asyncio.Condition()
        self._commands = 0

    async def open(self) -> "Page":
        """Connect, for the first time or again; then the page has what it missed, or its connection was closed."""
        await self.close()
        self.close_code = None
        self.welcome = {}
        self._socket = await connect(self.address, additional_headers=self.headers, max_size=2**20)
        self._tasks = [asyncio.create_task(self._listen(self._socket)), asyncio.create_task(self._beat(self._socket))]
        after = self.head if self.sight else None
        await self._socket.send(json.dumps({"do": "join", "page": self.key, "after": after}))
        await self.until(lambda page: page.close_code is not None or self._is_up_to_date())
        return self

    @property
    def is_open(self) -> bool:
        return self._socket is not None and self._socket.state is State.OPEN

    def _is_up_to_date(self) -> bool:
        return bool(self.welcome) and self.head >= self.welcome["head"]

    async def cut(self) -> None:
        """The line breaks: no close, nothing."""
        assert self._socket is not None
        self._socket.transport.abort()
        await self._end()

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        await self._end()

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._let_down(ConnectionError("cut"))

    async def send(self, **message: Any) -> None:
        await self.send_raw(json.dumps(message))

    async def send_raw(self, frame: str | bytes | list[str]) -> None:
        assert self._socket is not None
        await self._socket.send(frame)

    def new_id(self) -> str:
        self._commands += 1
        return f"{self.key}-{self._commands}"

    async def do(self, word: str, command_id: str = "", **fields: Any) -> Message:
        """Say a command; the answer is the message that acknowledges or refuses it, ConnectionError if none comes."""
        command_id = command_id or self.new_id()
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[command_id] = answer
        try:
            await self.send(do=word, id=command_id, **fields)
        except ConnectionClosed as closed:
            raise ConnectionError("closed") from closed
        # Not wait_for: in Python 3.11 that loses a cancellation which meets the answer.
        async with asyncio.timeout(30):
            return await answer

    async def until(self, holds: Callable[["Page"], bool], seconds: float = 30) -> None:
        """Wait for what the page shows."""
        async with asyncio.timeout(seconds), self._changed:
            await self._changed.wait_for(lambda: holds(self))

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for frame in socket:
                assert isinstance(frame, str)
                self._answer(self.take(frame))
                async with self._changed:
                    self._changed.notify_all()
        except ConnectionClosed:
            pass
        except Exception as error:
            self._let_down(error)
            raise
        self.close_code = socket.close_code
        self._let_down(ConnectionError(f"closed with {self.close_code}"))
        async with self._changed:
            self._changed.notify_all()

    async def _beat(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(BEAT_SECONDS)
                await socket.send(json.dumps({"do": "beat", "mark": self.mark}))

    def _answer(self, message: Message) -> None:
        answer = self._answers.pop(message.get("ack") or message.get("id") or "", None)
        if answer and not answer.done():
            answer.set_result(message)

    def _let_down(self, error: Exception) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
                answer.exception()
        self._answers.clear()


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
