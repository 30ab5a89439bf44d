"""Who is let in: connections, requests and sockets are bounded, for each household and in all.

A household (accounts.addresses) that asks for more than its share is told 429; what is more than this process can bear
is refused with 503. Either costs some microseconds, is counted in `/metrics`, and is in the log at most once in ten
seconds.
"""

import ctypes
import logging
import math
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import prometheus_client
from django.conf import settings

from midnight.edge import costs
from midnight.edge.rate_limit import TokenBuckets

logger = logging.getLogger(__name__)

REFUSED = prometheus_client.Counter(
    "midnight_refused_total", "Connections, requests and sockets refused at the edge.", ["kind"]
)
OPEN = prometheus_client.Gauge("midnight_open", "HTTP connections, requests and sockets that are open now.", ["kind"])

# Descriptors kept back for the database, Valkey, files and logs.
RESERVED_DESCRIPTORS = 256
# Of these, what may be lent for a moment to tell visitors that there is no place; after that they are told nothing.
LENT_DESCRIPTORS = 64
CLOSED_SECONDS = 0.25
LOG_SECONDS = 10.0
MEMORY_SECONDS = 1.0
TRIM_SECONDS = 30.0
STATM = Path("/proc/self/statm")


@dataclass(frozen=True)
class Refusal:
    """Why something was refused: `kind` is its label in `/metrics`."""

    kind: str
    status: int
    retry_after: int = 0


TOO_LARGE = Refusal("body_too_large", 413)
TOO_SLOW = Refusal("too_slow", 408)
MALFORMED = Refusal("malformed", 400)
MEMORY = Refusal("memory", 503, retry_after=30)
DESCRIPTORS = Refusal("descriptors", 503, retry_after=10)


class Capacity:
    """How many of one kind may be open at once: `most_each` for a household, `most` in all."""

    def __init__(self, kind: str, most: int, most_each: int) -> None:
        self.most, self.most_each = most, most_each
        self.all_taken = Refusal(kind, 503, retry_after=10)
        self.share_taken = Refusal(f"{kind}_of_household", 429, retry_after=5)
        self._by_household: Counter[str] = Counter()
        self._open = 0
        OPEN.labels(kind).set_function(lambda: self._open)

    def check(self, household: str) -> Refusal | None:
        """Why this household may not open one more, None if it may."""
        if self._open >= self.most:
            return self.all_taken
        return self.share_taken if self._by_household[household] >= self.most_each else None

    def enter(self, household: str) -> Callable[[], None]:
        """Count one more; the answer takes it back, however often it is called."""
        self._open += 1
        self._by_household[household] += 1
        inside = True

        def leave() -> None:
            nonlocal inside
            if not inside:
                return
            inside = False
            self._open -= 1
            self._by_household[household] -= 1
            if not self._by_household[household]:
                del self._by_household[household]

        return leave


class Memory:
    """Whether this process has taken more memory than it may; looks once a second at most.

    While it has, what the allocator holds without need is given back now and then: else a flood that is over would
    keep all visitors out.
    """

    def __init__(self, most_bytes: int, now: Callable[[], float] = time.monotonic) -> None:
        self.most_bytes, self.now = most_bytes, now
        self._looked_at = self._trimmed_at = -math.inf
        self._is_full = False

    def is_full(self) -> bool:
        now = self.now()
        if now - self._looked_at >= MEMORY_SECONDS:
            self._looked_at = now
            self._is_full = resident_bytes() > self.most_bytes
            if self._is_full and now - self._trimmed_at >= TRIM_SECONDS:
                self._trimmed_at = now
                trim_memory()
        return self._is_full


def trim_memory() -> None:
    """Give free memory back to the system, where its allocator can."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes() -> int:
    """The memory that this process has taken, 0 where the system does not say."""
    try:
        return int(STATM.read_bytes().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


class Admission:
    """What this web process lets in."""

    def __init__(self) -> None:
        requests, sockets = settings.PROCESS_REQUESTS, settings.PROCESS_SOCKETS
        burst = settings.REQUEST_BURST
        self.rate = TokenBuckets(settings.REQUEST_RATE, burst)
        # More than its burst no household has under way; a connection may also be idle, or a socket's before it opens.
        self.requests = Capacity("requests", requests, burst)
        self.sockets = Capacity("sockets", sockets, settings.ADDRESS_SOCKETS)
        self.connections = Capacity("connections", requests + sockets, burst + settings.ADDRESS_SOCKETS)
        self.memory = Memory(settings.PROCESS_MEMORY_MB * 1024 * 1024)
        self.last_descriptor = last_descriptor()
        self._closed_until = -math.inf
        self._unsaid: Counter[str] = Counter()
        self._said_at = -math.inf

    def check_connection(self, peer: str, descriptor: int) -> Refusal | None:
        """Why a new connection is refused: behind proxies they are the proxies', and bounded in all alone."""
        if descriptor > self.last_descriptor:
            if descriptor > self.last_descriptor + min(LENT_DESCRIPTORS, self.last_descriptor // 8):
                self._closed_until = time.monotonic() + CLOSED_SECONDS
            return DESCRIPTORS
        refusal = self.connections.check(peer)
        is_of_proxy = settings.TRUSTED_PROXIES and refusal is self.connections.share_taken
        return None if is_of_proxy else refusal

    def is_closed(self) -> bool:
        """Whether there are too few descriptors to answer at all."""
        return time.monotonic() < self._closed_until

    def check_request(self, household: str, path: bytes, is_socket: bool) -> Refusal | None:
        """Why a request whose head has arrived is refused; its tokens are taken if it is not."""
        self._say()
        if refusal := self.requests.check(household):
            return refusal
        if is_socket and (refusal := self.sockets.check(household)):
            return refusal
        if self.memory.is_full():
            return MEMORY
        wait = self.rate.take(household, costs.cost_of(path))
        return Refusal("rate", 429, retry_after=math.ceil(wait)) if wait else None

    def refused(self, refusal: Refusal) -> None:
        """Count a refusal; the log says soon how many there were."""
        REFUSED.labels(refusal.kind).inc()
        self._unsaid[refusal.kind] += 1
        self._say()

    def _say(self) -> None:
        now = time.monotonic()
        if self._unsaid and now - self._said_at >= LOG_SECONDS:
            self._said_at = now
            found = ", ".join(f"{kind} {count}" for kind, count in self._unsaid.most_common())
            logger.warning("Refused since the last such line: %s.", found)
            self._unsaid.clear()


def raise_descriptor_limit() -> None:
    """Let this process open as many files and sockets as its hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:
        logger.warning("The limit of open files could not be raised: %s.", error)


def last_descriptor() -> int:
    """The highest descriptor that a visitor's connection may have: the kernel always gives out the lowest free one."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        soft = os.sysconf("SC_OPEN_MAX")
    return int(soft - min(RESERVED_DESCRIPTORS, soft // 2))


@cache
def admission() -> Admission:
    """This process's own."""
    return Admission()
