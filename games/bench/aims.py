"""What a benchmark's figures should be."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """One figure in words, and its bound: at least, or at most."""

    what: str
    least: float | None = None
    most: float | None = None

    def met_by(self, figure: float) -> bool:
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def __str__(self) -> str:
        if self.least is not None:
            return f"≥ {self.least:,}"
        return "" if self.most is None else f"≤ {self.most:,}"
