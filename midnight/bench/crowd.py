"""The players of `bench race`, in a process of their own: python -m midnight.bench.crowd < plan > figures (JSON)."""

import asyncio
import json
import math
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import uvloop

from midnight.bench.wire import Wire

# What a player lifts: tiles that need no key.
OPEN_PLACE = "garage"
# What is not answered after so long is lost.
ANSWER_SECONDS = 10
BEAT_PARTS = 50


@dataclass
class Figures:
    accepted: int = 0
    refused: int = 0
    frames: int = 0
    # Commands under way, with the moment at which each was to be sent: who has to wait for that waits already.
    due: dict[bytes, float] = field(default_factory=dict)
    to_last_page: list[float] = field(default_factory=list)
    # What was due between these two moments counts.
    begun: float = math.inf
    ended: float = math.inf


class Player:
    """One seat: lifts a tile, puts it back, lifts another, as fast as it is answered or at its own pace."""

    def __init__(self, room: "Room", seat: int, rate: float, figures: Figures) -> None:
        self.room, self.seat, self.rate, self.figures = room, seat, rate, figures
        # Players differ in every room, or all rooms would act at the same moments.
        self.random = random.Random(f"{room.number} {seat}")
        self.said = 0
        self.tried = 0
        self.in_hand: int | None = None
        self.acting = False
        self.joined = False
        self.ready = False
        self.playing = asyncio.get_running_loop().create_future()
        self.answered = asyncio.Event()
        self.answered.set()
        # At an own pace: when the next command is to be sent.
        self.next_due = math.inf
        self.head = 0
        self.command_id = b""
        # Of the last heartbeat's answer: to be said in the next one.
        self.mark = b""

    async def open(self, port: int, path: str, cookie: str, host: str | None = None) -> None:
        """Join the table, from this address of the loopback network; from then on this page has to beat."""
        loop = asyncio.get_running_loop()
        _, self.wire = await loop.create_connection(
            lambda: Wire(path, f"localhost:{port}", cookie, self.hear),
            "127.0.0.1",
            port,
            local_addr=(host, 0) if host else None,
        )
        await asyncio.wait_for(self.wire.opened, 30)
        self.wire.say(b'{"do":"join","page":"p%d"}' % self.seat)
        self.wire.say(b'{"do":"nonce","nonce":"%032x"}' % (self.seat + 1))
        self.joined = True

    def command(self, word: bytes) -> None:
        self.said += 1
        self.answered.clear()
        self.command_id = b"b%d-%d" % (self.seat, self.said)
        self.wire.say(b'{"do":%s,"id":"%s"}' % (word, self.command_id))

    def act(self, due: float) -> None:
        """Send what was to be sent at that moment."""
        self.acting = True
        if self.in_hand is None:
            self.tried = self.random.choice(self.room.tiles)
            self.command(b'"lift","tile":%d' % self.tried)
        else:
            self.command(b'"return","face":"down","tile":%d' % self.in_hand)
        self.figures.due[b"%d:%s" % (self.room.number, self.command_id)] = due

    def hear(self, wire: Wire, frame: bytes) -> None:
        self.figures.frames += 1
        if frame.startswith(b'{"type":"events"'):
            self.events(frame)
        elif frame.startswith(b'{"type":"refused"'):
            self.figures.refused += 1
            self.figures.due.pop(b"%d:%s" % (self.room.number, self.command_id), None)
            self.answered.set()
            self.go_on()
        elif frame.startswith(b'{"type":"beat"'):
            self.mark = frame[frame.index(b'"mark":"') + 8 :].partition(b'"')[0]
        elif frame.startswith(b'{"type":"sight"'):
            message = json.loads(frame)
            self.room.tiles = [n for n, t in enumerate(message["sight"]["tiles"]) if t["place"] == OPEN_PLACE]
            if not self.ready:
                self.ready = True
                self.command(b'"ready","on":true')

    def events(self, frame: bytes) -> None:
        if b'"search_started"' in frame and not self.playing.done():
            self.playing.set_result(None)
        self.head = int(frame[frame.index(b'"head":') + 7 :].partition(b",")[0])
        self.room.arrived(self.head)
        mark = frame.rfind(b'"ack":"')
        if mark < 0:
            return
        self.answered.set()
        if self.acting:
            self.figures.accepted += 1
            self.in_hand = self.tried if self.in_hand is None else None
            self.room.asked(self.head, frame[mark + 7 :].partition(b'"')[0])
            self.go_on()

    def go_on(self) -> None:
        if self.acting and not self.rate and self.room.running:
            self.act(time.perf_counter())

    async def play_at_own_pace(self) -> None:
        """Open loop: a command is due when it is due, whether or not the last one was answered.

        What to do next depends on that answer, so a command may have to wait for it. It is sent as soon as it may be,
        none is left out, and its wait counts from when it was due: a server that halts is not spared what it held up.
        """
        self.next_due = time.perf_counter() + self.random.random() / self.rate
        while True:
            await asyncio.sleep(max(0.0, self.next_due - time.perf_counter()))
            await self.answered.wait()
            if self.next_due >= self.figures.ended:
                return
            self.act(self.next_due)
            self.next_due += 1 / self.rate

    def unsent(self) -> int:
        """How many commands were due before the end and could not be sent yet."""
        return max(0, math.ceil((self.figures.ended - self.next_due) * self.rate)) if self.rate else 0

    def beat(self) -> None:
        if self.joined:
            self.wire.say(b'{"do":"beat","mark":"%s"}' % self.mark)


