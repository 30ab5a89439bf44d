"""A Valkey whose host has vanished: no loop spins, no page waits for long, and afterwards everything is heard again."""

import ast
import asyncio
import errno
import logging
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import redis
from channels.layers import get_channel_layer
from django.core.cache import caches
from pytest_django import Settings
from redis.asyncio import connection as async_connection

from games import news, valkey
from games.doorbell import Doorbell
from midnight.cache import SharedPoolCache
from tests.settings import VALKEY
from tests.support.proxy import MutableProxy, proxy_to

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def line() -> Iterator[MutableProxy]:
    """A line to the tests' Valkey that can fall silent."""
    with proxy_to(VALKEY) as proxy:
        yield proxy


@pytest.fixture
def by_line(line: MutableProxy, settings: Settings) -> MutableProxy:
    """Everything in this process reaches Valkey by the line."""
    settings.REDIS_URL = f"redis://{line.address}/0"
    return line


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if is_so():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError(is_so)


async def rung_until_heard(ring: Callable[[], Awaitable[None]], heard: list[str]) -> None:
    """Ring again and again, since a ring may be lost."""
    heard.clear()
    async with asyncio.timeout(60):
        while not heard:
            await ring()
            await asyncio.sleep(0.1)


@asynccontextmanager
async def turning() -> AsyncIterator[list[float]]:
    """How long each turn of the event loop takes meanwhile."""
    turns: list[float] = []

    async def turn() -> None:
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(0.01)
            turns.append(loop.time() - began)

    task = asyncio.create_task(turn())
    try:
        yield turns
    finally:
        task.cancel()


# What the kernel gives up ---------------------------------------------------------------------------------------------


async def given_up(pool: async_connection.ConnectionPool, line: MutableProxy) -> "redis.asyncio.client.PubSub":
    """A subscriber of redis-py's whose connection the kernel has ended, since nothing was acknowledged."""
    options = {socket.TCP_KEEPIDLE: 1, socket.TCP_KEEPINTVL: 1, socket.TCP_KEEPCNT: 1}
    pool.connection_kwargs |= {"socket_keepalive_options": options}
    ear = redis.asyncio.Redis.from_pool(pool).pubsub()
    await ear.subscribe("a")
    assert await ear.get_message(timeout=5)
    line.mute()
    assert ear.connection is not None
    reader = ear.connection._reader
    await until(lambda: reader.exception() is not None)
    failure = reader.exception()
    assert isinstance(failure, TimeoutError)
    assert failure.errno == errno.ETIMEDOUT
    return ear


async def test_redis_py_still_takes_etimedout_for_no_message_yet(by_line: MutableProxy) -> None:
    """Where this fails redis-py has mended it, and `_Guard` may go."""
    pool = async_connection.ConnectionPool.from_url(f"redis://{by_line.address}/0")
    ear = await given_up(pool, by_line)
    assert [await ear.get_message(timeout=60) for _ in range(1_000)] == [None] * 1_000
    by_line.unmute()
    await ear.aclose()


async def test_a_connection_that_the_kernel_gives_up_is_an_error(by_line: MutableProxy) -> None:
    ear = await given_up(valkey.async_pool(), by_line)
    connection = ear.connection
    with pytest.raises(redis.ConnectionError, match=str(int(errno.ETIMEDOUT))):
        await connection.read_response(timeout=60)
    assert not connection.is_connected
    by_line.unmute()
    await ear.aclose()


# While the host is away -----------------------------------------------------------------------------------------------


async def test_a_doorbell_notices_a_silent_line_and_rings_again_after_it(
    by_line: MutableProxy, caplog: pytest.LogCaptureFixture, so_often: Callable[[int, int], int]
) -> None:
    caplog.set_level(logging.INFO, valkey.__name__)
    heard: list[str] = []
    doorbell = Doorbell(heard=lambda game, _head: heard.append(str(game)))

    async def ring() -> None:
        doorbell.ring(7, 1)

    await rung_until_heard(ring, heard)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with turning() as turns:
        by_line.mute()
        await until(lambda: "has lost Valkey" in caplog.text)
        # Longer than the kernel needs to give up a line, in a long run.
        for _ in range(so_often(20, 700)):
            doorbell.ring(7, 1)
            await asyncio.sleep(0.1)
        by_line.unmute()
        await rung_until_heard(ring, heard)
    await doorbell.close()
    assert len(turns) > so_often(100, 3_000), "the event loop goes on turning"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "KiB"
    said = [record.getMessage().split(":")[0] for record in caplog.records]
    assert sorted(line.split(" after ")[0] for line in said) == [
        "A subscriber has lost Valkey",
        "A subscriber hears Valkey again",
        "Valkey answers again",
        "Valkey does not answer",
    ]


