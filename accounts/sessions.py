"""The sessions of people: how they end, and how every process hears of it.

An end is a row. The process that writes it also sends `signals.signed_out`, and a ring follows from that; whoever hears
it looks at once (`ends_of`). Each process looks for rows every second all the same (`EndWatch`), so that no lost ring
keeps a socket open. A session that runs out by itself has no such row: each process knows until when the sessions of
its sockets last (`ExpiryWatch`).
"""

import time
from collections import deque
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from importlib import import_module

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from accounts import addresses, signals
from accounts.models import EndedSession, User

# How long each end of a session is told again. Longer than any connection takes from its sign-in check to its table.
OVERLAP_SECONDS = 15.0
# Rows get their ids in one order and appear in another: a look goes back by so many, for transactions that took long.
IDS_BACK = 200
KEPT = timedelta(days=1)
# Where a session remembers the keys that it had before.
FORMER_KEYS = "former_keys"
# A session that was in use within this time says where its person is at home.
SAME_HOME = timedelta(days=1)
# As many values as SQLite takes in one question, with room to spare.
ASKED_AT_ONCE = 500


class EndWatch:
    """What one process asks each second: which sessions ended lately?

    A row comes again and again for fifteen seconds after it was found here, so a socket that was just connecting then
    is caught by a later look. Ending a socket twice ends it once. Rows are found by their ids: no two machines need to
    have the same time.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        # Ids that were the highest, and when; the first of them is as old as a row may be that comes again.
        self._highest: deque[tuple[float, int]] = deque()
        # Of the ids looked at each time, when they were found here; and the ends that still come again.
        self._found: dict[int, float] = {}
        self._ends: dict[int, EndedSession] = {}

    def look(self) -> list[EndedSession]:
        """The ends found here for the first time, and those found in the last fifteen seconds."""
        now = self._monotonic()
        while len(self._highest) > 1 and self._highest[1][0] < now - OVERLAP_SECONDS:
            self._highest.popleft()
        first = self._highest[0][1] if self._highest else _highest_end()
        ids = list(EndedSession.objects.filter(pk__gt=first - IDS_BACK).order_by("pk").values_list("pk", flat=True))
        new = [pk for pk in ids if pk not in self._found]
        if new:
            self._ends |= {end.pk: end for end in EndedSession.objects.filter(pk__gte=new[0]).order_by("pk")}
        self._highest.append((now, max([first, *ids])))
        self._found = {pk: self._found.get(pk, now) for pk in ids}
        self._ends = {pk: end for pk, end in self._ends.items() if now - self._found.get(pk, now) < OVERLAP_SECONDS}
        return list(self._ends.values())


class ExpiryWatch:
    """Which sessions of open sockets have run out, or are gone without a word.

    The database is asked once for each session, and again when the time has come that it named then: a session that
    was prolonged meanwhile goes on.
    """

    def __init__(self) -> None:
        self._until: dict[str, datetime] = {}

    def look(self, keys: Collection[str]) -> set[str]:
        """Those of the open sockets' sessions that are over."""
        now = timezone.now()
        self._until = {key: until for key, until in self._until.items() if key in keys and until > now}
        unknown = [key for key in keys if key not in self._until]
        for first in range(0, len(unknown), ASKED_AT_ONCE):
            asked = Session.objects.filter(session_key__in=unknown[first : first + ASKED_AT_ONCE], expire_date__gt=now)
            self._until.update(asked.values_list("session_key", "expire_date"))
        return {key for key in unknown if key not in self._until}


def ends_of(people: Collection[int]) -> list[EndedSession]:
    """Which sessions of these people ended lately?"""
    return list(EndedSession.objects.filter(user__in=people, pk__gt=_highest_end() - IDS_BACK))


def _highest_end() -> int:
    highest: int = EndedSession.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    return highest


def go_on(request: HttpRequest, user: User) -> None:
    """Let this request's session go on under a new key, although the person's password and rights changed.

    Sockets that were opened under its old key stay open, and end with it.
    """
    old = request.session.session_key
    request.session.cycle_key()
    request.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    if old:
        request.session[FORMER_KEYS] = [*request.session.get(FORMER_KEYS, []), old]
        UserSession.objects.filter(session_key=old).update(session_key=request.session.session_key)


def end_current(request: HttpRequest) -> None:
    """Tell everybody that this request's session is over; whoever calls flushes it."""
    user = request.user
    if isinstance(user, AnonymousUser) or not request.session.session_key:
        return
    with transaction.atomic():
        UserSession.objects.filter(session_key=request.session.session_key).delete()
        _tell_of(user, request.session)


def end_one(user: User, session_key: str) -> bool:
    """End one session of this person's; False where they have none with that key."""
    with transaction.atomic():
        if not UserSession.objects.filter(user=user, session_key=session_key).delete()[0]:
            return False
        session = _store(session_key)
        _tell_of(user, session)
        session.delete(session_key)
    return True


def _tell_of(user: User, session: SessionBase) -> None:
    """This session is over, under each key that it ever had."""
    for key in [*session.get(FORMER_KEYS, []), session.session_key]:
        tell(user, EndedSession.Reason.SIGNED_OUT, session_key=key)


def end_all(user: User, reason: EndedSession.Reason, *, keep: HttpRequest | None = None) -> None:
    """End every session and every socket of this person's.

    With `keep`, whoever asked stays signed in, in a new session that takes the place of the request's old one.
    """
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
        user.refresh_from_db(fields=["session_epoch", "password"])
        kept = keep.session.session_key if keep else None
        for listed in UserSession.objects.filter(user=user).exclude(session_key=kept or ""):
            listed.end()
        if keep:
            keep.session.cycle_key()
            keep.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
            UserSession.objects.filter(session_key=kept or "").update(session_key=keep.session.session_key)
        tell(user, reason)


def listed(user: User) -> list[UserSession]:
    """The person's living sessions, the one last seen first."""
    return sorted(UserSession.objects.purge_and_list(user), key=lambda session: session.last_seen_at, reverse=True)


def households_of(people: Collection[int]) -> dict[int, set[str]]:
    """From which households these people's sessions were in use during the last day, where that is known."""
    lately = UserSession.objects.filter(user__in=people, last_seen_at__gt=timezone.now() - SAME_HOME)
    found: dict[int, set[str]] = {}
    for user_id, address in lately.values_list("user_id", "ip"):
        if addresses.tells_household(addresses.tidy(address)):
            found.setdefault(user_id, set()).add(addresses.household(addresses.tidy(address)))
    return found


def forget_old_ends(now: datetime) -> None:
    EndedSession.objects.filter(at__lt=now - KEPT).delete()


def clear_expired(now: datetime) -> None:
    """Throw away sessions that nobody can use any more, and their entries in people's lists."""
    _store().clear_expired()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).filter(
        last_seen_at__lt=now - KEPT
    ).delete()


def _store(session_key: str | None = None) -> SessionBase:
    store: SessionBase = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return store


def tell(user: User, reason: EndedSession.Reason, session_key: str = "") -> None:
    """Let every process know that one of this person's sessions is over, or all of them."""
    ended = EndedSession.objects.create(user=user, session_key=session_key, epoch=user.session_epoch, reason=reason)
    signals.send_on_commit(signals.signed_out, User, ended=ended)
