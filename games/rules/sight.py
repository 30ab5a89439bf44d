"""What a seat or a spectator (None) may see (R6.7): plain values for JSON, built up from nothing."""

from .events import Event
from .state import State


def sight(state: State, seat: int | None) -> dict[str, object]:
    """The whole table as this viewer may see it."""
    raise NotImplementedError


def sight_of_event(state: State, event: Event, seat: int | None) -> dict[str, object]:
    """The event as this viewer may see it; `state` is any state of the event's round, from the event on."""
    raise NotImplementedError
