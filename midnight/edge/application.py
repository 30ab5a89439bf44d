"""The ASGI layer around everything else: what Daphne or a header may not decide, machines' questions, and the count of
open sockets."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.conf import settings

from accounts import addresses
from midnight.edge import probes
from midnight.edge.admission import Admission, admission

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
# Each library has types of its own for what ASGI calls.
Application = Any
Receive = Any

NO_BODY = {204, 304}


def with_edge(application: Application, why_not_ready: Callable[[], str] = str) -> Application:
    """The application as the server calls it: at the root no matter what a header says, and each open socket counted.

    `why_not_ready` says what speaks against sending visitors here, "" where nothing does.
    """

    def called(scope: Scope, receive: Receive, send: Send) -> Any:
        # Daphne takes it from a header; Django would put it before every address of the site, letters' links too.
        scope["root_path"] = ""
        if scope["type"] == "http":
            if scope["path"] in probes.PROBES and probes.asks_from_near(scope):
                return probes.answer(scope, send, why_not_ready)
            probes.called_by_any_name(scope)
            return application(scope, receive, without_forbidden_body(scope, send))
        if scope["type"] == "websocket":
            # Counted before anything is awaited: of two that come at once the second sees the first.
            return counted(application, scope, receive, send, admission())
        return application(scope, receive, send)

    # What it answers is awaitable, though something happens before it is awaited.
    return markcoroutinefunction(called)


def without_forbidden_body(scope: Scope, send: Send) -> Send:
    """A `send` that drops the body where HTTP knows none: the answer to a HEAD, 204 and 304.

    Daphne writes every piece after the first past Twisted's own guard; the next request on the line would be answered
    by the rest of this body.
    """
    drops = scope["method"] == "HEAD"

    async def sent(message: Message) -> None:
        nonlocal drops
        if message["type"] == "http.response.start":
            drops = drops or message["status"] in NO_BODY
        elif drops and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return sent


def counted(
    application: Application, scope: Scope, receive: Receive, send: Send, admission: Admission
) -> Awaitable[None]:
    """The application for one socket, which counts from this call on until it ends."""
    leave = admission.sockets.enter(household_of(scope))

    async def run() -> None:
        try:
            await application(scope, receive, send)
        finally:
            leave()

    return run()


def household_of(scope: Scope) -> str:
    """What limits count the visitor as."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for").decode("latin-1")
    peer = scope["client"][0] if scope.get("client") else ""
    return addresses.household(addresses.client(peer, forwarded, settings.TRUSTED_PROXIES))
