"""How often an address may come to a door: so many times in each minute of the clock, counted where it may be lost."""

import functools
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from redis import RedisError

from accounts import addresses

SECONDS = 60
Page = Callable[..., HttpResponse]


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
        # Who cannot count lets people in.
        return most
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
