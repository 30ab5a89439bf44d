"""How often an address may ask: so many times in each minute of the clock, counted where it may be lost."""

import time

from django.conf import settings
from django.core.cache import cache
from redis import RedisError

SECONDS = 60


def seconds_to_wait() -> int:
    """Until the next minute of the clock begins."""
    return SECONDS - int(time.time()) % SECONDS


def take(address: str) -> int | None:
    """One request of this address; how many it has left in this minute, or None where there is none left."""
    key = f"api:{address}:{int(time.time()) // SECONDS}"
    try:
        cache.add(key, 0, 2 * SECONDS)
        left: int = settings.API_LIMIT - cache.incr(key)
    except (RedisError, ValueError):
        # Who cannot count lets people in.
        return settings.API_LIMIT
    return left if left >= 0 else None
