"""How this process's tables do: moves, how long the last ones took, faults. Counted in memory, read once a second."""

import time
from collections import deque

from django.core.signals import got_request_exception

WINDOW_SECONDS = 10.0
MOST_KEPT = 20_000


class Pulse:
    """Counts up from the process's start; only the times of the last moves are forgotten again."""

    def __init__(self) -> None:
        self.moves = 0
        self.faults = 0
        self._took: deque[tuple[float, float]] = deque(maxlen=MOST_KEPT)

    def moved(self, began: float) -> None:
        """A command that was asked for at that moment (`time.perf_counter`) is stored and shown."""
        now = time.perf_counter()
        self.moves += 1
        self._took.append((now, now - began))

    def failed(self, **_: object) -> None:
        """A request, a table or a look broke off, or the log could not be written."""
        self.faults += 1

    def p99_ms(self) -> float | None:
        """The slowest of a hundred moves of the last ten seconds; None where there was none."""
        before = time.perf_counter() - WINDOW_SECONDS
        while self._took and self._took[0][0] < before:
            self._took.popleft()
        # A copy, made in one go: the event loop goes on counting while another thread reads.
        times = sorted(took for _, took in self._took.copy())
        return round(times[max(0, -(-len(times) * 99 // 100) - 1)] * 1000, 1) if times else None

    def read(self, people: int) -> dict[str, float | int | None]:
        return {"moves": self.moves, "faults": self.faults, "p99_ms": self.p99_ms(), "people": people}


pulse = Pulse()
got_request_exception.connect(pulse.failed)
