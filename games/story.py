"""One finished game as its page tells it: made of its record, which says everything, and of nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as say

from games import charts, names, rules
from games.charts import Chart, Series
from games.figures import Counting, SeatFigures
from games.rules.edition import Edition
from games.rules.record import Head, read_events, read_head
from games.rules.terms import Character
from games.told import tell


@dataclass(frozen=True, slots=True)
class Sitter:
    """Somebody at the table: place (None in a void game), points and what the hand did."""

    seat: int
    name: str
    character: Character
    place: int | None
    score: dict[str, int]
    figures: SeatFigures

    @property
    def seconds(self) -> dict[str, int]:
        """How long this hand worked in each place."""
        return {place: round(self.figures.in_place[place] / 1000) for place in names.PLACES}

    @property
    def iron_key(self) -> str:
        return _seconds(self.figures.iron_key_ms)

    @property
    def brass_key(self) -> str:
        return _seconds(self.figures.brass_key_ms)


@dataclass(frozen=True, slots=True)
class Round:
    """What was bought and placed in one round, in sentences, and everybody's points after it.

    `first` and `last` are the numbers of its events, by which the replay is opened at that moment.
    """

    number: int
    told: Sequence[str]
    points: Sequence[int]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Tie:
    """Players who stayed and have the same points, in the order of their places."""

    points: int
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Story:
    head: Head
    reason: str
    sitters: Sequence[Sitter]
    rounds: Sequence[Round]
    ties: Sequence[Tie]

    @property
    def best_first(self) -> list[Sitter]:
        return sorted(self.sitters, key=lambda sitter: (sitter.place or 0, sitter.seat))

    @property
    def winner(self) -> Sitter | None:
        first = self.best_first[0]
        return first if first.place else None

    @property
    def chart(self) -> Chart:
        """How the points grew, from nothing on."""
        places = [say("Start"), *(str(one.number) for one in self.rounds)]
        moments = [1, *(one.last for one in self.rounds)]
        series = [
            Series(sitter.name, sitter.character, [0, *(one.points[sitter.seat] for one in self.rounds)], moments)
            for sitter in self.sitters
        ]
        return charts.chart(places, series)


def tell_story(record: dict[str, Any], who: Sequence[str]) -> Story:
    """The story of the game in this record, which has no fault, with these names for who sat there."""
    head = read_head(record)
    counting = Counting(head.terms)
    sentences: list[list[str]] = []
    begun: list[int] = []
    for event in read_events(record):
        counting.count(event)
        if event.type == "round_started":
            sentences.append([])
            begun.append(event.seq)
        elif event.type not in _UNTOLD:
            sentences[-1] += _in_words(counting, event, who, head.terms.edition)
    result = record["result"]
    places = {seat: place for place, seat in enumerate(result["ranking"], start=1)}
    sitters = [
        Sitter(seat, who[seat], sitting.character, places.get(seat), result["scores"][seat], figures)
        for seat, (sitting, figures) in enumerate(zip(head.terms.seats, counting.seats, strict=True))
    ]
    ends = [*(first - 1 for first in begun[1:]), len(record["events"])]
    played = zip(sentences, counting.by_round, begun, ends, strict=True)
    return Story(
        head,
        result["reason"],
        sitters,
        [Round(number, *one) for number, one in enumerate(played, start=1)],
        _ties([one for one in sitters if one.place and counting.state.players[one.seat].left_at is None]),
    )


def _ties(stayed: Sequence[Sitter]) -> list[Tie]:
    """Find who have the same points: between them the escape token decided (R7.4)."""
    in_order = sorted(stayed, key=lambda one: one.place or 0)
    level = groupby(in_order, key=lambda one: one.score["total"])
    ties = [Tie(points, [one.name for one in some]) for points, some in level]
    return [tie for tie in ties if len(tie.names) > 1]


# The search is told by its figures; a pass changes nothing.
_UNTOLD = (
    "lifted",
    "stashed",
    "returned",
    "ready",
    "countdown_started",
    "search_started",
    "exchange_started",
    "passed",
)


def _in_words(counting: Counting, event: Any, who: Sequence[str], edition: Edition) -> list[str]:
    return tell([rules.sight_of_event(counting.state, event, None)], who, edition)


def _seconds(ms: int | None) -> str:
    return "–" if ms is None else say("%(seconds)s s") % {"seconds": f"{ms / 1000:.1f}"}
