"""The game and nothing else: the standard library only, no clock, no chance of its own, no database.

A game is its terms and its events. `setup(terms)` gives the first ones, `replay(terms, events)` the state after any of
them; `tick(state, at)` and `decide(state, seat, command, at)` give the next ones, which `apply` puts into effect.
Time is handed in: `at` is whole milliseconds since the first event and never falls.
"""

from .clock import wake_at
from .errors import Malformed, Refused
from .play import apply, decide, legal, remove, replay, resume, setup, tick, void
from .scoring import Result, Score, full_rounds, result, score
from .sight import sight, sight_of_event, sight_of_moment
from .state import State, blank
from .terms import Terms

__all__ = [
    "Malformed",
    "Refused",
    "Result",
    "Score",
    "State",
    "Terms",
    "apply",
    "blank",
    "decide",
    "full_rounds",
    "legal",
    "remove",
    "replay",
    "result",
    "resume",
    "score",
    "setup",
    "sight",
    "sight_of_event",
    "sight_of_moment",
    "tick",
    "void",
    "wake_at",
]
