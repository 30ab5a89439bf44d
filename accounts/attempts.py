"""How often passwords, codes and letters may be tried: by account and household, never so that a stranger locks out
the owner.

A device that has signed in before has an allowance of its own. A stranger's wrong passwords count for the account and
household together, and for the household. For the account alone they are counted only to make each stranger's allowance
smaller: the owner still gets in from another address, and at once from a known device.

With these figures one household tries 50 passwords of an account a day and 300 of all accounts together. Of one
account, all strangers of the world together try 200 a day and 5 more for each further household.
"""

import ipaddress
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from typing import TypeVar

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from redis import RedisError

from accounts import addresses, devices
from accounts.models import User

T = TypeVar("T")
View = Callable[..., HttpResponseBase]

MINUTE, HOUR, DAY = 60, 60 * 60, 24 * 60 * 60
SHORT = 10 * MINUTE
# Wrong passwords of one account from one household or device.
MOST_SHORT, MOST_DAY = 10, 50
# Wrong passwords from one household, for all accounts together.
MOST_MINUTE_AT_HOME, MOST_DAY_AT_HOME = 20, 300
# An IPv6 provider gives a customer up to a /48, which is 65,536 households: together they have these.
WIDE_PREFIX, MOST_SHORT_WIDE, MOST_DAY_WIDE = 48, 40, 200
# So many wrong passwords of strangers in a day, and each household has only a few left.
UNDER_ATTACK, MOST_DAY_UNDER_ATTACK = 200, 5
# Codes of a second factor, tried by strangers who know the password, from all households together.
MOST_CODES_DAY = 100
# Forms sent to the sign-in page, right or wrong.
MOST_FORMS = 30
# Letters for a forgotten password: to one address from one household, from a household, to one address in all.
LETTERS_HOUR, LETTERS_AT_HOME, LETTERS_IN_ALL = 3, 20, 6


@dataclass(frozen=True, slots=True)
class Limit:
    """So many of something in so many seconds, from the first one on; `most` is None where it is only counted."""

    key: str
    most: int | None
    seconds: int

    def take(self) -> bool:
        """Count one; False where it is one too many."""
        cache.add(self._cache_key, 0, self.seconds)
        count = int(cache.incr(self._cache_key))
        return self.most is None or count <= self.most

    def give_back(self) -> None:
        cache.decr(self._cache_key)

    def count(self) -> int:
        return int(cache.get(self._cache_key, 0))

    def clear(self) -> None:
        cache.delete(self._cache_key)

    @property
    def _cache_key(self) -> str:
        # What was typed may be long, and may be a mail address.
        return f"attempts:{sha256(self.key.encode()).hexdigest()}:{self.seconds}"


class Attempt:
    """One try, counted before it is judged so that tries at once are counted too."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._taken: list[Limit] = []
        self.refused_by: Limit | None = None
        for limit in limits:
            if not _counting(limit.take, True):
                self.refused_by = limit
                # Wider limits are not used up by tries that a narrow one refuses.
                return
            self._taken.append(limit)

    def give_back(self) -> None:
        """It was right: it costs nothing."""
        for limit in self._taken:
            _counting(limit.give_back, None)


def _counting(act: Callable[[], T], otherwise: T) -> T:
    """What cannot be counted lets people in: the cache may lose everything at any time."""
    try:
        return act()
    except (RedisError, ValueError):
        return otherwise


def of_password(request: HttpRequest, account: str, user: User | None) -> Attempt:
    """A password tried for `account`, as it counts; `user` is its owner, None where there is none."""
    device = devices.of(request, user)
    if device is not None:
        return Attempt(_of_device("password", device))
    house = household_of(request)
    in_all = Limit(f"password:{account}", None, DAY)
    under_attack = _counting(in_all.count, 0) >= UNDER_ATTACK
    return Attempt(
        [
            *_of_household("password", account, house),
            *([Limit(f"password:{account}:few:{house}", MOST_DAY_UNDER_ATTACK, DAY)] if under_attack else []),
            Limit(f"password:at:{house}", MOST_MINUTE_AT_HOME, MINUTE),
            Limit(f"password:at:{house}", MOST_DAY_AT_HOME, DAY),
            in_all,
        ]
    )


def of_code(request: HttpRequest, user: User) -> Attempt:
    """A code of a second factor. The password was right by then, so a stranger's tries have one end for all."""
    device = devices.of(request, user)
    if device is not None:
        return Attempt(_of_device("code", device))
    return Attempt(
        [*_of_household("code", str(user.pk), household_of(request)), Limit(f"code:{user.pk}", MOST_CODES_DAY, DAY)]
    )


def of_reset(request: HttpRequest, mail: str) -> Attempt:
    """A letter asked for; refused alike for addresses that are known here and others."""
    house = household_of(request)
    return Attempt(
        [Limit(f"reset:{mail}:{house}", LETTERS_HOUR, HOUR), Limit(f"reset:at:{house}", LETTERS_AT_HOME, HOUR)]
    )


def may_write_again(mail: str) -> bool:
    """Whether one more letter goes to that address. Beyond this its mailbox has some whose links still work."""
    return Attempt([Limit(f"reset:{mail}", LETTERS_IN_ALL, HOUR)]).refused_by is None


def forget(request: HttpRequest, account: str) -> None:
    """A new password was set by mail from here: what was tried before counts for nothing."""
    for limit in _of_household("password", account, household_of(request)):
        _counting(limit.clear, None)


def limited(door: str, methods: Collection[str] = ("POST",)) -> Callable[[View], View]:
    """Let a household through a door so often a minute; a device that has signed in before has its own allowance."""

    def around(view: View) -> View:
        @wraps(view)
        def limited_view(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if request.method in methods:
                device = devices.of_any_account(request)
                sender = f"at:{household_of(request)}" if device is None else f"device:{device.key}"
                if Attempt([Limit(f"{door}:{sender}", MOST_FORMS, MINUTE)]).refused_by is not None:
                    return too_often(request, MINUTE)
            return view(request, *args, **kwargs)

        return limited_view

    return around


def too_often(request: HttpRequest, seconds: int) -> HttpResponse:
    """The page that asks to wait."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(seconds)
    return response


def household_of(request: HttpRequest) -> str:
    return addresses.household(addresses.of_request(request))


def _of_device(what: str, device: devices.Device) -> list[Limit]:
    key = f"{what}:device:{device.key}"
    return [Limit(key, MOST_SHORT, SHORT), Limit(key, MOST_DAY, DAY)]


def _of_household(what: str, account: str, house: str) -> list[Limit]:
    key = f"{what}:{account}:{house}"
    limits = [Limit(key, MOST_SHORT, SHORT), Limit(key, MOST_DAY, DAY)]
    if ":" in house:
        wide = ipaddress.ip_network(f"{house}/{WIDE_PREFIX}", strict=False)
        wide_key = f"{what}:{account}:{wide}"
        limits += [Limit(wide_key, MOST_SHORT_WIDE, SHORT), Limit(wide_key, MOST_DAY_WIDE, DAY)]
    return limits
