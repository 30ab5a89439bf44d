"""Signs of foul play: figures for a human to look at, never a verdict.

Each is computed from finished games' events, which anybody can replay, or from results in columns; `HOW` says how, and
SIGNS.md how often each is wrong on bots. A sign looks at one person's last games together: one game says too little.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, sqrt
from statistics import fmean, median, pstdev
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Event = Mapping[str, Any]
PLACE_OF_KEY = {"iron_key": "garage", "brass_key": "office"}
PRIZES = {"bag", "gold"}

# Below or above these a sign is raised, where there was enough to see.
REGULAR = 0.12
FAST_MS = 1_100
LUCKY = 4.0
MEETING = 1e-5
FEEDING = 3.5
THROWN = 3
ENOUGH = {"regular": 60, "fast": 60, "lucky": 60, "meets": 10, "feeds": 10, "throws": 5}
# A thrown game is one that somebody stayed in and searched a third as much as the others did.
IDLE_SHARE = 1 / 3

NAMES: dict[str, str | Promise] = {
    "regular": _("Hands too regular"),
    "fast": _("Hands too fast"),
    "lucky": _("Luck against the odds"),
    "meets": _("Meets one person beyond chance"),
    "feeds": _("Loses to one person beyond chance"),
    "throws": _("Games thrown away"),
}
HOW: dict[str, str | Promise] = {
    "regular": _("How much the pauses between a stash and the next lift vary: their deviation by their mean."),
    "fast": _("The time from one lift to the next, in the middle of all, in milliseconds."),
    "lucky": _("Keys, bags and gold found beneath unseen tiles, against the odds of what was seen, in deviations."),
    "meets": _("The chance to meet so often, if opponents came by chance."),
    "feeds": _("How much more often than others one loses to that person, in deviations."),
    "throws": _("Ranked games that were finished with a third of the others' lifts or fewer."),
}

# What the figure of a sign is counted in, and what was observed.
UNITS: dict[str, str | Promise] = {
    "regular": _("of the mean"),
    "fast": _("milliseconds"),
    "lucky": _("deviations"),
    "meets": _("probability"),
    "feeds": _("deviations"),
    "throws": _("games"),
}
OBSERVED: dict[str, str | Promise] = {
    "regular": _("pauses"),
    "fast": _("lifts"),
    "lucky": _("unseen tiles"),
    "meets": _("meetings"),
    "feeds": _("meetings"),
    "throws": _("ranked games"),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """How often a sign was wrong on fair play, and how often it found what was planted; `manage.py signs` says so."""

    wrong: int
    fair: int
    found: int
    planted: int


# As the table in SIGNS.md has it.
MEASURED = {
    "regular": Measured(0, 90, 30, 30),
    "fast": Measured(0, 90, 30, 30),
    "lucky": Measured(0, 90, 30, 30),
    "meets": Measured(0, 60, 2, 2),
    "feeds": Measured(0, 60, 1, 2),
    "throws": Measured(0, 100, 25, 30),
}


@dataclass(frozen=True, slots=True)
class Sign:
    """One figure, of how many observations, and whether it is beyond its limit."""

    key: str
    value: float
    of: int
    raised: bool

    @property
    def name(self) -> str | Promise:
        return NAMES[self.key]

    @property
    def unit(self) -> str | Promise:
        return UNITS[self.key]

    @property
    def observed(self) -> str | Promise:
        return OBSERVED[self.key]

    @property
    def how(self) -> str | Promise:
        return HOW[self.key]

    @property
    def measured(self) -> Measured:
        return MEASURED[self.key]


@dataclass(slots=True)
class Seen:
    """What one seat's hands did in one or many games."""

    pauses: list[int] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    finds: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, other: "Seen") -> None:
        self.pauses += other.pauses
        self.cycles += other.cycles
        self.finds += other.finds


def see(events: Iterable[Event], seat: int) -> Seen:
    """Watch one seat through a game's public events; the tiles' loot is known once the game is over."""
    seen = Seen()
    tiles: list[Sequence[str]] = []
    known: set[int] = set()
    keys: set[str] = set()
    lifted = stashed = None
    for event in events:
        kind, mine = event["type"], event.get("seat") == seat
        if kind == "round_started":
            tiles, known, keys, lifted, stashed = event["tiles"], set(), set(), None, None
        elif kind == "lifted" and mine:
            tile, at = event["tile"], event["at"]
            if lifted is not None:
                seen.cycles.append(at - lifted)
            if stashed is not None:
                seen.pauses.append(at - stashed)
            lifted, stashed = at, None
            if tile not in known:
                seen.finds.append(_odds(tiles, known, keys, tile))
            known.add(tile)
        elif kind == "stashed":
            known.add(event["tile"])
            if mine:
                stashed = event["at"]
                keys |= {tiles[event["tile"]][1]} & set(PLACE_OF_KEY)
        elif kind == "returned" and event["face"] == "up":
            known.add(event["tile"])
    return seen


