"""A finished game in figures, one set for each seat: counted from its events, knowing nothing but the rules."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from games import rules
from games.rules import State, Terms
from games.rules.edition import Collection, Place
from games.rules.events import (
    BagOpened,
    Bought,
    Escaped,
    Event,
    Lifted,
    Resumed,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.scoring import Score

Plan = Literal["garage", "office", "safe", "bags", ""]
# What brings no art: it says nothing about a plan.
_BARREN = ("iron_key", "brass_key", "drawer")


@dataclass(slots=True)
class SeatFigures:
    """What one seat did. The fields are the columns of the `Figures` row, which says what each of them means."""

    lifts: int = 0
    twice: int = 0
    stashes: int = 0
    iron_key_ms: int | None = None
    brass_key_ms: int | None = None
    in_place: Counter[Place] = field(default_factory=Counter)
    first_escapes: int = 0
    loot: Counter[Place] = field(default_factory=Counter)
    bags: int = 0
    paying: Counter[Place] = field(default_factory=Counter)
    art_bought: int = 0
    cards_bought: int = 0
    bags_opened: int = 0
    completed: int = 0

    @property
    def plan(self) -> Plan:
        """Where the loot came from, all rounds together: half of it bags, or the deepest place with a quarter."""
        whole = self.bags + self.paying.total()
        if not whole:
            return ""
        if 2 * self.bags >= whole:
            return "bags"
        deep: tuple[Literal["safe", "office"], ...] = ("safe", "office")
        return next((place for place in deep if 4 * self.paying[place] >= whole), "garage")

    def columns(self, score: Score) -> dict[str, int | str | None]:
        return {
            "lifts": self.lifts,
            "twice": self.twice,
            "stashes": self.stashes,
            "searched_ms": self.in_place.total(),
            "iron_key_ms": self.iron_key_ms,
            "brass_key_ms": self.brass_key_ms,
            "garage_ms": self.in_place["garage"],
            "office_ms": self.in_place["office"],
            "safe_ms": self.in_place["safe"],
            "first_escapes": self.first_escapes,
            "garage_loot": self.loot["garage"],
            "office_loot": self.loot["office"],
            "safe_loot": self.loot["safe"],
            "bags": self.bags,
            "plan": self.plan,
            "art_bought": self.art_bought,
            "cards_bought": self.cards_bought,
            "bags_opened": self.bags_opened,
            "completed": self.completed,
            "silver": score.silver,
            "gold": score.gold,
            "uniques": score.uniques,
            "collections": score.collections,
        }


class Counting:
    """The figures of a game, event by event."""

    def __init__(self, terms: Terms) -> None:
        self.state: State = rules.blank(terms)
        self.seats = [SeatFigures() for _ in terms.seats]
        # The points of every seat after each round, for a chart.
        self.by_round: list[tuple[int, ...]] = []
        self._began = 0
        self._since = [0] * len(self.seats)
        self._place: list[Place] = ["garage"] * len(self.seats)
        self._seen: list[set[int]] = [set() for _ in self.seats]

    def count(self, event: Event) -> None:
        before, self.state = self.state, rules.apply(self.state, event)
        match event:
            case RoundStarted():
                if event.round > 1:
                    self._note_points(before)
            case SearchStarted():
                self._begin(event.at)
            case Resumed() if before.phase == "search":
                self._move_on(event.lost_ms + before.terms.limits.countdown_ms, before)
            case Lifted():
                self._lift(event)
            case Stashed():
                self._stash(event)
            case Escaped():
                self._escape(event)
            case Bought():
                figures = self.seats[event.seat]
                if event.art is None:
                    figures.cards_bought += len(event.got)
                else:
                    figures.art_bought += 1
            case BagOpened():
                self.seats[event.seat].bags_opened += 1
            case _:
                pass
        if self.state.phase == "over":
            self._end(before)

    def _begin(self, at: int) -> None:
        self._began = at
        self._since = [at] * len(self.seats)
        self._place = ["garage"] * len(self.seats)
        self._seen = [set() for _ in self.seats]

    def _move_on(self, lost_ms: int, before: State) -> None:
        """A pause of the server's is nobody's time (R8.10)."""
        self._began += lost_ms
        for seat, player in enumerate(before.players):
            if player.token is None:
                self._since[seat] += lost_ms

    def _lift(self, event: Lifted) -> None:
        figures, seen = self.seats[event.seat], self._seen[event.seat]
        figures.lifts += 1
        figures.twice += event.tile in seen
        seen.add(event.tile)
        self._spend(event.seat, event.at)
        self._place[event.seat] = self.state.tiles[event.tile].place

    def _spend(self, seat: int, at: int) -> None:
        """So far this hand worked in one place."""
        self.seats[seat].in_place[self._place[seat]] += max(0, at - self._since[seat])
        self._since[seat] = at

    def _stash(self, event: Stashed) -> None:
        figures = self.seats[event.seat]
        figures.stashes += 1
        took = max(0, event.at - self._began)
        loot = self.state.tiles[event.tile].loot
        if loot == "iron_key":
            figures.iron_key_ms = took if figures.iron_key_ms is None else min(took, figures.iron_key_ms)
        elif loot == "brass_key":
            figures.brass_key_ms = took if figures.brass_key_ms is None else min(took, figures.brass_key_ms)

    def _escape(self, event: Escaped) -> None:
        if event.by == "abandoned":
            return
        figures = self.seats[event.seat]
        self._spend(event.seat, event.at)
        figures.first_escapes += event.token == 1
        for spot in self.state.players[event.seat].board:
            tile = self.state.tiles[spot]
            figures.loot[tile.place] += 1
            if tile.loot == "bag":
                figures.bags += 1
            elif tile.loot not in _BARREN:
                figures.paying[tile.place] += 1

    def _note_points(self, state: State) -> None:
        self.by_round.append(tuple(rules.score(seat, player).total for seat, player in enumerate(state.players)))

    def _end(self, before: State) -> None:
        self._note_points(self.state)
        if before.phase == "search":
            for seat, player in enumerate(before.players):
                if player.token is None:
                    self._spend(seat, self.state.at)
        for figures, player in zip(self.seats, self.state.players, strict=True):
            figures.completed = sum(
                isinstance(held.card, Collection) and held.filled == len(held.card.needs) for held in player.cards
            )


def figures_of(terms: Terms, happened: Iterable[Event]) -> Counting:
    """The figures of a whole game."""
    counting = Counting(terms)
    for event in happened:
        counting.count(event)
    return counting
