"""A player as games/PROTOCOL.md describes one, from that page alone: plays on through whatever happens to the site.

It sees what its page is told, works out a legal move from that, writes down each move that is acknowledged, and comes
back after a broken line as the site's own page does: with the same patience, and asking again what was not answered.
"""

import asyncio
import contextlib
import hashlib
import json
import random
import re
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Origin

from tests.faults.journal import Journal, Told
from tests.midnight.running import ROOT
from tests.table.page import Message, Picture

# How patient the site's own page is, as its script says it.
SCRIPT = next(ROOT.glob("games/static/**/line.js")).read_text()


def _seconds(*names: str) -> float:
    """The first of these constants that the script has."""
    said = (re.search(rf"^const {name} = (\d+);", SCRIPT, re.MULTILINE) for name in names)
    return next(int(found[1]) / 1000 for found in said if found)


BEAT_SECONDS = _seconds("BEAT_MS")
# How long a page waits for its welcome, and for the answer to a beat, before it takes the line for dead.
PATIENCE_SECONDS = _seconds("LATEST_MS")
DEAD_SECONDS = _seconds("DEAD_MS", "LATEST_MS")
# What it waits before it tries again, twice as long each time.
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
# After these codes it does not wait; 0 stands for a line that it gave up.
AT_ONCE = {int(code) for code in re.findall(r"\d+", SCRIPT.partition("AT_ONCE = new Set(")[2].partition(")")[0])}
GAVE_UP, BROKE = 0, 1006
STAY_AWAY = {1009, 4400, 4401, 4403, 4404, 4409}
FLOOD = 4429
# Between two moves of one player.
THINKING = 0.5
# Refusals that a fault may bring, and those that may be over at the next try.
SAID_OF_FAULTS = {"unavailable", "resuming", "not_begun", "no_seat", "flood"}
FOR_NOW = {"unavailable", "resuming", "not_begun", "flood", "clock_first", "too_early", "not_now"}
BOARD_TILES = 6
KEYS = {"garage": None, "office": "iron_key", "safe": "brass_key"}


@dataclass(frozen=True)
class Door:
    """Where a player finds the site: at `address`, under the name `host`, with TLS; and from which address it comes."""

    address: tuple[str, int]
    host: str
    secure: bool
    comes_from: str

    def connect(self, code: str, cookie: str) -> connect:
        scheme, web = ("wss", "https") if self.secure else ("ws", "http")
        options: dict[str, Any] = {}
        if self.secure:
            options = {"ssl": _trusting(), "server_hostname": self.host.partition(":")[0]}
        return connect(
            f"{scheme}://{self.host}/ws/1/games/{code}",
            host=self.address[0],
            port=self.address[1],
            origin=Origin(f"{web}://{self.host}"),
            additional_headers={"Cookie": cookie, "X-Test-Address": self.comes_from},
            max_size=2**20,
            ping_interval=None,
            compression=None,
            proxy=None,
            open_timeout=PATIENCE_SECONDS,
            close_timeout=0.5,
            **options,
        )


def _trusting() -> ssl.SSLContext:
    return ssl._create_unverified_context()


@dataclass
class Heard:
    """What players were told and met, by kind, and when moves were accepted."""

    told: Counter[str] = field(default_factory=Counter)
    accepted: list[float] = field(default_factory=list)
    # How long a move waited for any answer, or for a word that it waits.
    waits: list[float] = field(default_factory=list)


