"""The figures of the last hour: a worker takes a sample every few seconds, and a page draws the samples as lines.

They are for looking at. All of them may be lost with Redis, and nothing is decided by them.
"""

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import redis
from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from games import clock, servers, valkey
from games.models import Appeal, Case, Game, Server

logger = logging.getLogger(__name__)

KEY = "midnight:figures"
# An hour, as schedule.py has them taken.
KEPT = 720
QUEUE = "celery"
WIDE, HIGH = 320.0, 80.0

Sample = dict[str, Any]


def take() -> Sample:
    """What is so now, kept for the page; its counters go up, so that two samples make a rate."""
    now = clock.site_now()
    alive = servers.seem_alive(servers.signs(), now, servers.SILENT_MS)
    living = list(Server.objects.filter(pk__in=alive).values_list("pk", "pulse"))
    pulses = [pulse or {} for _pk, pulse in living]
    cases = Case.objects.filter(decided=None)
    sample: Sample = {
        "at": time.time(),
        "servers": len(living),
        "people": sum(pulse.get("people", 0) for pulse in pulses),
        "tables": Game.objects.filter(ended=None).count(),
        "moves": {pk: (pulse or {}).get("moves", 0) for pk, pulse in living},
        "faults": {pk: (pulse or {}).get("faults", 0) for pk, pulse in living},
        "p99_ms": max((pulse["p99_ms"] for pulse in pulses if pulse.get("p99_ms") is not None), default=None),
        "overdue": Game.objects.filter(Q(wake_at__lt=now - servers.GONE_MS), ended=None).count(),
        "reports": [cases.filter(opened__lte=timezone.now() - age).count() for age in AGES],
        "appeals": Appeal.objects.filter(decided=None).count(),
    }
    try:
        with valkey.client() as client:
            sample["jobs"] = client.llen(QUEUE) + client.llen(settings.LETTERS_QUEUE)
            client.lpush(KEY, json.dumps(sample))
            client.ltrim(KEY, 0, KEPT - 1)
    except (redis.RedisError, OSError) as error:
        logger.debug("A sample was lost: %s", error)
    return sample


AGES = (timedelta(0), timedelta(hours=1), timedelta(days=1))


def samples() -> list[Sample]:
    """The samples of the last hour, the oldest first."""
    try:
        with valkey.client() as client:
            kept: list[bytes] = client.lrange(KEY, 0, KEPT - 1)
    except (redis.RedisError, OSError):
        return []
    return [json.loads(one) for one in reversed(kept)]


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure over the last hour, ready to be drawn: points of a line in a field of 320 × 80."""

    name: str | Promise
    unit: str
    last: float | None
    most: float
    points: str


def charts(taken: Sequence[Sample]) -> list[Chart]:
    """Everything the page shows."""
    return [
        _chart(_("People at the tables"), "", taken, _plain("people")),
        _chart(_("Tables"), "", taken, _plain("tables")),
        _chart(_("Moves a second"), "", taken, _rate("moves")),
        _chart(_("99 of 100 moves are done within"), "ms", taken, _plain("p99_ms")),
        _chart(_("Faults a minute"), "", taken, _rate("faults", 60)),
        _chart(_("Jobs that wait"), "", taken, _plain("jobs")),
        _chart(_("Tables whose time has passed"), "", taken, _plain("overdue")),
        _chart(_("Cases that wait"), "", taken, lambda _before, sample: sample["reports"][0]),
        _chart(_("Cases older than an hour"), "", taken, lambda _before, sample: sample["reports"][1]),
        _chart(_("Cases older than a day"), "", taken, lambda _before, sample: sample["reports"][2]),
        _chart(_("Appeals that wait"), "", taken, _plain("appeals")),
        _chart(_("Web processes"), "", taken, _plain("servers")),
    ]


Read = Callable[[Sample | None, Sample], float | None]


def _plain(key: str) -> Read:
    def read(_before: Sample | None, sample: Sample) -> float | None:
        value: float | None = sample.get(key)
        return value

    return read


def _rate(key: str, seconds: float = 1) -> Read:
    """How fast counters went up since the sample before; a process that began or ended meanwhile counts nothing."""

    def read(before: Sample | None, sample: Sample) -> float | None:
        if before is None or sample["at"] <= before["at"]:
            return None
        gained: float = sum(max(0, count - before[key].get(pk, count)) for pk, count in sample[key].items())
        return float(round(gained * seconds / (sample["at"] - before["at"]), 1))

    return read


def _chart(name: str | Promise, unit: str, taken: Sequence[Sample], read: Read) -> Chart:
    befores = [None, *taken]
    values = [read(before, sample) for before, sample in zip(befores, taken, strict=False)]
    most = max((value for value in values if value is not None), default=0)
    step = WIDE / max(1, KEPT - 1)
    first = WIDE - step * (len(values) - 1)
    points = " ".join(
        f"{first + number * step:.1f},{HIGH - (HIGH * value / most if most else 0):.1f}"
        for number, value in enumerate(values)
        if value is not None
    )
    return Chart(name, unit, values[-1] if values else None, most, points)
