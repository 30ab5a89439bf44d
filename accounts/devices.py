"""Devices that have signed in before: a signed cookie says of which accounts, until the password changes.

It opens nothing. It sets a device apart from strangers, so that no stranger's wrong passwords keep the owner out
(accounts/attempts.py). It is bound to the account, its password and its epoch: a new password, or signing out
everywhere, makes the cookies of all other devices void.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import User

SALT = "accounts.devices"
AGE_SECONDS = 365 * 24 * 60 * 60
# Accounts that one browser remembers: a family's.
MOST_ACCOUNTS = 8


@dataclass(frozen=True, slots=True)
class Device:
    """That a browser has signed in to one account: `key` is its own there, `mark` stands for the password then."""

    user_id: int
    key: str
    mark: str

    def is_of(self, user: User) -> bool:
        return self.user_id == user.pk and any(constant_time_compare(self.mark, mark) for mark in _marks(user))


def of(request: HttpRequest, user: User | None) -> Device | None:
    """This browser as a device of that account; None where it has not signed in there since the last new password."""
    if user is None:
        return None
    return next((device for device in _read(request) if device.is_of(user)), None)


def of_any_account(request: HttpRequest) -> Device | None:
    """This browser as a device of any account that it still remembers."""
    known = _read(request)
    people = User.objects.in_bulk([device.user_id for device in known]) if known else {}
    return next((one for one in known if one.user_id in people and one.is_of(people[one.user_id])), None)


def remember(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Have the browser keep that it signed in to this account."""
    device = Device(user.pk, secrets.token_hex(8), next(_marks(user)))
    others = [one for one in _read(request) if one.user_id != user.pk]
    kept = [device, *others][:MOST_ACCOUNTS]
    response.set_cookie(
        settings.DEVICES_COOKIE_NAME,
        signing.dumps([[one.user_id, one.key, one.mark] for one in kept], salt=SALT),
        max_age=AGE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> list[Device]:
    try:
        kept = signing.loads(request.COOKIES.get(settings.DEVICES_COOKIE_NAME, ""), salt=SALT, max_age=AGE_SECONDS)
    except signing.BadSignature:
        return []
    return [Device(*one) for one in kept]


def _marks(user: User) -> Iterator[str]:
    """What stands for the account's present password and epoch: by today's key, then by former ones."""
    for proof in (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()):
        yield salted_hmac(SALT, proof).hexdigest()[:32]
