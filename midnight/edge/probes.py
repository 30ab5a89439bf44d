"""What machines next door ask of a web process, answered by address and before anything that may be full or broken.

`/livez`: the event loop turns. Who does not get this answer may end the process.
`/readyz`: this process can store a move and is not about to stop. Who gets 503 sends visitors elsewhere.

Both are answered in the event loop, without a thread, a query or a limit. Strangers get the 404 of any other address.
`/healthz` and `/metrics` are pages (midnight/health.py); here they are only reached under any name a machine next
door has for this one.
"""

import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port

from accounts import addresses

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LIVE, READY = "/livez", "/readyz"
PROBES = {LIVE, READY}
HEALTH, METRICS = "/healthz", "/metrics"


def is_probe(path: bytes) -> bool:
    return path.decode("latin-1") in PROBES


def is_near(peer: str, forwarded: str) -> bool:
    """Whether a request comes from this machine or a private network, and not through a proxy of ours from farther."""
    address = addresses.client(peer, forwarded, settings.TRUSTED_PROXIES)
    if address == addresses.UNKNOWN:
        return not peer and not forwarded  # a unix socket's
    return ipaddress.ip_address(address).is_private


def asks_from_near(scope: Scope) -> bool:
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
    return is_near(scope["client"][0] if scope.get("client") else "", forwarded)


async def answer(scope: Scope, send: Send, why_not_ready: Callable[[], str]) -> None:
    """Answer `/livez` or `/readyz`."""
    why = why_not_ready() if scope["path"] == READY else ""
    word = "live" if scope["path"] == LIVE else "ready"
    body = json.dumps({word: not why, **({"why": why} if why else {})}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 503 if why else 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def called_by_any_name(scope: Scope) -> None:
    """Let Django take a request for `/healthz` or `/metrics` from near for one that calls this machine by its own name.

    A web page that a browser on this machine has open can have a name of its own point here. It must not read what only
    this machine may: without a token `/metrics` is there under an address, which no page can make its own, or our name.
    """
    path = scope["path"]
    if path not in (HEALTH, METRICS) or not asks_from_near(scope):
        return
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    if path == HEALTH or settings.METRICS_TOKEN or _is_address(host):
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [*others, (b"host", b"localhost")]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(split_domain_port(host)[0].strip("[]"))
    except ValueError:
        return False
    return True
