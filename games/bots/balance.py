"""How a game of good bots goes: its rounds, ends and points, and what each plan of searching is worth (section 9).

Rounds, ends and points come from games in which every bot plans as it likes; what a plan is worth from games in which
each seat was dealt one, so that plans meet equally often. A share takes many more games than an average to be known.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from multiprocessing import get_context
from random import Random
from statistics import mean, stdev

from games.rules import replay, result
from games.rules.edition import Edition
from games.rules.state import Reason
from games.rules.terms import Rulebook

from .prospects import PLANS, Plan
from .selfplay import self_play, terms_for_bots
from .strengths import Strength

# The aim: rounds on average, and how far a plan's wins may be from its share.
ROUNDS = {2: (5, 9), 3: (4, 7), 4: (3, 6)}
SHARES = (0.5, 1.5)
_SURE = 1.96  # standard errors on each side: 19 times of 20
_DEALT_FOR_ONE = 4  # games with dealt plans for each one without


@dataclass(frozen=True, slots=True)
class Match:
    """One game to be played; `dealt` says whether each seat is given its plan."""

    edition: Edition
    strength: Strength
    players: int
    rulebook: Rulebook
    seed: str
    dealt: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    rounds: int
    reason: Reason
    points: tuple[int, ...]
    plans: tuple[Plan | None, ...]
    winner: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and how far it may be off, 19 times of 20."""

    value: float
    off: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.off:.2f}"

    def within(self, least: float, most: float) -> bool:
        return least <= self.value <= most


@dataclass(slots=True)
class Balance:
    """All games of one number of players by one rulebook."""

    players: int
    rulebook: Rulebook
    rounds: list[int] = field(default_factory=list)
    ends: Counter[Reason] = field(default_factory=Counter)
    points: list[int] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    seated: Counter[Plan] = field(default_factory=Counter)
    won: Counter[Plan] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        plans = [plan for plan in outcome.plans if plan is not None]
        if plans:
            self.seated.update(plans)
            self.won[plans[outcome.winner]] += 1
            return
        self.rounds.append(outcome.rounds)
        self.ends[outcome.reason] += 1
        self.points += outcome.points
        self.best.append(max(outcome.points))

    def share(self, plan: Plan) -> Estimate:
        """How often this plan wins, against the one of `players` that would be its share."""
        seats = self.seated[plan]
        if not seats:
            return Estimate(0.0, math.inf)
        rate = self.won[plan] / seats
        return Estimate(rate * self.players, _SURE * self.players * math.sqrt(rate * (1 - rate) / seats))

    def meets_the_aim(self) -> bool:
        fair = all(self.share(plan).within(*SHARES) for plan in PLANS)
        return fair and average(self.rounds).within(*ROUNDS[self.players])


def average(values: Sequence[int]) -> Estimate:
    off = _SURE * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate(mean(values), off)


def matches(
    edition: Edition, strength: Strength, players: int, rulebook: Rulebook, games: int, seed: str
) -> list[Match]:
    """So many games with dealt plans, and among them a few in which everybody plans alone."""
    found = []
    for number in range(games):
        for dealt in (True,) if number % _DEALT_FOR_ONE else (False, True):
            named = f"{seed}/{rulebook}/{players}/{number}/{dealt}"
            found.append(Match(edition, strength, players, rulebook, named, dealt))
    return found


def play(match: Match) -> Outcome:
    terms = terms_for_bots(match.rulebook, match.players, sha256(match.seed.encode()).digest(), match.edition)
    rng = Random(sha256(f"plans/{match.seed}".encode()).digest())
    plans = tuple(rng.choice(PLANS) if match.dealt else None for _ in range(match.players))
    end = replay(terms, self_play(terms, [match.strength] * match.players, match.seed, plans))
    ended = result(end)
    if ended is None:
        raise RuntimeError(f"The game of {match.seed} did not end.")
    points = tuple(score.total for score in ended.scores)
    return Outcome(end.round, ended.reason, points, plans, ended.ranking[0])


def outcomes(many: Iterable[Match], processes: int) -> Iterator[Outcome]:
    """What comes of these games, played on so many cores, in their order."""
    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(play, many, chunksize=4)