async def test_a_group_costs_nobody_a_wait_and_is_heard_again(by_line: MutableProxy) -> None:
    layer = get_channel_layer()
    assert layer is not None
    heard: list[str] = []

    async def ring() -> None:
        await layer.group_send("room.ab", {"type": "rung"})

    async def hear(channel: str) -> None:
        while True:
            heard.append((await layer.receive(channel))["type"])

    old = await layer.new_channel()
    await layer.group_add("room.ab", old)
    hearing = asyncio.create_task(hear(old))
    await rung_until_heard(ring, heard)
    by_line.mute()
    with pytest.MonkeyPatch.context() as patch:
        # The first ring finds out; no other one asks.
        await ring()
        patch.setattr(valkey.gate, "_next_attempt", float("inf"))
        async with asyncio.timeout(60):
            for _ in range(1_000):
                await ring()
    new = await layer.new_channel()
    await layer.group_add("room.ab", new)
    by_line.unmute()
    valkey.gate.open()
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    hearing = asyncio.create_task(hear(new))
    await rung_until_heard(ring, heard)
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    await layer.flush()


def test_pages_and_jobs_wait_for_a_silent_valkey_once(by_line: MutableProxy) -> None:
    cache = SharedPoolCache(f"redis://{by_line.address}/0", {"OPTIONS": dict(caches.settings["default"]["OPTIONS"])})
    cache.set("a", 1)
    by_line.mute()
    with pytest.raises(redis.TimeoutError):
        cache.get("a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(valkey.gate, "_next_attempt", float("inf"))
        for _ in range(1_000):
            with pytest.raises(valkey.Away):
                cache.get("a")
            news.ring("lobby")
            valkey.publish("a", "lost")
    by_line.unmute()
    valkey.gate.open()
    assert cache.get("a") == 1


# The gate -------------------------------------------------------------------------------------------------------------


class Attempts:
    """Attempts at a Valkey that is there or not, by a clock that stands."""

    def __init__(self) -> None:
        self.now = 0.0
        self.works = False
        self.made = 0
        self.gate = valkey.Gate(lambda: self.now)

    def make(self) -> bool:
        """Whether it worked."""
        try:
            with self.gate.attempt():
                self.made += 1
                if not self.works:
                    raise redis.ConnectionError("away")
        except redis.ConnectionError:
            return False
        return True


def test_a_valkey_that_is_away_is_asked_ever_less_often() -> None:
    attempts = Attempts()
    for _ in range(60_000):
        attempts.make()
        attempts.now += 0.001
    assert 60 / valkey.LONGEST_PAUSE <= attempts.made <= 60 / (valkey.LONGEST_PAUSE / 2) + 10


def test_one_attempt_that_works_opens_the_gate_for_all() -> None:
    attempts = Attempts()
    assert not attempts.make()
    attempts.works = True
    assert not attempts.make(), "it is not asked at once"
    attempts.now += valkey.FIRST_PAUSE
    assert all(attempts.make() for _ in range(3))


def test_while_one_attempt_is_under_way_no_other_begins() -> None:
    attempts = Attempts()
    attempts.make()
    attempts.now += valkey.FIRST_PAUSE
    attempts.works = True
    with attempts.gate.attempt():
        assert not attempts.make()
    assert attempts.make()


# One place ------------------------------------------------------------------------------------------------------------


def test_every_connection_is_made_in_one_place() -> None:
    makers = {"from_url", "Redis", "StrictRedis", "ConnectionPool", "pubsub"}
    found = []
    for package in ("accounts", "games", "midnight"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
                if name in makers:
                    found.append(str(path.relative_to(ROOT)))
    assert set(found) == {"games/valkey.py"}


async def test_a_task_that_loses_its_cancellation_is_cancelled_again() -> None:
    lost = asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            lost.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await valkey.end_task(task)
    assert lost.is_set()
    assert task.cancelled()
