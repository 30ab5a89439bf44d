"""What a seat is shown of a game, from the first event on, and bots that were shown it."""

from collections.abc import Iterator, Sequence
from random import Random

from games import rules
from games.bots import Bot, Strength
from games.bots.memory import Memory, Seen
from games.rules import State, Terms
from games.rules.events import Event

WHOLE = 54  # a memory that forgets no tile


def states(terms: Terms, log: Sequence[Event]) -> Iterator[State]:
    """The game before its first event, and after each one."""
    state = rules.blank(terms)
    yield state
    for event in log:
        state = rules.apply(state, event)
        yield state


def shown(terms: Terms, log: Sequence[Event], seat: int) -> Iterator[Seen]:
    """All that this seat sees of a game: the empty table, then each event."""
    for number, state in enumerate(states(terms, log)):
        yield rules.sight_of_event(state, log[number - 1], seat) if number else rules.sight(state, seat)


def memory_of(terms: Terms, log: Sequence[Event], seat: int, span: int = WHOLE) -> Memory:
    memory = Memory(seat, terms.edition, span)
    for seen in shown(terms, log, seat):
        memory.see(seen)
    return memory


def bot_of(terms: Terms, log: Sequence[Event], seat: int, strength: Strength, chance: str = "") -> Bot:
    """A bot that takes the seat over at the end of this log."""
    bot = Bot(strength, seat, terms.edition, Random(chance))
    for seen in shown(terms, log, seat):
        bot.see(seen)
    return bot


def contents(memory: Memory) -> dict[str, object]:
    """Everything in a memory, to compare."""
    return vars(memory) | {
        "sides": [{name: getattr(side, name) for name in side.__slots__} for side in memory.sides],
    }
