"""Good games, and copies of their records to be tampered with."""

import json
from collections.abc import Callable
from functools import cache

from games.rules.events import Event
from games.rules.judge import Fault, judge
from games.rules.play import apply
from games.rules.record import write_record
from games.rules.state import State, blank

from .random_play import Game, Luck, random_game, terms_for

Data = dict[str, object]
Where = Callable[[State, Event], bool]


# By name; each is played when a test first asks for it.
GAMES: dict[str, Callable[[], Game]] = {
    "plain": lambda: random_game(terms_for(1, "fr", 3), 1),
    "spanish": lambda: random_game(terms_for(20, "es", 2), 20),
    "bots": lambda: random_game(terms_for(3, "fr", 2, kind="bot"), 3),
    "owner": lambda: random_game(terms_for(4, "pt", 2, faces=("4A", "1B")), 4),
    "crashed": lambda: random_game(terms_for(5, "fr", 4), 5, Luck(crash=8)),
    "left": lambda: random_game(terms_for(6, "fr", 4), 9, Luck(leave=1, remove=1)),
    "forsaken": lambda: random_game(terms_for(7, "pt", 3), 7, Luck(leave=6)),
    "sleepy": lambda: random_game(terms_for(8, "fr", 3), 8, Luck(sleepy=(1,))),
    "slept through": lambda: random_game(terms_for(9, "fr", 2), 9, Luck(sleepy=(0, 1))),
    "dreamy": lambda: random_game(terms_for(12, "it", 3), 12, Luck(dreamy=(0, 2))),
    "relaxed": lambda: random_game(terms_for(10, "fr", 2, pace="relaxed"), 10),
    "void": lambda: random_game(terms_for(11, "fr", 2), 11, Luck(void=3)),
}


@cache
def game(name: str) -> Game:
    return GAMES[name]()


class Copy:
    """A record to be tampered with, and what it says."""

    def __init__(self, game: Game) -> None:
        self.head: Data = json.loads(write_record(game.record()))
        self.events: list[Data] = self.head["events"]  # type: ignore[assignment]
        self.log = game.log
        self.before = [blank(game.terms)]
        for event in game.log:
            self.before.append(apply(self.before[-1], event))

    def find(self, where: Where) -> int:
        """The index of the first event of which this is true, given the state before it."""
        for index, event in enumerate(self.log):
            if where(self.before[index], event):
                return index
        raise AssertionError("no such event in this game")

    def change(self, where: Where, **fields: object) -> int:
        """Changes fields of the first such event; returns its seq."""
        index = self.find(where)
        self.events[index].update(fields)
        return index + 1

    def insert(self, where: Where, **fields: object) -> int:
        """Puts an event before the first such event, at the moment of the one before; returns its seq."""
        return self.insert_at(self.find(where), **fields)

    def insert_at(self, index: int, **fields: object) -> int:
        self.events.insert(index, {"seq": 0, "at": self.events[index - 1]["at"], **fields})
        self.renumber()
        return index + 1

    def remove(self, where: Where) -> int:
        index = self.find(where)
        del self.events[index]
        self.renumber()
        return index + 1

    def renumber(self) -> None:
        for seq, event in enumerate(self.events, 1):
            event["seq"] = seq

    def part(self, *path: str | int) -> Data:
        """A part of the record, by names and indexes."""
        found: object = self.head
        for step in path:
            found = found[step]  # type: ignore[index]
        return found  # type: ignore[return-value]

    def faults(self) -> list[Fault]:
        return judge(json.dumps(self.head))


class Changes(dict[str, tuple[str, str, Callable[[Copy], int]]]):
    """Illegal changes by name: which game it is done to, the rule that must be found broken, and how to do it."""

    def __call__(self, game: str, rule: str) -> Callable[[Callable[[Copy], int]], Callable[[Copy], int]]:
        """Notes a change, which returns the seq at which the fault must be found."""

        def note(change: Callable[[Copy], int]) -> Callable[[Copy], int]:
            self[change.__name__] = (game, rule, change)
            return change

        return note


def hand(state: State, seat: int) -> int | None:
    return state.players[seat].hand


def searching(state: State, seat: int) -> bool:
    return state.phase == "search" and state.players[seat].token is None


def loots(state: State, seat: int) -> list[str]:
    return [state.tiles[tile].loot for tile in state.players[seat].board]
