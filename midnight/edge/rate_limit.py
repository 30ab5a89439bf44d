"""Token buckets in this process's memory: how fast each household may come."""

import time
from collections import OrderedDict
from collections.abc import Callable

# A bucket of 300 bytes each: what an attacker with many addresses can make us keep is bounded.
MOST_BUCKETS = 20_000


class TokenBuckets:
    """A bucket of tokens for each key: it holds `burst` of them and gains `rate` a second.

    At most `most` buckets are kept. The one that was not used for longest is dropped first: it is full again, unless
    `most` other keys came within the time that it takes to fill.
    """

    def __init__(
        self, rate: float, burst: float, most: int = MOST_BUCKETS, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.rate, self.burst, self.most, self.now = rate, burst, most, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str, cost: float = 1.0) -> float:
        """0 if the tokens were there and are taken; else the seconds until they will be, and nothing is taken."""
        now = self.now()
        tokens, filled_at = self._buckets.pop(key, (self.burst, now))
        tokens = min(self.burst, tokens + (now - filled_at) * self.rate)
        missing = cost - tokens
        if missing <= 0:
            tokens -= cost
        self._buckets[key] = tokens, now
        if len(self._buckets) > self.most:
            self._buckets.popitem(last=False)
        return max(0.0, missing / self.rate)
