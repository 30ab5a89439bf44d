"""How urgent a case is, and why: what each voice in it weighs.

An established player's word counts whole, a newcomer's less, a guest's least. Newcomers and guests cost nothing to
make, so those of one household are one voice, and all of them together have a limit: numbers alone lift no case to the
top of the queue.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.utils.translation import gettext as say
from django.utils.translation import ngettext

from games.models import Reason

WEIGHT: dict[str, int] = {
    Reason.THREAT: 50,
    Reason.INSULT: 30,
    Reason.CHEATING: 25,
    Reason.COLLUSION: 20,
    Reason.NAME: 15,
    Reason.THROWING: 15,
    Reason.SPAM: 10,
    Reason.STALLING: 10,
    Reason.OTHER: 5,
}
# Help may still come in time: the game goes on.
LIVE = 20


class Kind(StrEnum):
    """Who reports: an established player, a newcomer with an account, a guest."""

    ESTABLISHED = "established"
    NEWCOMER = "newcomer"
    GUEST = "guest"


# Percent of a reason's weight, and the most that all voices of a kind bring together; None for no limit.
SHARE: dict[Kind, int] = {Kind.ESTABLISHED: 100, Kind.NEWCOMER: 70, Kind.GUEST: 40}
MOST: dict[Kind, int | None] = {Kind.ESTABLISHED: None, Kind.NEWCOMER: 40, Kind.GUEST: 20}


@dataclass(frozen=True, slots=True)
class Said:
    """One report as far as it weighs; `live` tells of a game that still runs."""

    reporter: int
    kind: Kind
    household: str
    reason: str
    live: bool

    @property
    def voice(self) -> tuple[Kind, int | str]:
        """Whose voice this is: an established player's own, everybody else's that of their household."""
        return self.kind, self.reporter if self.kind == Kind.ESTABLISHED else self.household

    @property
    def weight(self) -> int:
        return WEIGHT.get(self.reason, 0) * SHARE[self.kind] // 100


@dataclass(frozen=True, slots=True)
class Part:
    """What the voices of one kind bring, with their number; without a kind, what a running game brings."""

    kind: Kind | None
    voices: int
    points: int

    def __str__(self) -> str:
        """As staff reads it."""
        most = None if self.kind is None else MOST[self.kind]
        facts = {"number": self.voices, "most": most}
        if self.kind is None:
            return say("A game that was reported still runs")
        if self.kind == Kind.ESTABLISHED:
            words = ngettext("%(number)s established player", "%(number)s established players", self.voices)
        elif self.kind == Kind.NEWCOMER:
            words = ngettext(
                "Newcomers of %(number)s household, %(most)s at most",
                "Newcomers of %(number)s households, %(most)s at most",
                self.voices,
            )
        else:
            words = ngettext(
                "Guests of %(number)s household, %(most)s at most",
                "Guests of %(number)s households, %(most)s at most",
                self.voices,
            )
        return words % facts


def parts_of(said: Iterable[Said]) -> list[Part]:
    """What makes up the urgency: the gravest voice of the most trusted kind counts whole, every other one a fifth."""
    reports = list(said)
    heaviest: dict[tuple[Kind, int | str], int] = {}
    for report in reports:
        heaviest[report.voice] = max(heaviest.get(report.voice, 0), report.weight)
    return [*_of_voices(heaviest), *_of_running_games(reports)]


def _of_voices(heaviest: dict[tuple[Kind, int | str], int]) -> Iterator[Part]:
    first = True
    for kind in Kind:
        weights = sorted((weight for (of, _), weight in heaviest.items() if of == kind), reverse=True)
        if not weights:
            continue
        points = weights[0] + sum(weights[1:]) // 5 if first else sum(weights) // 5
        most = MOST[kind]
        yield Part(kind, len(weights), points if most is None else min(points, most))
        first = False


def _of_running_games(reports: Iterable[Said]) -> Iterator[Part]:
    """A guest's word alone makes no case urgent, be the game running or not."""
    if any(report.live and report.kind != Kind.GUEST for report in reports):
        yield Part(None, 0, LIVE)
