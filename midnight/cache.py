"""The cache's connections, shared by the whole process.

Django makes a cache object for each thread, and under ASGI each request runs in a thread of its own: with Django's own
client every request that touches the cache opens a connection, which is closed when the garbage collector comes by.
"""

from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from games import valkey


class SharedPoolClient(RedisCacheClient):
    """A client whose pools of connections are those of every other one with the same servers.

    While Valkey is away it raises at once, so that a page which asks the cache waits for it once at most.
    """

    _shared: dict[tuple[str, ...], dict[int, Any]] = {}

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, **options)
        self._client = valkey.GatedClient
        self._pools = self._shared.setdefault(tuple(servers), {})


class SharedPoolCache(RedisCache):
    """Django's Redis cache, with one pool of connections for the process."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = SharedPoolClient
