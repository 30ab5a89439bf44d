"""How far a long command is, on the error stream."""

import sys
import time
from typing import TextIO

WIDTH = 40
SECONDS = 1.0


class Bar:
    """A bar that grows in one line of a terminal; a line each time where there is none."""

    def __init__(self, what: str, whole: int, stream: TextIO | None = None) -> None:
        self.what, self.whole, self.stream = what, whole, stream or sys.stderr
        self.done = 0
        self._began = time.monotonic()
        self._shown = 0.0

    def advance(self, number: int = 1) -> None:
        self.done += number
        now = time.monotonic()
        if self.done >= self.whole or now - self._shown >= SECONDS:
            self._shown = now
            self._show(now - self._began)

    def _show(self, seconds: float) -> None:
        filled = WIDTH * self.done // max(1, self.whole)
        bar = "#" * filled + "." * (WIDTH - filled)
        end = "\r" if self.stream.isatty() and self.done < self.whole else "\n"
        self.stream.write(f"{self.what:<12}[{bar}] {self.done:,} of {self.whole:,}, {seconds:.0f} s{end}")
        self.stream.flush()
