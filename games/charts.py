"""Line charts, laid out here and drawn by `games/_chart.html`: a picture of figures that stand in a table beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TypeVar

T = TypeVar("T")

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 40, 56, 14, 32
# At the right of several lines, where their names stand, and how long these may be.
NAMES, LONGEST_NAME = 160, 14
# So many lines across at most; one of these between two of them.
MOST_LINES = 6
STEPS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1_000)
# Beside colour, what tells one line from another: how it is dashed.
DASHES = ("", "9 4", "2 4", "12 4 2 4")
LETTERS = 13
# A curve of a wider range than this needs no decimals.
MOST_WHOLE = 20


@dataclass(frozen=True, slots=True)
class Series:
    """One line: what it is called, the colour it has by its class, and a value for each place along the chart.

    `moments` are the events that the values lead to in a replay, where there is one.
    """

    label: str
    kind: str
    values: Sequence[float]
    moments: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on an axis and what stands there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """One line as it is drawn; `name_y` is where its name stands, clear of the others."""

    series: Series
    points: str
    dots: Sequence[tuple[float, float]]
    dash: str
    name_x: float
    name_y: float

    @property
    def marked(self) -> list[tuple[float, float, int | None]]:
        """Each dot with the moment that it leads to."""
        return [(x, y, moment) for (x, y), moment in zip_longest(self.dots, self.series.moments)]

    @property
    def last(self) -> str:
        """What stands at its end: the last value, and what the line is called."""
        label = self.series.label
        short = label if len(label) <= LONGEST_NAME else f"{label[: LONGEST_NAME - 1]}…"
        return f"{self.series.values[-1]:g} {short}".strip()


@dataclass(frozen=True, slots=True)
class Chart:
    lines: Sequence[Drawn]
    along: Sequence[Mark]
    up: Sequence[Mark]
    right: int = WIDTH - RIGHT

    width = WIDTH
    height = HEIGHT
    left = LEFT
    foot = HEIGHT - BOTTOM


def chart(places: Sequence[str], series: Sequence[Series]) -> Chart:
    """A chart of these lines over places of the same distance from each other."""
    values = [value for one in series for value in one.values]
    low, high = min(0.0, *values), max(1.0, *values)
    step = next((step for step in STEPS if (high - low) / step <= MOST_LINES), STEPS[-1])
    high = step * -(-high // step)

    def x(place: int) -> float:
        return round(LEFT + place * (WIDTH - LEFT - NAMES) / max(1, len(places) - 1), 1)

    def y(value: float) -> float:
        return round(TOP + (high - value) * (HEIGHT - TOP - BOTTOM) / (high - low), 1)

    names = _apart([y(one.values[-1]) for one in series])
    drawn = []
    for number, one in enumerate(series):
        dots = [(x(place), y(value)) for place, value in enumerate(one.values)]
        points = " ".join(f"{across:g},{up:g}" for across, up in dots)
        drawn.append(Drawn(one, points, dots, DASHES[number % len(DASHES)], dots[-1][0] + 8, names[number]))
    thin = -(-len(places) // 12)
    return Chart(
        drawn,
        [Mark(x(place), text) for place, text in enumerate(places) if place % thin == 0],
        [Mark(y(low + step * line), f"{low + step * line:g}") for line in range(int((high - low) // step) + 1)],
        WIDTH - NAMES,
    )


def curve(places: Sequence[T], values: Sequence[float], *, around: float, name: Callable[[T], str]) -> Chart:
    """One long line that starts anywhere: lines across at round numbers, at least so much room around the values.

    Few places are named along it: it costs time.
    """
    middle = (max(values) + min(values)) / 2
    low = min(min(values), middle - around / 2)
    high = max(max(values), middle + around / 2)
    step = next((step for step in STEPS if (high - low) / step <= MOST_LINES), STEPS[-1])
    low, high = max(0.0, low // step * step), step * -(-high // step)

    def x(place: int) -> float:
        return round(LEFT + place * (WIDTH - LEFT - RIGHT) / max(1, len(values) - 1), 1)

    def y(value: float) -> float:
        return round(TOP + (high - value) * (HEIGHT - TOP - BOTTOM) / (high - low), 1)

    dots = [(x(place), y(value)) for place, value in enumerate(values)]
    points = " ".join(f"{across:g},{up:g}" for across, up in dots)
    line = Series("", "curve", [round(value, 1) if around < MOST_WHOLE else round(value) for value in values])
    thirds = sorted({0, (len(places) - 1) // 2, len(places) - 1})
    return Chart(
        [Drawn(line, points, dots[-1:], "", dots[-1][0] + 8, dots[-1][1] + 4)],
        [Mark(x(place), name(places[place])) for place in thirds],
        [Mark(y(low + step * number), f"{low + step * number:g}") for number in range(int((high - low) // step) + 1)],
    )


def _apart(heights: Sequence[float]) -> list[float]:
    """The same heights, moved down where two names would stand on each other."""
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    moved = list(heights)
    for before, number in pairwise(order):
        moved[number] = max(moved[number], moved[before] + LETTERS)
    over = max(0.0, max(moved, default=0) - (HEIGHT - BOTTOM))
    return [round(height - over + 4, 1) for height in moved]
