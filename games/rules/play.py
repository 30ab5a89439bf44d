"""The steps of a game: what a command becomes, what an event changes, what the clock does.

Whoever runs a game calls `tick` first and `decide` second, both with the same `at`, and applies what they answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .commands import Command
from .events import Event
from .state import Reason, State, VoidBy
from .terms import Terms


@dataclass(frozen=True, slots=True)
class Score:
    """Points, not tokens (R7.3)."""

    seat: int
    silver: int
    gold: int
    uniques: int
    collections: int

    @property
    def total(self) -> int:
        return self.silver + self.gold + self.uniques + self.collections


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended; `ranking` is the seats, best first, and empty for a void game (R7.4, R8.8)."""

    reason: Reason
    ranking: tuple[int, ...]
    scores: tuple[Score, ...]


def setup(terms: Terms) -> tuple[Event, ...]:
    """The first event of a game: round 1 is laid out, at 0."""
    raise NotImplementedError


def replay(terms: Terms, events: Iterable[Event]) -> State:
    """The game after these events, from the first on."""
    raise NotImplementedError


def apply(state: State, event: Event) -> State:
    """The game after this event, which `decide`, `tick` or one of the others made for this very state."""
    raise NotImplementedError


def decide(state: State, seat: int, command: Command, at: int) -> tuple[Event, ...]:
    """What this command makes happen, with everything that follows by itself, or `Refused`."""
    raise NotImplementedError


def tick(state: State, at: int) -> tuple[Event, ...]:
    """What the clock makes happen by `at`; nothing where nothing is due."""
    raise NotImplementedError


def wake_at(state: State) -> int | None:
    """When the clock acts next; None in a game that is over."""
    raise NotImplementedError


def resume(state: State, lost_ms: int, at: int) -> tuple[Event, ...]:
    """A server takes the game over, `lost_ms` after the last sign of life of the one before (R8.10)."""
    raise NotImplementedError


def remove(state: State, seat: int, at: int) -> tuple[Event, ...]:
    """Staff takes this player out of the game (R8.8)."""
    raise NotImplementedError


def void(state: State, by: VoidBy, at: int) -> tuple[Event, ...]:
    """The game ends without a ranking (R8.10a)."""
    raise NotImplementedError


def legal(state: State, seat: int, at: int) -> tuple[Command, ...]:
    """Every command of this seat that `decide` would accept at this time."""
    raise NotImplementedError


def result(state: State) -> Result | None:
    """How the game ended, or None while it runs."""
    raise NotImplementedError
