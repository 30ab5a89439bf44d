"""When this process could not look after its games: its event loop did not turn, or the database took no write.

Measured by a monotonic clock, and by what really happened: a look or an answer that is only slow is no stall as long
as the loop turns and moves are stored.
"""

from collections import deque
from collections.abc import Callable

from games.clock import since_boot
from games.rules.clock import LEAST_LOST_MS

KEPT = 16


class Stalls:
    """The last stalls of one process. `turned` is called from its event loop, `stored` from any of its threads."""

    def __init__(self, monotonic: Callable[[], float] = since_boot) -> None:
        self._monotonic = monotonic
        self._turned = self._stored = monotonic()
        self._stalls: deque[tuple[float, float]] = deque(maxlen=KEPT)
        # How many there were since the process began.
        self.count = 0

    def turned(self) -> None:
        """The event loop turns."""
        before, self._turned = self._turned, self._monotonic()
        self._note(before, self._turned)

    def stored(self) -> None:
        """The database has taken a write."""
        before, self._stored = self._stored, self._monotonic()
        self._note(before, self._stored)

    def still_ms(self, pause_seconds: float) -> int:
        """For how long the event loop has not turned, beyond the pause between two of its turns."""
        return max(0, int((self._monotonic() - self._turned - pause_seconds) * 1000))

    def lost_ms(self, since: float) -> int:
        """How much of the longest stall came after that moment, the one that goes on among them; 0 for a short one."""
        goes_on = (min(self._turned, self._stored), self._monotonic())
        # Each command of a player asks this, and nearly always the answer is at hand.
        stalls = [goes_on, *self._stalls] if self._stalls and self._stalls[-1][1] > since else [goes_on]
        lost = max(int((end - max(begin, since)) * 1000) for begin, end in stalls)
        return lost if lost > LEAST_LOST_MS else 0

    def _note(self, begin: float, end: float) -> None:
        if (end - begin) * 1000 > LEAST_LOST_MS:
            self._stalls.append((begin, end))
            self.count += 1
