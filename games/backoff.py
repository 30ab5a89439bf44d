"""The pauses between one try and the next while something fails: longer and longer, up to a limit, and never alike."""

import time
from collections.abc import Callable
from random import Random

FIRST_SECONDS = 0.25
LONGEST_SECONDS = 5.0


class Backoff:
    """Exponential back-off with jitter: a success ends it, and the next failure begins with a short pause again."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # Many tables fail in the same moment: they must not all come back in the same moment too.
        self._random = Random()  # noqa: S311  (no secret)
        self._failures = 0
        self._until = 0.0
        # Since when every try has failed; None while none does.
        self.failing_since: float | None = None

    def fail(self) -> float:
        """Note a failure; the answer is the pause before the next try, in seconds."""
        longest = min(FIRST_SECONDS * 2.0**self._failures, LONGEST_SECONDS)
        # Counted no further than it matters: a fault may last for days.
        self._failures = min(self._failures + 1, 10)
        if self.failing_since is None:
            self.failing_since = self._now()
        seconds = longest * self._random.uniform(0.5, 1.0)
        self._until = self._now() + seconds
        return seconds

    def succeed(self) -> None:
        """Begin anew: it works."""
        self._failures, self._until, self.failing_since = 0, 0.0, None

    def skip(self) -> None:
        """Let the next try begin at once; it has not succeeded yet."""
        self._failures, self._until = 0, 0.0

    def seconds_left(self) -> float:
        """How long the next try is to wait, 0 where it may begin."""
        return max(0.0, self._until - self._now())
