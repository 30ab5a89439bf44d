"""How fast a human hand is, in milliseconds, and never twice the same."""

from dataclasses import dataclass
from math import exp
from random import Random

from games.rules.commands import Command

_SLOWEST = 2.5  # times the usual
_LEAST_MS = 80


@dataclass(frozen=True, slots=True)
class Choice:
    """What a player does next, and how long after having seen the last thing the hand has done it."""

    command: Command
    after_ms: int


@dataclass(frozen=True, slots=True)
class Pace:
    """What each thing takes on average: reaching for a tile, looking at it, thinking over a trade, pressing *ready*."""

    reach_ms: int
    look_ms: int
    trade_ms: int
    ready_ms: int
    spread: float  # of the logarithm


def jittered(rng: Random, usual_ms: int, spread: float) -> int:
    """A time near the usual one; now and then the hand or the mind hesitates."""
    factor = min(exp(rng.gauss(0.0, spread)), _SLOWEST)
    return max(_LEAST_MS, round(usual_ms * factor))
