"""`/healthz`: real round trips, 503 with what is wrong, and no waiting for those who do not answer."""

import asyncio
import json
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings
from django.test import AsyncClient
from kombu.exceptions import OperationalError

from midnight import health
from midnight.celery import app
from midnight.tasks import heartbeat
from tests.midnight.running import eventually, running
from tests.services import running_postgres, running_valkey

# The database is asked in a thread of its own.
pytestmark = pytest.mark.django_db(transaction=True)


async def ask(client: AsyncClient) -> tuple[int, dict[str, Any]]:
    answer = await client.get("/healthz")
    return answer.status_code, json.loads(answer.content)


@pytest.fixture
def worker_works(valkey: redis.Redis) -> None:
    health.beat()


@pytest.mark.both_databases
async def test_all_is_well_when_everybody_answers(async_client: AsyncClient, worker_works: None) -> None:
    assert await ask(async_client) == (
        200,
        {"ok": True, "database": "ok", "moves": "ok", "redis": "ok", "worker": "ok"},
    )


async def test_no_heartbeat_no_worker(async_client: AsyncClient) -> None:
    status, found = await ask(async_client)
    assert status == 503
    assert found == {"ok": False, "database": "ok", "moves": "ok", "redis": "ok", "worker": "no heartbeat yet"}


async def test_an_old_heartbeat_is_no_worker(async_client: AsyncClient, valkey: redis.Redis) -> None:
    valkey.set(health.HEARTBEAT, time.time() - 100)
    status, found = await ask(async_client)
    assert status == 503
    assert found["worker"] == "its last heartbeat is 100 s old"


async def test_a_heartbeat_of_the_future_is_no_worker(async_client: AsyncClient, valkey: redis.Redis) -> None:
    valkey.set(health.HEARTBEAT, time.time() + 3_600)
    status, found = await ask(async_client)
    assert status == 503
    assert found["worker"] == "its last heartbeat is 3600 s ahead: a clock was set back"


async def test_a_workers_own_clock_does_not_matter(
    async_client: AsyncClient, worker_works: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    for step in (3_600, -3_600):
        monkeypatch.setattr(time, "time", lambda step=step: now + step)
        assert (await ask(async_client))[1]["worker"] == "ok"
        health.beat()
        assert (await ask(async_client))[1]["worker"] == "ok"


async def test_a_database_that_fails_is_named_and_nothing_else_is_told(
    async_client: AsyncClient, worker_works: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("postgres://midnight:hushhush@db refused")

    monkeypatch.setattr(health, "ask_database", fail)
    status, found = await ask(async_client)
    assert status == 503
    assert found["database"] == "does not answer"
    assert "hushhush" not in json.dumps(found)


async def test_a_database_that_hangs_keeps_nobody_waiting(
    async_client: AsyncClient, worker_works: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PATIENCE", 0.2)
    answers = threading.Event()
    monkeypatch.setattr(health, "ask_database", lambda: answers.wait(60))
    status, found = await ask(async_client)
    answers.set()
    assert (status, found["database"]) == (503, "no answer within 0.2 s")


async def test_many_who_ask_at_once_cost_one_examination(
    async_client: AsyncClient, worker_works: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    began, release = threading.Event(), threading.Event()

    def ask_slowly() -> None:
        asked.append(1)
        began.set()
        release.wait(60)

    monkeypatch.setattr(health, "PATIENCE", 60)
    monkeypatch.setattr(health, "ask_database", ask_slowly)
    waiting = [asyncio.create_task(health.examination.found()) for _ in range(50)]
    await asyncio.to_thread(began.wait, 60)
    waiting[0].cancel()
    release.set()
    answers = await asyncio.gather(*waiting[1:])
    assert len(asked) == 1
    assert all(answer == {"database": "ok", "moves": "ok", "redis": "ok", "worker": "ok"} for answer in answers)


async def test_no_proxy_keeps_the_answer(async_client: AsyncClient) -> None:
    assert (await async_client.get("/healthz")).headers["Cache-Control"] == "no-store"


async def test_a_machine_next_door_is_not_sent_to_https(async_client: AsyncClient, worker_works: None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "SECURE_SSL_REDIRECT", True)
        assert (await ask(async_client))[0] == 200


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="midnight-") as folder:
        yield Path(folder)


@pytest.mark.slow
def test_who_sends_a_job_does_not_wait_long_for_a_valkey_that_hangs(
    place: Path, in_time: Callable[[float], float]
) -> None:
    address = place / "valkey.sock"
    with running_valkey(address) as valkey:
        valkey.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with app.connection_for_write(f"redis+socket://{address}") as broker, pytest.raises(OperationalError):
            heartbeat.apply_async(connection=broker)
        assert time.monotonic() - began < in_time(5)
        valkey.send_signal(signal.SIGCONT)


@pytest.mark.slow
def test_it_turns_503_when_valkey_dies_or_hangs_and_back_when_it_returns(
    place: Path, in_time: Callable[[float], float]
) -> None:
    address = place / "valkey.sock"
    with running_valkey(address) as valkey, running(REDIS_URL=f"unix://{address}") as site:
        assert "valkey" not in site.children(), "no embedded Valkey where REDIS_URL is set"
        eventually(lambda: site.health()[0] == 200)

        valkey.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        status, found = site.health()
        assert time.monotonic() - began < in_time(4)
        assert (status, found["database"], found["redis"]) == (503, "ok", "no answer within 2 s")
        assert site.get("/")[0] == 200, "a page needs no Valkey"
        valkey.send_signal(signal.SIGCONT)
        eventually(lambda: site.health()[0] == 200)

        valkey.kill()
        valkey.wait()
        status, found = site.health()
        assert (status, found["database"], found["redis"]) == (503, "ok", "does not answer")
        assert found["worker"] == "nobody knows: Redis does not answer"
        with running_valkey(address):
            eventually(lambda: site.health()[0] == 200)


@pytest.mark.slow
def test_on_postgresql_it_turns_503_when_that_dies_and_back_when_it_returns(place: Path) -> None:
    postgres, valkey = place / "pg", place / "valkey.sock"
    with (
        running_postgres(postgres) as (address, process),
        running_valkey(valkey),
        running(DATABASE_URL=address, REDIS_URL=f"unix://{valkey}") as site,
    ):
        assert "Preparing the database (PostgreSQL)" in site.said()
        assert not list(site.folder.rglob("*.sqlite3"))
        eventually(lambda: site.health()[0] == 200)
        process.send_signal(signal.SIGINT)
        process.wait()
        status, found = site.health()
        assert (status, found["redis"]) == (503, "ok")
        assert found["database"] in ("does not answer", "no answer within 2 s")
        with running_postgres(postgres):
            eventually(lambda: site.health()[0] == 200)
            assert site.get("/")[0] == 200
