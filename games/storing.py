"""Whether this process can store what happens, as its last tries tell. Any thread may say and ask.

Two things are tried: the process's own row is written every second (`row_written`), and lines are appended to the log
whenever something happens. Times are monotonic.
"""

import math
import time
from collections.abc import Callable

# Appends that have failed for so long count against the process: a server that restarts is back before.
PERSISTENT_SECONDS = 1.0
# And so long after the last of them: while it fails a table tries again more often than that.
REMEMBERED_SECONDS = 6.0


class Storing:
    """What became of this process's last tries to store something."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._row_written = self._appended = self._append_failed = -math.inf
        self._row_fails = False
        self._append_fails_since: float | None = None

    def row_written(self) -> None:
        """The process's own row is written."""
        self._row_written, self._row_fails = self._now(), False

    def row_not_written(self) -> None:
        self._row_fails = True

    def appended(self) -> None:
        """Lines are appended to the log."""
        self._appended, self._append_fails_since = self._now(), None

    def not_appended(self) -> None:
        self._append_failed = self._now()
        if self._append_fails_since is None:
            self._append_fails_since = self._append_failed

    def fails_since(self) -> float | None:
        """The moment since which the process's own row could not be written; None while it can."""
        return self._row_written if self._row_fails else None

    def has_written_since(self, moment: float) -> bool:
        """Whether anything was stored after that moment."""
        return max(self._row_written, self._appended) > moment

    def row_age(self) -> float:
        """Seconds since the process's own row was written last."""
        return self._now() - self._row_written

    def cannot_append(self) -> bool:
        """Whether appends have failed for a while, and one has not long ago."""
        since = self._append_fails_since
        lasts = since is not None and self._append_failed - since >= PERSISTENT_SECONDS
        return lasts and self._now() - self._append_failed <= REMEMBERED_SECONDS
