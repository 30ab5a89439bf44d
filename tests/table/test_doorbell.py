"""Between processes: whatever becomes of Valkey and of the rings that it carries, everything converges."""

import asyncio
import contextlib
import json
import random
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
import redis
import redis.asyncio
from channels.db import database_sync_to_async

from games import tables
from games.doorbell import CHANNEL
from midnight import stack
from tests.browser.site import Site
from tests.settings import FOLDER
from tests.table.conftest import Match, NewMatch, NewTables, database_address, garage
from tests.table.racers import Racer, lost_or_doubled, racing
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]


@dataclass
class Post:
    """A web process with a Valkey of its own: what is rung at one post reaches the other by a carrier only."""

    address: Path
    site: Site
    valkey: subprocess.Popen[bytes]

    def client(self) -> "redis.asyncio.Redis":
        return redis.asyncio.Redis(unix_socket_path=str(self.address), socket_timeout=None)


@pytest.fixture(scope="module")
def posts(first_web: Site) -> Iterator[list[Post]]:
    with ExitStack() as running:
        found = []
        for name in ("east", "west"):
            address = FOLDER / f"{name}.sock"
            site = Site(FOLDER, database_address(), f"unix://{address}")
            found.append(Post(address, site, stack.start_valkey(address)))
            running.callback(site.socket.close)
            running.callback(lambda post=found[-1]: stack.stop(post.valkey))
            running.callback(site.stop)
            site.start()
        yield found


@asynccontextmanager
async def carrying(posts: list[Post], faults: Callable[[], str]) -> AsyncIterator[None]:
    """Whatever is rung at one post is rung at the other: not, twice, late, or as it was, as `faults` says each time."""

    async def carry(source: Post, target: Post) -> None:
        while True:
            with contextlib.suppress(redis.RedisError, OSError):
                async with source.client() as here, target.client() as there, here.pubsub() as ear:
                    await ear.subscribe(CHANNEL)
                    held = None
                    async for message in ear.listen():
                        if message["type"] != "message" or "carried" in (ring := json.loads(message["data"])):
                            continue
                        what = faults()
                        now = json.dumps({**ring, "carried": True})
                        if what == "late" and held is None:
                            held = now
                            continue
                        for one in [now] * {"lost": 0, "twice": 2}.get(what, 1) + ([held] if held else []):
                            await there.publish(CHANNEL, one)
                        held = None
            await asyncio.sleep(0.1)

    tasks = [asyncio.create_task(carry(*pair)) for pair in (posts, posts[::-1])]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def converge(match: Match, racers: list[Racer], seconds: float) -> None:
    """All have rested for so long at most when they all see the same, which is what the log says."""
    await asyncio.gather(*(racer.rest() for racer in racers))
    await match.all_see_the_log([racer.page for racer in racers], seconds)


@pytest.mark.parametrize("fault", ["lost", "twice", "late"])
async def test_rings_that_are_lost_doubled_or_late_hurt_nobody(
    posts: list[Post],
    new_match: NewMatch,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
    fault: str,
) -> None:
    chance = random.Random(fault)

    def faults() -> str:
        return fault if chance.random() < 0.3 else ""

    match = await new_match(4, LONG)
    async with carrying(posts, faults):
        pages = await match.search(*(post.site for post in posts))
        async with racing(pages) as racers:
            for _ in range(so_often(1, 20)):
                for racer in racers:
                    racer.go()
                await asyncio.sleep(1)
                await converge(match, racers, in_time(2.0))
    assert await database_sync_to_async(lambda: list(lost_or_doubled(match, racers)))() == []
    assert await match.faults() == []


async def test_a_ring_that_nobody_understands_is_not_the_last_one_heard(
    new_match: NewMatch, new_tables: NewTables, valkey: redis.Redis
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.inside(one, other)
    for rubbish in (
        "",
        "{",
        "[]",
        "7",
        '{"games": {"x": 1}, "moved": []}',
        '{"games": {}, "moved": [1]}',
        '{"games": {}, "moved": [], "ended": 1}',
        b"\xff",
    ):
        valkey.publish(CHANNEL, rubbish)
    with patch.object(tables, "LOOK_SECONDS", 60):
        await asyncio.sleep(1.1)
        done = await alice.do("lift", tile=garage(alice)[0])
        await bob.until(lambda page: page.head == done["head"])


async def restarted(post: Post) -> None:
    post.valkey.kill()
    post.valkey.wait()
    post.valkey = stack.start_valkey(post.address)


async def emptied(post: Post) -> None:
    async with post.client() as client:
        await client.flushall()
        await client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")


async def gone(post: Post, seconds: float) -> None:
    post.valkey.kill()
    post.valkey.wait()
    post.address.unlink(missing_ok=True)
    await asyncio.sleep(seconds)
    post.valkey = stack.start_valkey(post.address)


async def frozen(post: Post, seconds: float) -> None:
    post.valkey.send_signal(signal.SIGSTOP)
    await asyncio.sleep(seconds)
    post.valkey.send_signal(signal.SIGCONT)


@pytest.mark.alone
@pytest.mark.parametrize("happens", ["restarted", "emptied", "gone", "frozen"])
async def test_without_valkey_players_of_one_process_notice_nothing_and_those_of_two_converge(
    posts: list[Post],
    new_match: NewMatch,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
    happens: str,
) -> None:
    seconds = so_often(3, 10)
    happening: dict[str, Callable[[Post], Awaitable[None]]] = {
        "restarted": restarted,
        "emptied": emptied,
        "gone": lambda post: gone(post, seconds),
        "frozen": lambda post: frozen(post, seconds),
    }
    together, apart = await new_match(2, LONG), await new_match(2, LONG)
    async with carrying(posts, str):
        near = await together.search(posts[0].site)
        far = await apart.search(*(post.site for post in posts))
        async with racing(near) as neighbours, racing(far) as strangers:
            trouble = asyncio.gather(*(happening[happens](post) for post in posts))
            while not trouble.done():
                await asyncio.sleep(0.3)
                await converge(apart, strangers, in_time(2.0))
                for racer in strangers:
                    racer.go()
            await trouble
            await converge(apart, strangers, in_time(2.0))
            await converge(together, neighbours, in_time(0.5))
    for racer in (*neighbours, *strangers):
        assert "unavailable" not in racer.refused
        assert racer.page.notices == []
    assert max(wait for racer in neighbours for wait in racer.waits) < in_time(0.5)
    assert await together.faults() == await apart.faults() == []
