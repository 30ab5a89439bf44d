"""Players who race through whatever happens to their server, and remember what they were told."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

from websockets.exceptions import WebSocketException

from games.models import Event
from tests.table.conftest import Match, garage
from tests.table.page import Message, Page

# At most 20 commands a second (R8.5).
PAUSE_SECONDS = 0.06


class Racer:
    """Lifts a tile, puts it back, lifts another. After a cut line it comes back and asks again for what it asked."""

    def __init__(self, page: Page, chance: random.Random) -> None:
        self.page = page
        self.said: list[str] = []
        self.acknowledged: dict[str, int] = {}
        self.refused: list[str] = []
        self.waits: list[float] = []
        self._chance = chance
        self._on = asyncio.Event()
        self._resting = asyncio.Event()

    def go(self) -> None:
        self._resting.clear()
        self._on.set()

    async def rest(self) -> None:
        """Finish what was asked, then ask for nothing."""
        self._on.clear()
        await self._resting.wait()

    async def hears_again(self) -> None:
        """One more of its commands counts."""
        before = len(self.acknowledged)
        await self.page.until(lambda _: len(self.acknowledged) > before, 30)

    async def run(self) -> None:
        while True:
            if not self._on.is_set():
                self._resting.set()
                await self._on.wait()
            await self._ask(*self._wish())
            await asyncio.sleep(PAUSE_SECONDS)

    def _wish(self) -> tuple[str, Message]:
        hand = self.page.sight["players"][self.page.sight["seat"]]["hand"]
        if hand is not None:
            return "return", {"tile": hand, "face": self._chance.choice(("up", "down"))}
        return "lift", {"tile": self._chance.choice(garage(self.page)[:6])}

    async def _ask(self, word: str, fields: Message) -> None:
        command_id = self.page.new_id()
        self.said.append(command_id)
        while True:
            try:
                began = asyncio.get_running_loop().time()
                answer = await self.page.do(word, command_id, **fields)
                self.waits.append(asyncio.get_running_loop().time() - began)
            except ConnectionError:
                await self._come_back()
                continue
            if answer["type"] != "refused":
                self.acknowledged[command_id] = answer["seq"] if answer["type"] == "ack" else self._seq_of(answer)
            elif answer["code"] == "unavailable":
                self.refused.append("unavailable")
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            else:
                self.refused.append(answer["code"])
            return

    def _seq_of(self, answer: Message) -> int:
        seat = self.page.sight["seat"]
        return next(event["seq"] for event in answer["events"] if event.get("seat") == seat)

    async def _come_back(self) -> None:
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError, EOFError):
                await self.page.open()
                if self.page.close_code is None:
                    return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def racing(pages: Sequence[Page], seed: int = 0) -> AsyncIterator[list[Racer]]:
    """All of these race; who fails fails the test."""
    racers = [Racer(page, random.Random(f"{seed} {page.key}")) for page in pages]
    async with asyncio.TaskGroup() as together:
        tasks = [together.create_task(racer.run()) for racer in racers]
        for racer in racers:
            racer.go()
        yield racers
        for task in tasks:
            task.cancel()


def lost_or_doubled(match: Match, racers: Sequence[Racer]) -> Iterator[str]:
    """Whatever a racer was told that the log does not say, or that it says twice."""
    for racer in racers:
        seat = racer.page.sight["seat"]
        rows = Event.objects.filter(game=match.game, seat=seat).exclude(command_id="")
        written = list(rows.values_list("command_id", "seq"))
        if len(written) != len(dict(written)):
            yield f"seat {seat}: something was done twice"
        for command_id, seq in racer.acknowledged.items():
            if dict(written).get(command_id) != seq:
                yield f"seat {seat}: {command_id} was acknowledged as {seq}"
        for command_id in dict(written).keys() - racer.acknowledged.keys() - set(racer.said[-1:]):
            if command_id in racer.said:
                yield f"seat {seat}: {command_id} was done and never acknowledged"
