"""Lighthouse's score of how fast a page is on a phone, by its published curves and weights (version 10 and later).

A figure's score is its place on a log-normal curve that gives 0.9 at `good` and 0.5 at `median`. The speed index needs
a film of the page; the largest paint stands for it here, which comes no earlier than most of what the film would show.
"""

import math
from dataclasses import dataclass

from tests.browser.loading import Line, Load

# The phone and its line: request latency and bytes as Lighthouse throttles them, a processor four times slower.
LINE = Line(562.5, 1474.56 * 1024 / 8, 675 * 1024 / 8)
SLOWER = 4
# Where the complementary error function is a fifth: what lies at `good` has nine tenths.
TENTH = 0.9061938024368232


@dataclass(frozen=True, slots=True)
class Curve:
    weight: float
    good: float
    median: float

    def score(self, figure: float) -> float:
        if figure <= 0:
            return 1.0
        place = math.log(figure / self.median) * TENTH / -math.log(self.good / self.median)
        return (1 - math.erf(place)) / 2


FIRST_PAINT = Curve(0.10, 1_800, 3_000)
SPEED_INDEX = Curve(0.10, 3_387, 5_800)
LARGEST_PAINT = Curve(0.25, 2_500, 4_000)
BLOCKED = Curve(0.30, 200, 600)
SHIFT = Curve(0.25, 0.1, 0.25)


def score(load: Load) -> int:
    """0 to 100."""
    figures = [
        (FIRST_PAINT, load.first_paint),
        (SPEED_INDEX, load.largest_paint),
        (LARGEST_PAINT, load.largest_paint),
        (BLOCKED, load.blocked_ms),
        (SHIFT, load.shift),
    ]
    return round(100 * sum(curve.weight * curve.score(figure) for curve, figure in figures))
