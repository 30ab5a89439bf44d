"""The processes that look after games, and the one clock they share.

Every process says once a second that it lives (`beat`). A game whose keeper has been silent for longer than
`SILENT_MS` is anybody's. The time is the database's: each process reads it at its start and follows it slowly, with
its own monotonic clock between, so that no two processes disagree by more than a few milliseconds and no clock that
is set back by hand can make a limit act early.
"""

import logging
import os
import socket
import time
from collections.abc import Callable

from django.db import connection
from django.db.models import Q

from games.models import Game, Server
from games.pulse import pulse

logger = logging.getLogger(__name__)

SILENT_MS = 2_000
GONE_MS = 60_000
ALARM_MS = 500
# How far one correction moves the clock: five hundredths of the second between two beats.
STEP_MS = 50


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


def beat(server: int, now: int, people: int = 0) -> None:
    """Say that this process lives, and how it does; a row that somebody cleared away comes back."""
    doing = pulse.read(people)
    if not Server.objects.filter(pk=server).update(seen=now, pulse=doing):
        Server.objects.create(pk=server, name=own_name(), seen=now, pulse=doing)


def overdue(now: int) -> list[int]:
    """Running games whose time has come and whose keeper is gone.

    A live game waits a minute for its people's web process to come back: until then nobody could play it anyway.
    """
    due = Game.objects.filter(ended=None, wake_at__lte=now)
    relaxed = due.filter(_forsaken(now - SILENT_MS), pace=Game.Pace.RELAXED)
    live = due.filter(_forsaken(now - GONE_MS), pace=Game.Pace.LIVE)
    ids: list[int] = list(relaxed.union(live).values_list("pk", flat=True)[:500])
    return ids


def orphans(now: int, mine: int) -> list[int]:
    """Running games that need somebody: live ones whose keeper fell silent, relaxed ones in which only bots have
    something to do and nobody moves their hands, and those that are due and kept by nobody else; of one's own, those
    that were dropped."""
    running = Game.objects.filter(ended=None)
    forsaken = _forsaken(now - SILENT_MS)
    live = running.filter(forsaken, pace=Game.Pace.LIVE).exclude(kept_by=None).exclude(kept_by=mine)
    bots_turn = running.filter(forsaken | Q(kept_by=mine), pace=Game.Pace.RELAXED, awaits=0, head__gt=0)
    due = running.filter(forsaken | Q(kept_by=mine), wake_at__lte=now)
    ids: list[int] = list(live.union(bots_turn, due).values_list("pk", flat=True)[:500])
    return ids


def _forsaken(since: int) -> Q:
    """Of games: nobody keeps them, or a process that was not heard of since then, or one whose row is gone."""
    return ~Q(kept_by__in=Server.objects.filter(seen__gte=since))


def take_over(game_id: int, head: int, kept_by: int | None, mine: int) -> bool:
    """Keep a game from now on in the place of that process; False where it has gone on, or somebody else keeps it."""
    kept = Game.objects.filter(pk=game_id, head=head, kept_by=kept_by, ended=None)
    return bool(kept.update(kept_by=mine))


def silent(now: int) -> dict[int, int]:
    """The processes that fell silent, and when each was last heard of; never, where one keeps a game without a row."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None)
    rowless = kept.exclude(kept_by__in=Server.objects.all()).values_list("kept_by", flat=True)
    return dict.fromkeys(rowless, 0) | dict(Server.objects.filter(seen__lt=now - SILENT_MS).values_list("pk", "seen"))


def silence(server: int | None, now: int) -> int:
    """For how long nobody has heard of this process: for ever, where its row is gone; 0 where it lives, or is none."""
    return now - silent(now).get(server or 0, now)


def clear_out(before: int) -> int:
    """Forget processes that have been silent since then and keep no running game."""
    kept = Game.objects.filter(ended=None).exclude(kept_by=None).values("kept_by")
    return Server.objects.filter(seen__lt=before).exclude(pk__in=kept).delete()[0]
