"""What a client may send: a rate limit for each socket, one for all sockets of a household, and a time-out for abuse.

A household is what `accounts.addresses` makes of a client's address. Every frame counts, of any kind and whether
or not its sender is signed in. The limits are far above what play needs: 20 commands a second at a seat.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from prometheus_client import Counter, Gauge

logger = logging.getLogger(__name__)

CUT = Counter("midnight_websocket_cut_total", "Open sockets that the server cut.", ["reason"])
REFUSED = Counter("midnight_websocket_refused_total", "Handshakes refused for what their address had sent before.")
OPEN = Gauge("midnight_websocket_open", "Open sockets.")
KEPT_OUT = Gauge("midnight_websocket_kept_out", "Households whose handshakes are refused now.")


@dataclass(frozen=True, slots=True)
class Rate:
    """So much a second, and so much at once."""

    a_second: float
    at_once: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts how much. The unit is a small frame."""

    line: Rate = Rate(50, 300)
    household: Rate = Rate(1_000, 4_000)
    # A payload counts besides its frame. So does each read, or a client could send a frame byte by byte for nothing.
    per_kib: float = 1.0
    per_read: float = 0.25
    # A handshake looks up a session and a person.
    per_handshake: float = 25.0
    # After the first abuse; each further one within `remembered_seconds` doubles it.
    kept_out_seconds: float = 60.0
    kept_out_at_most: float = 960.0
    remembered_seconds: float = 3_600.0


LIMITS = Limits()
UNLIMITED = Limits(line=Rate(1e12, 1e12), household=Rate(1e12, 1e12))

# Beyond so many households at once, those that come new have only their sockets' limits.
MOST_HOUSEHOLDS = 50_000
SWEEP_SECONDS = 30.0


class ExceededError(Exception):
    """The socket has sent too much."""


class Bucket:
    """A token bucket, full at first."""

    __slots__ = ("_at", "_left", "rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self.rate, self._left, self._at = rate, rate.at_once, now

    def left(self, now: float) -> float:
        return min(self.rate.at_once, self._left + (now - self._at) * self.rate.a_second)

    def take(self, cost: float, now: float) -> bool:
        """Take so much out, if it is there; whether it was."""
        left = self.left(now)
        self._at = now
        if left < cost:
            self._left = left
            return False
        self._left = left - cost
        return True

    def give(self, more: float) -> None:
        self._left += more


class Household:
    """All sockets of one household, and what it did before."""

    __slots__ = ("abuses", "bucket", "budgets", "free_at", "last_abuse")

    def __init__(self, limits: Limits, now: float) -> None:
        self.bucket = Bucket(limits.household, now)
        self.budgets: set[Budget] = set()
        self.abuses = 0
        self.last_abuse = self.free_at = -math.inf


class Budget:
    """What one open socket may still send. `cut` ends the socket, at the latest before its next frame is taken."""

    __slots__ = ("_bucket", "_cut", "_household", "_limits", "_owner")

    def __init__(self, owner: "Households", household: Household | None, cut: Callable[[], None]) -> None:
        self._owner, self._limits, self._household, self._cut = owner, owner.limits, household, cut
        self._bucket = Bucket(owner.limits.line, monotonic())
        if household is not None:
            household.budgets.add(self)

    def frame(self, length: int) -> None:
        """Count a frame with so many bytes; ExceededError where it is too much."""
        self._take(1 + length / 1024 * self._limits.per_kib)

    def read(self) -> None:
        """Count one read of the socket; ExceededError where it is too much."""
        self._take(self._limits.per_read)

    def _take(self, cost: float) -> None:
        now = monotonic()
        household = self._household
        if not self._bucket.take(cost, now):
            self._owner.punish(household, now)
            raise ExceededError
        if household is None or household.bucket.take(cost, now):
            return
        # Each is within its own limit, together they are not. Many people may share an address, so it is not kept out:
        # the socket that sent most goes, and as long as there is nothing left in the bucket no other may come.
        household.bucket.give(self._limits.line.at_once)
        worst = min(household.budgets, key=lambda budget: budget._bucket.left(now))
        if worst is self:
            raise ExceededError
        worst.close()
        worst._cut()

    def close(self) -> None:
        """The socket has ended, or will."""
        if self._household is not None:
            self._household.budgets.discard(self)


class Households:
    """Every household with sockets here or with something to remember. They are this process's own."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._known: dict[str, Household] = {}
        self._sweep_at = -math.inf

    def knock(self, name: str | None) -> float:
        """Before a handshake: 0 when it may go on, else the seconds after which another try makes sense.

        None is a client whose address is not known, as behind a unix socket without a trusted proxy. All of these
        would be one household, so none of them is kept out for another.
        """
        now = monotonic()
        if (household := self._of(name, now)) is None:
            return 0.0
        if household.free_at > now:
            wait = household.free_at - now
        elif household.bucket.take(self.limits.per_handshake, now):
            return 0.0
        else:
            wait = max(1.0, self.limits.per_handshake / household.bucket.rate.a_second)
        REFUSED.inc()
        return wait

    def budget(self, name: str | None, cut: Callable[[], None]) -> Budget:
        """For a socket that opens; it is closed when the socket ends."""
        return Budget(self, self._of(name, monotonic()), cut)

    def punish(self, household: Household | None, now: float) -> None:
        """Keep a household out for a while. What its other sockets do meanwhile makes that no longer."""
        if household is None or household.free_at > now:
            return
        if now - household.last_abuse > self.limits.remembered_seconds:
            household.abuses = 0
        seconds = min(self.limits.kept_out_seconds * 2 ** min(household.abuses, 10), self.limits.kept_out_at_most)
        household.abuses += 1
        household.last_abuse, household.free_at = now, now + seconds
        logger.warning("A socket sent too many frames: its address is kept out for %.0f s.", seconds)

    def kept_out(self) -> int:
        now = monotonic()
        return sum(household.free_at > now for household in self._known.values())

    def known(self) -> int:
        return len(self._known)

    def _of(self, name: str | None, now: float) -> Household | None:
        if name is None:
            return None
        if (known := self._known.get(name)) is not None:
            return known
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            self._forget(now)
        if len(self._known) >= MOST_HOUSEHOLDS:
            return None
        made = self._known[name] = Household(self.limits, now)
        return made

    def _forget(self, now: float) -> None:
        """Drop those of whom there is nothing left to remember."""
        for name, household in list(self._known.items()):
            if household.budgets or household.bucket.left(now) < self.limits.household.at_once:
                continue
            if not household.abuses or now - household.last_abuse > self.limits.remembered_seconds:
                del self._known[name]