def _odds(tiles: Sequence[Sequence[str]], known: set[int], keys: set[str], tile: int) -> tuple[float, bool]:
    """How likely an unseen tile of this place held what everybody wants, and whether this one did."""
    place = tiles[tile][0]
    wanted = PRIZES | {key for key in PLACE_OF_KEY if key not in keys}
    unseen = [loot for number, (where, loot) in enumerate(tiles) if where == place and number not in known]
    return sum(loot in wanted for loot in unseen) / len(unseen), tiles[tile][1] in wanted


def of_hands(seen: Seen) -> list[Sign]:
    """The three signs that hands can give."""
    signs = []
    if seen.pauses:
        varied = pstdev(seen.pauses) / max(1.0, fmean(seen.pauses))
        signs.append(_sign("regular", varied, len(seen.pauses), varied < REGULAR))
    if seen.cycles:
        middle = median(seen.cycles)
        signs.append(_sign("fast", middle, len(seen.cycles), middle < FAST_MS))
    if seen.finds:
        luck = luck_of(seen.finds)
        signs.append(_sign("lucky", luck, len(seen.finds), luck > LUCKY))
    return signs


def luck_of(finds: Sequence[tuple[float, bool]]) -> float:
    """How far above what was to be expected, in deviations; 0 where nothing was uncertain."""
    spread = sum(odds * (1 - odds) for odds, _found in finds)
    return (
        (sum(found for _odds, found in finds) - sum(odds for odds, _found in finds)) / sqrt(spread) if spread else 0.0
    )


def _sign(key: str, value: float, of: int, beyond: bool) -> Sign:
    return Sign(key, round(value, 6 if key == "meets" else 2), of, beyond and of >= ENOUGH[key])


# Of results ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """One ranked game: who sat in it, best first, and how many tiles each lifted who stayed to the end."""

    ranking: tuple[int, ...]
    lifts: Mapping[int, int] = field(default_factory=dict)


def of_pairs(results: Sequence[Result], person: int) -> dict[int, list[Sign]]:
    """For each whom this person met: how far beyond chance they meet, and how far beyond custom one loses to them.

    Chance is a pool: of all who were in these results, each comes as often as they play at all.
    """
    own = [result for result in results if person in result.ranking]
    seats = Counter(one for result in results for one in result.ranking)
    rest = sum(seats.values()) - seats[person]
    opponents = sum(len(result.ranking) - 1 for result in own)
    met = Counter(one for result in own for one in result.ranking if one != person)
    lost = Counter(one for result in own for one in result.ranking[: result.ranking.index(person)])
    signs: dict[int, list[Sign]] = {}
    for other, times in met.items():
        chance = _at_least(times, opponents * seats[other] / rest)
        elsewhere, lost_elsewhere = opponents - times, sum(lost.values()) - lost[other]
        signs[other] = [_sign("meets", chance, times, chance < MEETING)]
        if elsewhere:
            more = _more(lost[other], times, lost_elsewhere, elsewhere)
            signs[other].append(_sign("feeds", more, times, more > FEEDING))
    return signs


def _at_least(times: int, expected: float) -> float:
    """The chance of so many or more where so many are to be expected (Poisson)."""
    term, below = exp(-expected), 0.0
    for number in range(times):
        below += term
        term *= expected / (number + 1)
    return max(0.0, 1 - below)


def _more(hits: int, of: int, other_hits: int, of_others: int) -> float:
    """How far the first share lies above the second, in deviations of their difference."""
    share = (hits + other_hits) / (of + of_others)
    spread = sqrt(share * (1 - share) * (1 / of + 1 / of_others))
    return (hits / of - other_hits / of_others) / spread if spread else 0.0


def of_throwing(results: Sequence[Result], person: int) -> list[Sign]:
    """How many of a person's games they sat through without playing; whoever left a game did not sit through it, and
    nobody is measured by them."""
    own = [result.lifts for result in results if person in result.lifts and len(result.lifts) > 1]
    thrown = sum(_is_idle(person, lifts) for lifts in own)
    return [_sign("throws", thrown, len(own), thrown >= THROWN)] if own else []


def _is_idle(person: int, lifts: Mapping[int, int]) -> bool:
    """Whether this person lifted a third or fewer of what the others did."""
    return lifts[person] <= IDLE_SHARE * fmean(number for other, number in lifts.items() if other != person)
