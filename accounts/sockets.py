"""Who is at the other end of a socket: a page of this site with its session, or a program with a token."""

from collections.abc import Sequence
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.security.websocket import OriginValidator
from django.contrib.auth.models import AnonymousUser

from accounts import tokens

BEARER = b"bearer "


def by_token_or_session(application: Any, origins: Sequence[str]) -> Any:
    """Put `user` into the scope, and `token` where there is one.

    A browser adds its cookies to whatever any site asks it for, so pages must come from this site. It never adds a
    token by itself, so a program may come from anywhere. A token that is not good comes with nobody.
    """
    by_session = OriginValidator(AuthMiddlewareStack(application), origins)

    async def whoever(scope: Any, receive: Any, send: Any) -> None:
        if (secret := _secret(scope)) is None:
            await by_session(scope, receive, send)
            return
        token = await database_sync_to_async(tokens.holder)(secret)
        user = AnonymousUser() if token is None else token.user
        await application({**scope, "user": user, "token": token}, receive, send)

    return whoever


def _secret(scope: Any) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization" and value.lower().startswith(BEARER):
            return str(value[len(BEARER) :].decode("latin-1").strip())
    return None
