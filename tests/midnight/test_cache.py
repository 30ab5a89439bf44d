"""The cache under many requests at once: few connections, and every one of them used again."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import redis
from django.core.cache import cache
from django.test import RequestFactory

from games import limits


def test_many_requests_at_once_share_few_connections(valkey: redis.Redis) -> None:
    """Each in a thread of its own, as ASGI has it."""
    together = Barrier(100)
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1")

    def ask() -> int | None:
        together.wait(60)
        return limits.take("door", request, most=1_000)

    before = valkey.info("clients")["connected_clients"]
    with ThreadPoolExecutor(100) as threads:
        left = list(threads.map(lambda _: ask(), range(100)))
        opened = valkey.info("clients")["connected_clients"] - before
    assert sorted(number for number in left if number is not None) == list(range(900, 1_000))
    assert opened <= 20


def test_a_connection_that_valkey_closed_is_made_anew(valkey: redis.Redis) -> None:
    cache.set("a", 1)
    valkey.client_kill_filter(_type="normal", skipme=True)
    assert cache.get("a") == 1