class Player:
    """One seat. `heard` is what all players of its table share."""

    def __init__(self, door: Door, code: str, cookie: str, journal: Journal, heard: Heard, whole: bool = False) -> None:
        self.door, self.code, self.cookie, self.journal, self.heard = door, code, cookie, journal, heard
        # A racer lifts tiles and puts them back, for ever; else it plays the game to its end.
        self.whole = whole
        self.picture = Picture()
        self.over = asyncio.Event()
        self._page = secrets.token_hex(6)
        self._nonce = secrets.token_bytes(16)
        self._chance = random.Random(f"{code} {cookie}")
        self._asked = 0
        self._refused: set[str] = set()
        self._unanswered: dict[str, Message] = {}
        self._since: dict[str, float] = {}
        self._socket: ClientConnection | None = None
        # Of these those that could not be stored.
        self._unstored: set[str] = set()
        self._beaten = asyncio.Event()
        self._on = asyncio.Event()
        self._on.set()
        self._resting = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []

    # To its table -----------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play until cancelled, or until the whole game is over."""
        self._running = [asyncio.create_task(self._stay()), asyncio.create_task(self._play())]
        try:
            await asyncio.gather(*self._running)
        finally:
            await self.stop()

    async def stop(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def rest(self) -> None:
        """Finish what was asked, then ask for nothing; `go` ends it."""
        self._resting.clear()
        self._on.clear()
        await self._resting.wait()

    def go(self) -> None:
        self._on.set()

    # What it sees -----------------------------------------------------------------------------------------------------

    @property
    def sight(self) -> Message:
        return self.picture.sight

    @property
    def own(self) -> Message:
        return dict(self.sight["players"][self.sight["seat"]])

    async def fresh(self) -> Picture:
        """What a page sees that connects now; the player's own is closed by that, and comes back as it was."""
        picture = Picture()
        async with asyncio.timeout(PATIENCE_SECONDS), self.door.connect(self.code, self.cookie) as socket:
            await socket.send(json.dumps({"do": "join", "page": secrets.token_hex(6)}))
            while not picture.sight:
                picture.take(str(await socket.recv()))
        return picture

    # Its line ---------------------------------------------------------------------------------------------------------

    async def _stay(self) -> None:
        """Hold a line to the table, come back when it breaks."""
        failures = 0
        while not self.over.is_set():
            code = BROKE
            try:
                async with asyncio.TaskGroup() as line:
                    socket = await self._open()
                    failures = 0
                    watching = line.create_task(self._beat(socket))
                    code = await self._listen(socket)
                    watching.cancel()
            except* InvalidStatus as refused:
                for error in refused.exceptions:
                    assert isinstance(error, InvalidStatus)
                    self._heard_of(f"HTTP {error.response.status_code}")
            except* TimeoutError:
                code = GAVE_UP
                self._heard_of("no answer")
            except* (OSError, EOFError, WebSocketException):
                self._heard_of("line broke")
            finally:
                await self._hang_up()
            if code in STAY_AWAY and code != 4409:
                raise AssertionError(f"{self.code}: the page was sent away with {code}")
            pause = min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE)
            failures += 1
            await asyncio.sleep(0 if code in AT_ONCE else 10 if code == FLOOD else pause)

    async def _open(self) -> ClientConnection:
        async with asyncio.timeout(PATIENCE_SECONDS):
            self._socket = socket = await self.door.connect(self.code, self.cookie)
            after = self.picture.head if self.sight else None
            await socket.send(json.dumps({"do": "join", "page": self._page, "after": after}))
            while self._hear(str(await socket.recv()))["type"] != "welcome":
                pass
            if self.picture.welcome["head"] == 0:
                await self._say(do="share", share=hashlib.sha256(self._nonce).hexdigest())
            for command in list(self._unanswered.values()):
                await self._say(**command)
            self.picture.mark = ""
        return socket

    async def _hang_up(self) -> None:
        if self._socket is not None:
            self._socket.transport.abort()
            with contextlib.suppress(Exception):
                await self._socket.wait_closed()
            self._socket = None

    async def _listen(self, socket: ClientConnection) -> int:
        """Until the line ends; the answer is its close code."""
        try:
            async for frame in socket:
                message = self._hear(str(frame))
                if self.over.is_set():
                    return 1000
                if message["type"] == "shares" and self._is_to_open(message):
                    await self._say(do="nonce", nonce=self._nonce.hex())
        except ConnectionClosed:
            pass
        code = socket.close_code or BROKE
        self._heard_of(f"closed {code}")
        return code

    def _is_to_open(self, shares: Message) -> bool:
        seat, own = self.picture.welcome["you"], hashlib.sha256(self._nonce).hexdigest()
        return bool(shares["shares"][seat] == own and not shares["counts"][seat])

    async def _beat(self, socket: ClientConnection) -> None:
        while True:
            self._beaten.clear()
            mark = {"mark": self.picture.mark} if self.picture.mark else {}
            await self._say(do="beat", **mark)
            async with asyncio.timeout(DEAD_SECONDS):
                await self._beaten.wait()
            await asyncio.sleep(BEAT_SECONDS)

    async def _say(self, **message: Any) -> None:
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._socket.send(json.dumps(message))

    def _hear(self, frame: str) -> Message:
        message: Message = json.loads(frame)
        answered = message.get("ack") or (message["id"] if message["type"] in ("ack", "refused") else "")
        if answered in self._unanswered and message["type"] != "refused":
            self._note(answered, message)
        self.picture.take(frame)
        self.picture.frames.clear()
        if message["type"] == "beat":
            self._beaten.set()
        if message["type"] == "notice":
            self._heard_of(message["code"])
        if message.get("code") in SAID_OF_FAULTS:
            self.heard.told[message["code"]] += 1
        if answered in self._unanswered:
            self._waited(answered)
            if message.get("code") == "unavailable":
                self._unstored.add(answered)
            else:
                asked = self._unanswered.pop(answered)
                self._unstored.discard(answered)
                if message["type"] == "refused" and message["code"] not in FOR_NOW:
                    self._refused.add(self._kind(asked))
        if self.sight.get("phase") == "over":
            self.over.set()
        return message

    def _heard_of(self, kind: str) -> None:
        """Told of something that concerns every move under way."""
        self.heard.told[kind] += 1
        for command in self._unanswered:
            self._waited(command)

    def _waited(self, command: str) -> None:
        if (since := self._since.pop(command, None)) is not None:
            self.heard.waits.append(time.monotonic() - since)

    def _kind(self, command: Message) -> str:
        """What is asked, and of which state of the game: what was refused there is refused again."""
        return json.dumps([self.picture.head, {name: command[name] for name in command if name != "id"}])

    def _note(self, command: str, message: Message) -> None:
        """Before anything else: this move was acknowledged."""
        seat = self.picture.welcome["you"]
        own = [event["seq"] for event in message.get("events", ()) if event.get("seat") == seat]
        seq = message["seq"] if message["type"] == "ack" else own[0] if own else 0
        self.journal.write(Told(self.code, seat, command, seq))
        self.heard.accepted.append(time.monotonic())

    # Its moves --------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        while not self.over.is_set():
            if not self._on.is_set() and not self._unanswered:
                self._resting.set()
                await self._on.wait()
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * THINKING)
            if self._unanswered:
                await self._ask_again()
            elif self._on.is_set() and self.sight:
                wish = next((wish for wish in self._wishes() if self._kind(wish) not in self._refused), None)
                if wish:
                    await self._ask(wish)

    async def _ask_again(self) -> None:
        """What could not be stored is asked once more, with its id."""
        while self._unstored:
            command = self._unanswered[self._unstored.pop()]
            self._since[command["id"]] = time.monotonic()
            await self._say(**command)

    async def leave(self) -> None:
        """Give the seat up for good; the player rests and is asked for nothing more."""
        await self._ask({"do": "leave"})

    async def _ask(self, wish: Message) -> None:
        self._asked += 1
        command = {**wish, "id": f"{self._page}-{self._asked}"}
        self._unanswered[command["id"]] = command
        self._since[command["id"]] = time.monotonic()
        await self._say(**command)

    def _wishes(self) -> Iterator[Message]:
        """What may be done now, best first."""
        sight, own = self.sight, self.own
        if sight["phase"] == "gathering" and not own["ready"]:
            yield {"do": "ready", "on": True}
        elif sight["phase"] == "search" and own["token"] is None:
            yield from self._search(own)
        elif sight["phase"] == "exchange" and sight["turn"] == sight["seat"]:
            yield from self._trades(own)

    def _search(self, own: Message) -> Iterator[Message]:
        tiles = self.sight["tiles"]
        hand = own["hand"]
        if hand is not None:
            loot = tiles[hand].get("loot", "")
            if self.whole and len(own["board"]) < BOARD_TILES and not self._is_second_key(own, loot):
                yield {"do": "stash", "tile": hand}
            yield {"do": "return", "tile": hand, "face": "down"}
        elif len(own["board"]) == BOARD_TILES:
            yield {"do": "escape"}
        else:
            keys = {tiles[spot].get("loot") for spot in own["board"]}
            open_places = {place for place, key in KEYS.items() if key is None or key in keys}
            free = [
                spot
                for spot, tile in enumerate(tiles)
                if tile["place"] in open_places and tile["lies"] in ("down", "up") and spot not in own["let_go"]
            ]
            if free:
                yield {"do": "lift", "tile": self._chance.choice(free)}

    def _is_second_key(self, own: Message, loot: str) -> bool:
        held = {self.sight["tiles"][spot].get("loot") for spot in own["board"]}
        return loot.endswith("_key") and loot in held

    def _trades(self, own: Message) -> Iterator[Message]:
        board = {spot: self.sight["tiles"][spot].get("loot", "") for spot in own["board"]}
        costs = {market["face"]: market["cost"] for market in self.picture.welcome["edition"]["markets"]}
        for number, market in enumerate(self.sight["markets"]):
            cost = costs[market["face"]]
            pay = [spot for loot in cost for spot in [spot for spot in board if board[spot] == loot][: cost[loot]]]
            if len(pay) != sum(cost.values()):
                continue
            cards = [slot for slot, ids in enumerate(market["cards"]) if ids]
            art = [slot for slot, kind in enumerate(market["art"]) if kind]
            for what, slots in (("cards", cards), ("art", art)):
                for slot in slots:
                    yield {"do": "buy", "market": number, what: slot, "pay": pay}
        yield from ({"do": "open_bag", "tile": spot} for spot, loot in board.items() if loot == "bag")
        yield {"do": "pass"}
