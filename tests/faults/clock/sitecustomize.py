"""Another time of the day for one Python process: with this folder in PYTHONPATH, CLOCK_AHEAD seconds ahead.

Only the time of the day moves; the monotonic clock goes on as it did, as when a machine's clock is set.
"""

import datetime
import os
import time
from datetime import UTC, timedelta, tzinfo
from datetime import datetime as Real

AHEAD = float(os.environ.get("CLOCK_AHEAD", "0"))
real_time = time.time


class Kind(type):
    def __instancecheck__(cls, value: object) -> bool:
        # What C code makes is still a datetime.
        return isinstance(value, Real)


class Ahead(Real, metaclass=Kind):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Real:  # type: ignore[override]
        return Real.now(tz) + timedelta(seconds=AHEAD)

    @classmethod
    def utcnow(cls) -> Real:  # type: ignore[override]
        return cls.now(UTC).replace(tzinfo=None)


if AHEAD:
    time.time = lambda: real_time() + AHEAD
    # Pickled under its own name, it would not be found by a process whose clock is right.
    Ahead.__name__ = Ahead.__qualname__ = "datetime"
    Ahead.__module__ = "datetime"
    datetime.datetime = Ahead  # type: ignore[misc]
