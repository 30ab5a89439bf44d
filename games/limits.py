"""How often an address may come to a door: so many times in each minute of the clock, counted where it may be lost."""

import functools
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from redis import RedisError

from accounts import addresses

SECONDS = 60
MOST_KEYS = 10_000
Page = Callable[..., HttpResponse]


class OwnCounts:
    """A fallback counter in this process, for the current minute, while the cache does not answer."""

    def __init__(self) -> None:
        self._minute = 0
        self._counts = Counter[str]()
        self._lock = threading.Lock()

    def add(self, door: str, key: str) -> int:
        """Count this key; its count in this minute. Beyond MOST_KEYS all new keys of a door share one count."""
        minute = int(time.time()) // SECONDS
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            if key not in self._counts and len(self._counts) >= MOST_KEYS:
                key = door
            self._counts[key] += 1
            return self._counts[key]


own_counts = OwnCounts()


def seconds_to_wait() -> int:
    """Until the next minute of the clock begins."""
    return SECONDS - int(time.time()) % SECONDS


def take(door: str, request: HttpRequest, most: int) -> int | None:
    """One request at a door that lets an address in so often; how many it has left in this minute, or None if none."""
    address = addresses.household(addresses.of_request(request))
    key = f"{door}:{address}:{int(time.time()) // SECONDS}"
    try:
        cache.add(key, 0, 2 * SECONDS)
        left: int = most - cache.incr(key)
    except (RedisError, ValueError):
        left = most - own_counts.add(door, key)
    return left if left >= 0 else None


def costly(view: Page) -> Page:
    """A page for which a whole game is played again: all of these together are one door."""

    @functools.wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if take("replay", request, settings.REPLAY_LIMIT) is None:
            response = render(request, "429.html", status=429)
            response["Retry-After"] = str(seconds_to_wait())
            return response
        return view(request, *args, **kwargs)

    return limited
