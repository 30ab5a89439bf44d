"""What surrounds every request and socket: an id, a line in the log, a measurement, and a refusal of what cannot be."""

import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin
from prometheus_client import Counter, Histogram, disable_created_metrics

from midnight.logs import belonging_to, new_id
from midnight.pages import bad_request

logger = logging.getLogger("midnight.requests")

disable_created_metrics()  # type: ignore[no-untyped-call]
REQUESTS = Counter("midnight_requests_total", "Requests answered.", ["view", "method", "status"])
SECONDS = Histogram(
    "midnight_request_seconds",
    "Time from a request's arrival to its answer.",
    ["view"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Counted, but not worth a line each.
QUIET = {"healthz", "metrics", "static"}
PROXY_ID = re.compile(r"[0-9A-Za-z-]{8,64}")

Answer = Callable[[HttpRequest], HttpResponseBase]
AsyncAnswer = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


def give_id(request: HttpRequest) -> str:
    """The id our proxy gave the request, or a new one; what strangers send is not taken."""
    given = request.headers.get("X-Request-ID", "")
    name = given if settings.TRUSTED_PROXIES and PROXY_ID.fullmatch(given) else new_id()
    request.META["midnight.id"] = name  # Django logs errors when we are done
    return name


def view_of(request: HttpRequest) -> str:
    """A name out of few: an address may hold anything, one-time links too."""
    if match := request.resolver_match:
        return match.view_name or match.route
    return "static" if request.path.startswith(settings.STATIC_URL) else "none"


def finish(request: HttpRequest, response: HttpResponseBase, name: str, began: float) -> HttpResponseBase:
    took = time.perf_counter() - began
    view = view_of(request)
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(view, method, response.status_code).inc()
    SECONDS.labels(view).observe(took)
    if view not in QUIET:
        facts = {"method": method, "view": view, "status": response.status_code, "ms": round(took * 1000, 1)}
        level = logging.WARNING if response.status_code >= 500 else logging.INFO
        logger.log(level, "%s %s %s in %.0f ms", method, view, response.status_code, facts["ms"], extra=facts)
    response["X-Request-ID"] = name
    return response


@sync_and_async_middleware
def around_requests(get_response: Any) -> Answer | AsyncAnswer:
    """The outermost middleware: gives a request its id, and logs, counts and measures its answer."""

    async def in_the_loop(request: HttpRequest) -> HttpResponseBase:
        name, began = give_id(request), time.perf_counter()
        with belonging_to(name):
            return finish(request, await get_response(request), name, began)

    def in_a_thread(request: HttpRequest) -> HttpResponseBase:
        name, began = give_id(request), time.perf_counter()
        with belonging_to(name):
            return finish(request, get_response(request), name, began)

    return in_the_loop if iscoroutinefunction(get_response) else in_a_thread


class NulMiddleware(MiddlewareMixin):
    """PostgreSQL holds no text with a NUL in it, and nobody types one: what fails for that is no fault of ours."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        if isinstance(exception, DataError) and any("\0" in text for text in _said(request)):
            return bad_request(request, exception)
        return None


def _said(request: HttpRequest) -> Iterator[str]:
    yield request.path
    for _, texts in chain(request.GET.lists(), request.POST.lists()):
        yield from map(str, texts)


def around_sockets(application: Any) -> Any:
    """The same id for everything that a socket's consumer logs, and the way straight to the server for what it sends.

    Channels' session looks at every message that passes it, whether there is something to save; a table sends thousands
    a second and never changes a session.
    """

    async def with_id(scope: Any, receive: Any, send: Any) -> None:
        with belonging_to(new_id()):
            await application({**scope, "straight": send}, receive, send)

    return with_id
