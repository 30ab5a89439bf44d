"""How long a thread waits for the database.

PostgreSQL: the deadline that our connections keep (midnight/postgresql/connection.py). A limit that only the server
keeps is none, since a server that is frozen, or whose host has vanished, says nothing at all. SQLite: how long another
writer is waited for; nothing else can take long.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# However little time is left, a question gets so long: a process that was frozen itself does not give up on answers
# that have arrived meanwhile.
LEAST_SECONDS = 0.5


class _OfThread(threading.local):
    end: float | None = None


_of_thread = _OfThread()
_of_every_question: float | None = None


def bound_every_question(seconds: float | None) -> None:
    """Give up on any question of this process that is not answered within `seconds`, where no shorter limit holds."""
    global _of_every_question
    _of_every_question = seconds


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Bound all questions of this thread to the database together: give up once `seconds` have passed.

    For threads that always do so: their connection to SQLite keeps the limit that it was opened with.
    """
    before = _of_thread.end
    _of_thread.end = time.monotonic() + seconds
    try:
        if connection.vendor == "sqlite" and connection.connection is None:
            with connection.cursor() as cursor:
                cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        yield
    finally:
        _of_thread.end = before


def seconds_left() -> float | None:
    """Return how long the next question of this thread may take, None where it may take for ever."""
    if _of_thread.end is None:
        return _of_every_question
    return max(LEAST_SECONDS, _of_thread.end - time.monotonic())
