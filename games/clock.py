"""The clock of the site, and which clock decides what.

- **Silence, stalls and pace: this process's monotonic clock** (`since_boot`). It cannot be set, and it counts the time
  in which the machine slept. Another process is silent when its row has not changed *here* for some seconds
  (`games/servers.py`); an own stall is a gap between two signs of life *here* (`games/stalls.py`); a game goes on from
  its last event (`games/course.py`).
- **Moments that processes share (`started_ms`, `wake_at`): the site's clock** (`Clock`). It begins as the database's
  clock. After that the monotonic clock drives it, and it follows the database's by one percent at most, so that a slow
  or wrong answer moves it by milliseconds. When the database's clock is set, the site's clock goes on as before. Each
  process publishes how far the two are apart (`Server.skew`). A process that starts takes that over, and one that has
  fallen behind the others catches up with them.
- **What people read and what is kept for good (`ended`, a session's end): the time of day**, the database's or, where
  Django writes it, this machine's. No limit and no silence is ever decided by it.

An answer of the database that took longer than `SLOW_MS` corrects nothing. A step of the database's clock, or of this
machine's, is written to the log once and shown by the figure `midnight_clock_skew_seconds`.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable

from django.db import connection
from prometheus_client import Gauge

from games.models import Server

logger = logging.getLogger(__name__)

SLOW_MS = 200
# How fast the site's clock follows the database's: by one part in so many of the time that has passed.
FOLLOWS = 100
LONGEST_BEAT_MS = 2_000
# A difference that is no drift, but a clock that was set, or a machine that stood still.
STEP_MS = 1_000
# So many times in a row the others must be ahead: what they published just before a step counts for nothing.
BEHIND_TIMES = 3
# A difference that outlives a restart of all processes. What is larger is a clock that was never right.
MOST_SKEW_MS = 24 * 60 * 60 * 1_000
TRIES = 5
# A clock that jumps about is told of so often.
TOLD_EVERY_SECONDS = 60.0

SKEW = Gauge(
    "midnight_clock_skew_seconds",
    "How far the site's clock is ahead of the database's, and this machine's ahead of the database's.",
    ["clock"],
)


def since_boot() -> float:
    """Seconds on a clock that only goes forward, while the machine sleeps too where the system can tell."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class Clock:
    """The site's clock as this process has it, in whole milliseconds since 1970. It is set once and then follows."""

    def __init__(self, monotonic: Callable[[], float] = since_boot, wall: Callable[[], float] = time.time) -> None:
        self._monotonic = monotonic
        self._wall = wall
        # The site's clock minus the monotonic one, and the same of the database's clock at its last quick answer.
        self._ahead: float | None = None
        self._database = 0.0
        self._followed = 0.0
        self._quick = False
        self._behind = 0
        self._told = -math.inf
        self._reported: dict[str, bool] = {}

    def now(self) -> int:
        """The site's time. Never before `set`."""
        if self._ahead is None:
            raise RuntimeError("The clock has not been set.")
        return int(self._monotonic() * 1000 + self._ahead)

    def wall(self) -> int:
        """The database's time of day, for what people read."""
        return self.now() - self.skew_ms

    @property
    def skew_ms(self) -> int:
        """How far the site's clock is ahead of the database's, as of its last quick answer."""
        return round((self._ahead or 0.0) - self._database)

    @property
    def published_skew_ms(self) -> int | None:
        """The same for others to rely on: None where the last answer was slow."""
        return self.skew_ms if self._quick else None

    def set(self, read: Callable[[], int]) -> None:
        """Begin with the database's time, by the quickest of a few answers."""
        took = None
        for _ in range(TRIES):
            seconds, ahead = self._ask(read)
            if took is None or seconds < took:
                took, self._database = seconds, ahead
            if took * 1000 <= SLOW_MS:
                break
        self._ahead, self._followed, self._quick = self._database, self._monotonic(), True

    def shift(self, skew_ms: int) -> None:
        """Be so far ahead of the database's clock from now on, as the other processes are."""
        self._ahead = self._database + skew_ms

    def follow(self, read: Callable[[], int]) -> None:
        """Ask the database for its time and go a little towards it; report a clock that was set."""
        seconds, database = self._ask(read)
        self._quick = seconds * 1000 <= SLOW_MS
        if not self._quick:
            return
        stepped = database - self._database
        self._database = database
        now = self._monotonic()
        if abs(stepped) > STEP_MS and now >= self._told + TOLD_EVERY_SECONDS:
            self._told = now
            logger.warning(
                "The database's clock went %+d ms beside this process's between two answers. Games keep their time.",
                stepped,
            )
        most = min((now - self._followed) * 1000, LONGEST_BEAT_MS) / FOLLOWS
        self._followed = now
        ahead = database if self._ahead is None else self._ahead
        self._ahead = ahead + max(-most, min(most, database - ahead))
        self._report("database", "The site's clock", self._ahead - database)
        self._report("machine", "This machine's clock", self._wall() * 1000 - now * 1000 - database)

    def keep_up(self, others: Iterable[int]) -> None:
        """Catch up with processes heard of just now, by the skews that they publish.

        A process that was frozen has lost time. It never gains any: of two clocks the one ahead is right.
        """
        ahead = max(others, default=None)
        if ahead is None or not self._quick:
            return
        lost = ahead - self.skew_ms
        if lost <= STEP_MS:
            self._behind = 0
            return
        self._behind += 1
        if self._behind >= BEHIND_TIMES:
            self._behind = 0
            logger.warning("This process's clock was %d ms behind the other processes'.", lost)
            self.shift(ahead)

    def _ask(self, read: Callable[[], int]) -> tuple[float, float]:
        """How long the answer took, and the database's clock minus the monotonic one in the middle of that time."""
        before = self._monotonic()
        theirs = read()
        after = self._monotonic()
        return after - before, theirs - (before + after) * 500

    def _report(self, clock: str, name: str, skew_ms: float) -> None:
        SKEW.labels(clock).set(skew_ms / 1000)
        wrong = abs(skew_ms) > STEP_MS
        if wrong and not self._reported.get(clock):
            logger.warning("%s is %+d ms ahead of the database's.", name, skew_ms)
        self._reported[clock] = wrong or (self._reported.get(clock, False) and abs(skew_ms) > STEP_MS / 2)


def database_now() -> int:
    """The database's time of day, in whole milliseconds since 1970."""
    if connection.vendor == "postgresql":
        question = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    else:
        question = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    with connection.cursor() as cursor:
        cursor.execute(question)
        return int(cursor.fetchone()[0])


def site_now() -> int:
    """The site's time, from outside of a web process: what `started_ms` and `wake_at` are compared with."""
    return database_now() + published_skew()


def published_skew() -> int:
    """How far the site's clock is ahead of the database's, by the process that was heard of last; 0 without any."""
    known = Server.objects.exclude(clock=None).exclude(skew=None)
    skew: int = known.order_by("-clock").values_list("skew", flat=True).first() or 0
    return skew if abs(skew) <= MOST_SKEW_MS else 0