class Room:
    """One game with its players; knows when the last of their pages has an event."""

    def __init__(self, number: int, players: int, rate: float, figures: Figures) -> None:
        self.number, self.figures = number, figures
        self.tiles: list[int] = []
        self.running = True
        self.pages: dict[int, int] = {}
        self.marks: dict[int, list[bytes]] = {}
        self.all_there: dict[int, float] = {}
        self.players = [Player(self, seat, rate, figures) for seat in range(players)]

    def arrived(self, head: int) -> None:
        """One more page has everything up to this event."""
        count = self.pages.get(head, 0) + 1
        if count < len(self.players):
            self.pages[head] = count
            return
        self.pages.pop(head, None)
        now = self.all_there[head] = time.perf_counter()
        for mark in self.marks.pop(head, ()):
            self.settle(mark, now)

    def asked(self, head: int, mark: bytes) -> None:
        """This command's events end with that one; several commands may."""
        if head in self.all_there:
            self.settle(mark, self.all_there[head])
        else:
            self.marks.setdefault(head, []).append(mark)

    def settle(self, mark: bytes, now: float) -> None:
        due = self.figures.due.pop(b"%d:%s" % (self.number, mark), None)
        if due is not None and self.figures.begun <= due < self.figures.ended:
            self.figures.to_last_page.append(now - due)


async def play(plan: dict[str, Any]) -> dict[str, Any]:
    figures = Figures()
    rate = plan["rate"]
    rooms = [Room(number, len(game["cookies"]), rate, figures) for number, game in enumerate(plan["games"])]
    players = [player for room in rooms for player in room.players]
    tasks = [asyncio.create_task(beats(players))]
    for room, game in zip(rooms, plan["games"], strict=True):
        await asyncio.gather(
            *(
                player.open(plan["port"], game["path"], cookie, game.get("host"))
                for player, cookie in zip(room.players, game["cookies"], strict=True)
            )
        )
    await asyncio.wait_for(asyncio.gather(*(player.playing for player in players)), 120)
    say({"quiet": time.time()})
    await asyncio.sleep(plan["quiet"])
    say({"quiet_end": time.time()})
    if rate:
        tasks += [asyncio.create_task(player.play_at_own_pace()) for player in players]
    else:
        for player in players:
            player.act(time.perf_counter())
    await asyncio.sleep(plan["warm_up"])
    figures.accepted = figures.refused = figures.frames = 0
    say({"begin": time.time()})
    figures.begun = time.perf_counter()
    await asyncio.sleep(plan["seconds"])
    figures.ended = time.perf_counter()
    done = {
        "seconds": figures.ended - figures.begun,
        "accepted": figures.accepted,
        "refused": figures.refused,
        "frames": figures.frames,
    }
    say({"end": time.time()})
    for room in rooms:
        room.running = False
    await all_answered(players)
    heads = [{player.head for player in room.players} for room in rooms]
    latencies = sorted(figures.to_last_page)
    for task in tasks:
        task.cancel()
    for player in players:
        player.wire.close()
    return done | {
        "lost": len(figures.due) + sum(player.unsent() for player in players),
        "rooms_apart": sum(len(seen) > 1 for seen in heads),
        "p50_ms": round(latencies[len(latencies) // 2] * 1000, 2) if latencies else None,
        "p99_ms": round(latencies[int(len(latencies) * 0.99)] * 1000, 2) if latencies else None,
    }


async def all_answered(players: list[Player]) -> None:
    """Whoever waits for an answer gets it, and what the others hear of it has a moment to arrive."""
    for _ in range(ANSWER_SECONDS * 20):
        if all(player.answered.is_set() and not player.unsent() for player in players):
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)


def say(line: dict[str, Any]) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def beats(players: list[Player]) -> None:
    """Every page every two and a half seconds, not all at once."""
    while True:
        for part in range(BEAT_PARTS):
            for player in players[part::BEAT_PARTS]:
                player.beat()
            await asyncio.sleep(2.5 / BEAT_PARTS)


if __name__ == "__main__":
    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    say(asyncio.run(play(json.load(sys.stdin))))
