"""What a letter is built of: a bar, a stem, a slant that ends flat on the line it stands on, an arc, a dot."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import cos, hypot, radians, sin, tan
from typing import Any

LINE = 76.0  # how thick every stroke of a capital is
WAIST = 0.4  # how high the middle bar lies

Point = tuple[float, float]


@dataclass
class Letter:
    """One glyph in the making; `h` is its height, `w` the width of its drawing, `left` and `right` the room beside."""

    h: float
    line: float = LINE
    w: float = 0
    left: float = 0
    right: float = 0
    contours: list[list[tuple[Any, ...]]] = field(default_factory=list)

    # Room beside a stem, a bowl and a slant.
    STEM, BOWL, SLANT = 0.105, 0.07, 0.03

    def set(self, w: float, left: float, right: float | None = None) -> None:
        self.w, self.left, self.right = w, left * self.h, (left if right is None else right) * self.h

    def polygon(self, *points: Point) -> None:
        """Filled, whichever way round its points are given."""
        pairs = zip(points, points[1:] + points[:1], strict=True)
        if sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairs) > 0:
            points = points[::-1]
        self.contours.append([("move", points[0]), *(("line", point) for point in points[1:])])

    def box(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self.polygon((x0, y0), (x1, y0), (x1, y1), (x0, y1))

    def stem(self, x: float, y0: float, y1: float) -> None:
        """Upright, its left edge at x."""
        self.box(x, y0, x + self.line, y1)

    def bar(self, x0: float, x1: float, y: float) -> None:
        """Flat, its middle at y."""
        self.box(x0, y - self.line / 2, x1, y + self.line / 2)

    def slant(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """From point to point, as thick as every stroke, cut flat at both ends."""
        half = self.line * hypot(x1 - x0, y1 - y0) / abs(y1 - y0) / 2
        self.polygon((x0 - half, y0), (x0 + half, y0), (x1 + half, y1), (x1 - half, y1))

    def across(self, dx: float, dy: float) -> float:
        """How wide a slant of that direction is where it is cut."""
        return self.line * hypot(dx, dy) / abs(dy)

    def arc(self, cx: float, cy: float, rx: float, ry: float, start: float = 0, end: float = 360) -> None:
        """A stroke along an ellipse whose outer edge has these radii, from angle to angle in degrees."""
        if end - start >= 360:
            self.contours.append(list(ellipse(cx, cy, rx, ry, 360, 0)))
            self.contours.append(list(ellipse(cx, cy, rx - self.line, ry - self.line, 0, 360)))
            return
        outer = list(ellipse(cx, cy, rx, ry, end, start))
        inner = list(ellipse(cx, cy, rx - self.line, ry - self.line, start, end))
        self.contours.append([*outer, ("line", inner[0][1]), *inner[1:]])

    def dot(self, x: float, y: float) -> None:
        r = self.line * 0.72
        self.contours.append(list(ellipse(x, y, r, r, 360, 0)))


def ellipse(cx: float, cy: float, rx: float, ry: float, start: float, end: float) -> Iterator[tuple[Any, ...]]:
    """Along an ellipse, in curves of at most a quarter turn."""
    parts = max(1, round(abs(end - start) / 90 + 0.49))
    step = radians((end - start) / parts)
    reach = 4 / 3 * tan(step / 4)
    a = radians(start)
    yield "move", (cx + rx * cos(a), cy + ry * sin(a))
    for _ in range(parts):
        b = a + step
        yield (
            "curve",
            (cx + rx * (cos(a) - reach * sin(a)), cy + ry * (sin(a) + reach * cos(a))),
            (cx + rx * (cos(b) + reach * sin(b)), cy + ry * (sin(b) - reach * cos(b))),
            (cx + rx * cos(b), cy + ry * sin(b)),
        )
        a = b


Draw = Callable[[Letter], None]
