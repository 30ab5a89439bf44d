"""Many of a kind, one after another, as workers see to them: one in which that fails is no harm to the others."""

import logging
import math
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import connection

logger = logging.getLogger(__name__)

T = TypeVar("T")


def see_to(kind: str, found: Iterable[T], do: Callable[[T], bool], *, seconds: float = math.inf) -> int:
    """Do this with each of them until the time is over; the answer is in how many it did something.

    One in which it fails is logged, and is there for the next run; so are all others once the database has gone.
    """
    end = time.monotonic() + seconds
    done = 0
    for one in found:
        if time.monotonic() > end:
            break
        try:
            done += do(one)
        except Exception:
            logger.exception("%s %s could not be seen to", kind, one)
            if not connection.is_usable():
                break
    return done
