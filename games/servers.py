"""The processes that look after games, and the one clock they share.

Every process says once a second that it lives (`beat`), from a thread that does not wait for its event loop
(games/heartbeat.py), and since when that loop has stood still. A process that was not heard of for `SILENT_MS` is gone,
and its games are anybody's. One that is heard of but stands still is busy: it keeps its games for `STUCK_MS`.

The time is the database's: each process reads it at its start and follows it slowly, with its own monotonic clock
between, so that no two processes disagree by more than a few milliseconds and no clock that is set back by hand can
make a limit act early.
"""

import logging
import os
import socket
import time
from collections.abc import Callable
from typing import NamedTuple

from django.db import connection
from django.db.models import Q, QuerySet

from games.models import Game, Server
from games.pulse import pulse

logger = logging.getLogger(__name__)

SILENT_MS = 2_000
# A process whose event loop has stood still for so long keeps no game any longer, although it lives.
STUCK_MS = 15_000
GONE_MS = 60_000
ALARM_MS = 500
# How far one correction moves the clock: five hundredths of the second between two beats.
STEP_MS = 50


class Loss(NamedTuple):
    """For how long a game was not looked after.

    `stalled`: its process lived and stood still all that time. Else that process was gone, as after a crash.
    """

    ms: int
    stalled: bool


NOTHING_LOST = Loss(0, stalled=False)


class Idle(NamedTuple):
    """A process that does not look after its games: since when, and whether it lives and only stands still."""

    since: int
    stalled: bool


class Clock:
    """The database's clock as this process follows it, in whole milliseconds since 1970."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ahead: float | None = None

    def now(self) -> int:
        """Never before the first `follow`."""
        if self._ahead is None:
            raise RuntimeError("The clock has not been set.")
        return int(self._monotonic() * 1000 + self._ahead)

    @property
    def is_set(self) -> bool:
        return self._ahead is not None

    def follow(self, read: Callable[[], int]) -> None:
        """Ask the database for the time and move towards it; half of the way there and back is its answer's age."""
        before = self._monotonic()
        theirs = read()
        after = self._monotonic()
        ahead = theirs - (before + after) * 500
        if self._ahead is None:
            self._ahead = ahead
            return
        skew = ahead - self._ahead
        if abs(skew) > ALARM_MS:
            logger.warning("This process's clock is %d ms away from the database's.", -skew)
        if skew > ALARM_MS:
            # Far behind (this machine slept): a late clock only makes limits late, so it may jump forward.
            self._ahead = ahead
        else:
            self._ahead += max(-STEP_MS, min(STEP_MS, skew))


def database_now() -> int:
    """The database's clock, in whole milliseconds since 1970."""
    if connection.vendor == "postgresql":
        question = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    else:
        question = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    with connection.cursor() as cursor:
        cursor.execute(question)
        return int(cursor.fetchone()[0])


def enlist(now: int) -> int:
    """A row for this process."""
    return Server.objects.create(name=own_name(), seen=now).pk


def own_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:100]


def beat(server: int, now: int, stands_still_ms: int = 0, people: int = 0) -> None:
    """Say that this process lives, and how it does; a row that was cleared away comes back."""
    said = {"seen": now, "turned": now - stands_still_ms, "pulse": pulse.read(people)}
    if not Server.objects.filter(pk=server).update(**said):
        Server.objects.create(pk=server, name=own_name(), **said)


def overdue(now: int) -> list[int]:
    """Running games whose time has come and whose keeper is gone.

    A live game waits a minute for its people's web process to come back: until then nobody could play it anyway.
    """
    due = Game.objects.filter(ended=None, wake_at__lte=now)
    relaxed = due.filter(_forsaken(now), pace=Game.Pace.RELAXED)
    live = due.filter(_forsaken(now, GONE_MS), pace=Game.Pace.LIVE)
    ids: list[int] = list(relaxed.union(live).values_list("pk", flat=True)[:500])
    return ids


def orphans(now: int, mine: int) -> list[int]:
    """Running games that need somebody: live ones whose keeper fell silent, relaxed ones in which only bots have
    something to do and nobody moves their hands, and those that are due and kept by nobody else; of one's own, those
    that were dropped."""
    running = Game.objects.filter(ended=None)
    forsaken = _forsaken(now)
    live = running.filter(forsaken, pace=Game.Pace.LIVE).exclude(kept_by=None).exclude(kept_by=mine)
    bots_turn = running.filter(forsaken | Q(kept_by=mine), pace=Game.Pace.RELAXED, awaits=0, head__gt=0)
    due = running.filter(forsaken | Q(kept_by=mine), wake_at__lte=now)
    ids: list[int] = list(live.union(bots_turn, due).values_list("pk", flat=True)[:500])
    return ids


def _forsaken(now: int, silent_ms: int = SILENT_MS) -> Q:
    """Of games: no process keeps them, or one that is gone for so long, or stuck, or whose row is gone."""
    return ~Q(kept_by__in=Server.objects.filter(seen__gte=now - silent_ms).exclude(pk__in=_stuck(now, silent_ms)))


def _stuck(now: int, silent_ms: int = SILENT_MS) -> "QuerySet[Server]":
    """The processes that live, but have stood still for too long. One of the version before does not say."""
    return Server.objects.filter(seen__gte=now - silent_ms, turned__lt=now - max(silent_ms, STUCK_MS))


def take_over(game_id: int, head: int, kept_by: int | None, mine: int) -> bool:
    """Keep a game from now on in the place of that process; False where it has gone on, or somebody else keeps it."""
    kept = Game.objects.filter(pk=game_id, head=head, kept_by=kept_by, ended=None)
    return bool(kept.update(kept_by=mine))


def idle(now: int) -> dict[int, Idle]:
    """The processes that are gone or stuck, and since when; since ever, where one keeps a game without a row."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None)
    found = dict.fromkeys(
        kept.exclude(kept_by__in=Server.objects.all()).values_list("kept_by", flat=True), Idle(0, stalled=False)
    )
    gone = Server.objects.filter(seen__lt=now - SILENT_MS)
    # What stood still before it went was not looked after since then.
    found |= {pk: Idle(seen if turned is None else turned, stalled=False) for pk, seen, turned in _times(gone)}
    found |= {pk: Idle(turned or seen, stalled=True) for pk, seen, turned in _times(_stuck(now))}
    return found


def _times(found: "QuerySet[Server]") -> list[tuple[int, int, int | None]]:
    return list(found.values_list("pk", "seen", "turned"))


def loss(server: int | None, now: int) -> Loss:
    """For how long this process has not looked after its games: nothing where it does, or is none."""
    found = idle(now).get(server or 0)
    return NOTHING_LOST if found is None else Loss(now - found.since, found.stalled)


def clear_out(before: int) -> int:
    """Forget processes that have been silent since then and keep no running game."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None).values("kept_by")
    return Server.objects.filter(seen__lt=before).exclude(pk__in=kept).delete()[0]
