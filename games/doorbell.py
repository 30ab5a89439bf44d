"""Between processes: "game 12 is at 381", "a session of person 7 ended". A number, never content, and all of it may be
lost without harm.

Rings of one moment travel together. A process that hears one reads the log. One that is missed is made good by the
next, or by the look at the database that every process takes once a second.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence

from games import valkey

logger = logging.getLogger(__name__)

CHANNEL = "midnight:doorbell"
# Rings of so long a moment travel together: one costs as much as deciding three commands.
GATHER_SECONDS = 0.005
NO_GAMES: Mapping[int, int] = {}
NO_OFFERS: Mapping[int, Sequence[int]] = {}


def _nothing(*_: object) -> None:
    """Ignore this kind of message."""


class Doorbell:
    """This process's end of the wire. What is given is called for every ring, one's own too.

    `heard(game, head)`, `moved(game, seat, page, joined_ms)`, `ended(person)`: a session of theirs is over,
    `renamed(person)`, `offered(games, server)`: that process is to keep these games, `loaded(games)`: it is ready to.
    """

    def __init__(
        self,
        heard: Callable[[int, int], None] = _nothing,
        moved: Callable[[int, int, str, int], None] = _nothing,
        ended: Callable[[int], None] = _nothing,
        renamed: Callable[[int], None] = _nothing,
        offered: Callable[[list[int], int], None] = _nothing,
        loaded: Callable[[list[int]], None] = _nothing,
    ) -> None:
        self._heard = heard
        self._moved = moved
        self._ended = ended
        self._renamed = renamed
        self._offered = offered
        self._loaded = loaded
        self._rings: dict[int, int] = {}
        self._moves: list[tuple[int, int, str, int]] = []
        self._offers: dict[int, list[int]] = {}
        self._loads: list[int] = []
        self._something, self._nothing_left = asyncio.Event(), asyncio.Event()
        self._heard_at = 0.0
        self._publisher = valkey.Publisher()
        self._subscriber = valkey.Subscriber(lambda _channel, data: self._hear(data), CHANNEL)
        self._telling = asyncio.create_task(self._tell())

    def ring(self, game_id: int, head: int) -> None:
        """Tell the others how far a game is; 0 says that its shares are fixed."""
        self._rings[game_id] = head
        self._have_something()

    def moved(self, game_id: int, seat: int, page: str, joined_ms: int) -> None:
        """Tell the others that a seat is played from this page since then."""
        self._moves.append((game_id, seat, page, joined_ms))
        self._have_something()

    def offer(self, game_ids: Sequence[int], server: int) -> None:
        """Ask that process to load these games, and to see whether it keeps them by now."""
        self._offers.setdefault(server, []).extend(game_ids)
        self._have_something()

    def loaded(self, game_id: int) -> None:
        """Tell the process that offered this game that it is loaded here."""
        self._loads.append(game_id)
        self._have_something()

    def _have_something(self) -> None:
        self._something.set()
        self._nothing_left.clear()

    async def flush(self) -> None:
        """Wait until everything said so far has been published, or was lost."""
        await self._nothing_left.wait()

    def silence(self) -> float:
        """For how many seconds nothing was heard here: no process rang, or the line is broken."""
        return asyncio.get_running_loop().time() - self._heard_at

    async def close(self) -> None:
        await asyncio.gather(valkey.end_task(self._telling), self._subscriber.close(), return_exceptions=True)
        await self._publisher.close()

    async def _tell(self) -> None:
        while True:
            if not self._something.is_set():
                self._nothing_left.set()
            await self._something.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._something.clear()
            message = _words(games=self._rings, moved=self._moves, offered=self._offers, loaded=self._loads)
            self._rings, self._moves, self._offers, self._loads = {}, [], {}, []
            await self._publisher.publish(CHANNEL, message)

    def _hear(self, data: bytes) -> None:
        try:
            message = json.loads(data)
            rings = [(int(game_id), int(head)) for game_id, head in message["games"].items()]
            moves = [(int(game_id), int(seat), str(page), int(ms)) for game_id, seat, page, ms in message["moved"]]
            # A process of the version before does not say these.
            ends = [int(person) for person in message.get("ended", ())]
            names = [int(person) for person in message.get("renamed", ())]
            offers = [(list(map(int, games)), int(server)) for server, games in message.get("offered", {}).items()]
            loads = list(map(int, message.get("loaded", ())))
        except (ValueError, TypeError, KeyError, AttributeError):
            logger.warning("A message on the doorbell cannot be read.")
            return
        self._heard_at = asyncio.get_running_loop().time()
        for ring in rings:
            self._heard(*ring)
        for move in moves:
            self._moved(*move)
        for person in ends:
            self._ended(person)
        for person in names:
            self._renamed(person)
        for offer in offers:
            self._offered(*offer)
        if loads:
            self._loaded(loads)


def _words(
    games: Mapping[int, int] = NO_GAMES,
    moved: Sequence[tuple[int, int, str, int]] = (),
    ended: Sequence[int] = (),
    renamed: Sequence[int] = (),
    offered: Mapping[int, Sequence[int]] = NO_OFFERS,
    loaded: Sequence[int] = (),
) -> str:
    words = {"games": games, "moved": moved, "ended": ended, "renamed": renamed, "offered": offered, "loaded": loaded}
    return json.dumps(words)


# The same from outside of the event loop: from a view, a task, a command, the admin.


def ring(game_id: int, head: int) -> None:
    """Tell the web processes how far a game is."""
    valkey.publish(CHANNEL, _words(games={game_id: head}))


def tell_ended(person_id: int) -> None:
    """Tell the web processes that a session of this person's is over, or all of them: each looks which."""
    valkey.publish(CHANNEL, _words(ended=[person_id]))


def tell_renamed(person_id: int) -> None:
    """Tell the web processes that this person has another name: each reads it for the tables where they sit."""
    valkey.publish(CHANNEL, _words(renamed=[person_id]))
