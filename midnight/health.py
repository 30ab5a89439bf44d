"""Does everything the site stands on work? And how is it doing? For people and for machines that call them.

Not for load balancers: what is wrong here is wrong for every web process alike. They ask `/readyz` (edge/probes.py).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from typing import Any

import redis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.request import split_domain_port
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest

from games import readiness, tables, valkey
from midnight import schedule

logger = logging.getLogger(__name__)

HEARTBEAT = "midnight:heartbeat"
# Beat sends a heartbeat every few seconds (schedule.py): after three that are missing the worker is ill.
OLDEST_HEARTBEAT = 3 * schedule.HEARTBEAT_SECONDS
# Ahead of Valkey's clock by more, it was written before that clock was set back: it says nothing about now.
MOST_AHEAD = 1
# The longest that one part may take to answer.
PATIENCE = 2.0

LOOPBACK = {"127.0.0.1", "::1"}
PROXY_HEADERS = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via")
HEARTBEAT_AGE = Gauge("midnight_worker_heartbeat_age_seconds", "Since the worker last worked; -1 when nobody knows.")


class Ill(Exception):
    """What is wrong with a part, in a sentence without secrets."""


def beat() -> None:
    """Write the time by Valkey's clock, which is also what its age is measured by: no machine's own clock matters."""
    with valkey.client(PATIENCE) as client:
        client.set(HEARTBEAT, valkey.seconds_of(client.time()))


def ask_database() -> None:
    """Ask whether it answers, and whether it would take a write; only the tables know whether there is room for one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only" if connection.vendor == "postgresql" else "SELECT 'off'")
            if cursor.fetchone() != ("off",):
                raise Ill("it takes no writes")
    finally:
        connection.close()


async def database() -> None:
    # Not in the thread that other requests share: it may be waiting for the same database.
    await sync_to_async(ask_database, thread_sensitive=False)()


async def moves() -> None:
    """Whether the tables of this process can store a move; before the first player came there is nothing to say."""
    here = tables.running_here()
    if here is not None and (why := readiness.why_no_moves(here)):
        raise Ill(f"none can be stored: {why}")


async def heartbeat_age() -> float | None:
    """Seconds since the worker last worked, None if it never did; below zero where Valkey's clock was set back."""
    async with valkey.async_client(PATIENCE) as client:
        last = await client.get(HEARTBEAT)
        return None if last is None else valkey.seconds_of(await client.time()) - float(last)


async def ask_redis() -> None:
    async with valkey.async_client(PATIENCE) as client:
        await client.ping()


async def worker() -> None:
    try:
        age = await heartbeat_age()
    except redis.RedisError:
        raise Ill("nobody knows: Redis does not answer") from None
    if age is None:
        raise Ill("no heartbeat yet")
    if age < -MOST_AHEAD:
        raise Ill(f"its last heartbeat is {-age:.0f} s ahead: a clock was set back")
    if age > OLDEST_HEARTBEAT:
        raise Ill(f"its last heartbeat is {age:.0f} s old")


PARTS: dict[str, Callable[[], Awaitable[None]]] = {
    "database": database,
    "moves": moves,
    "redis": ask_redis,
    "worker": worker,
}


async def examine(name: str, ask: Callable[[], Awaitable[None]]) -> str:
    """What is wrong with a part, or "ok". The whole error is for the log, not for whoever asks."""
    try:
        await asyncio.wait_for(ask(), PATIENCE)
    except TimeoutError:
        return f"no answer within {PATIENCE:g} s"
    except Ill as illness:
        return str(illness)
    except Exception as error:
        logger.warning("%s is ill: %s", name, error)
        return "does not answer"
    return "ok"


class Examination:
    """All parts, asked once however many wait for the answer: asking opens connections, and anybody may ask."""

    def __init__(self) -> None:
        self._asking: asyncio.Task[dict[str, str]] | None = None

    async def found(self) -> dict[str, str]:
        """What each part answers."""
        loop = asyncio.get_running_loop()
        if self._asking is None or self._asking.done() or self._asking.get_loop() is not loop:
            self._asking = loop.create_task(self._ask())
        # Shared: a visitor who leaves must not end it for the others.
        return await asyncio.shield(self._asking)

    @staticmethod
    async def _ask() -> dict[str, str]:
        return dict(zip(PARTS, await asyncio.gather(*(examine(*part) for part in PARTS.items())), strict=True))


examination = Examination()


async def healthz(request: HttpRequest) -> JsonResponse:
    """200 when every part answers, 503 with what is wrong."""
    found = await examination.found()
    ill = [f"{name}: {answer}" for name, answer in found.items() if answer != "ok"]
    if ill:
        logger.warning("Not well: %s.", "; ".join(ill))
    return JsonResponse({"ok": not ill, **found}, status=503 if ill else 200, headers={"Cache-Control": "no-store"})


def may_read_metrics(request: HttpRequest) -> bool:
    """Whether the request has METRICS_TOKEN; without one, whether it comes from this machine, by one of its own names.

    Behind a proxy of ours every request comes from this machine: there a token is needed.
    """
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    if settings.TRUSTED_PROXIES or any(name in request.headers for name in PROXY_HEADERS):
        return False
    host, _ = split_domain_port(request.get_host())
    return request.META.get("REMOTE_ADDR") in LOOPBACK and host in settings.AT_HOME


async def metrics(request: HttpRequest) -> HttpResponse:
    """This process's figures in Prometheus's format; every web process has its own."""
    if not may_read_metrics(request):
        raise Http404
    try:
        age: Any = await asyncio.wait_for(heartbeat_age(), PATIENCE)
    except (redis.RedisError, OSError, TimeoutError):
        age = None
    HEARTBEAT_AGE.set(-1 if age is None else age)
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
