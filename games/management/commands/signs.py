"""`signs`: how often each sign of foul play is wrong on bots, and how often it sees what was planted."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from games.bots import STRENGTHS, Strength
from games.bots.selfplay import self_play, terms_for_bots
from games.management.arguments import positive
from games.moderation import signs
from games.moderation.signs import Result, Seen, Sign
from games.rules import events as rules_events

PLAYERS = 3
# One "person": so many games looked at together, as on a moderator's page.
TOGETHER = 10
POOL, ROUNDS = 60, 400


class Command(BaseCommand):
    help = "Plays games of bots and prints, as a table, how often each sign is raised on them and on planted fouls."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--games", type=positive, default=100, metavar="N", help="of each strength (100)")
        parser.add_argument("--seed", default="0", metavar="S", help="the same seed gives the same table (0)")

    def handle(self, *args: Any, games: int, seed: str, **options: Any) -> None:
        self.stdout.write("| sign | who | raised | of | middle value |\n|---|---|---|---|---|")
        for strength in STRENGTHS:
            people = list(_people([strength] * PLAYERS, games, seed))
            self.stderr.write(f"{strength}: {games} games")
            self._rows(strength, people, ("regular", "fast", "lucky", "throws"))
            if strength == STRENGTHS[-1]:
                for name, plant, keys in PLANTED:
                    rng = Random(seed)
                    self._rows(name, [plant(one, rng) for one in people], keys)
        # Whoever is slower than all others at the table looks the most like somebody who does not play.
        slow = list(_people([STRENGTHS[0], *[STRENGTHS[-1]] * (PLAYERS - 1)], games, seed))
        self._rows("the slowest at the table", [one for one in slow if one.seat == 0], ("throws",))
        for name, foul in (("a fair pool", False), ("two who feed each other", True)):
            self._results(name, _pool(Random(seed), foul), foul)

    def _rows(self, who: str, people: list["Watched"], keys: tuple[str, ...]) -> None:
        found = [{sign.key: sign for sign in one.signs()} for one in people]
        for key in keys:
            values = sorted(said[key].value for said in found if key in said)
            raised = sum(said[key].raised for said in found if key in said)
            middle = values[len(values) // 2] if values else 0
            self.stdout.write(f"| {key} | {who} | {raised} | {len(values)} | {middle:g} |")

    def _results(self, who: str, results: list[Result], foul: bool) -> None:
        for key in ("meets", "feeds"):
            looked_at = [0, 1] if foul else range(POOL)
            said = [
                [sign for pair in signs.of_pairs(results, person).values() for sign in pair if sign.key == key]
                for person in looked_at
            ]
            raised = sum(any(sign.raised for sign in one) for one in said)
            values = sorted(sign.value for one in said for sign in one)
            middle = values[len(values) // 2] if values else 0
            self.stdout.write(f"| {key} | {who} | {raised} | {len(said)} | {middle:g} |")


@dataclass(slots=True)
class Watched:
    """One seat through ten games, as if one person had sat there."""

    seat: int
    seen: Seen = field(default_factory=Seen)
    results: list[Result] = field(default_factory=list)

    def signs(self) -> list[Sign]:
        return [*signs.of_hands(self.seen), *signs.of_throwing(self.results, self.seat)]


def _people(strengths: Sequence[Strength], games: int, seed: str) -> Iterator[Watched]:
    together = [Watched(seat) for seat in range(PLAYERS)]
    for number in range(games):
        name = f"{seed}/{'-'.join(strengths) if len(set(strengths)) > 1 else strengths[0]}/{number}"
        terms = terms_for_bots("fr", PLAYERS, sha256(name.encode()).digest())
        told = [rules_events.write(event) for event in self_play(terms, list(strengths), name)]
        lifts = Counter(event["seat"] for event in told if event["type"] == "lifted")
        for one in together:
            one.seen.add(signs.see(told, one.seat))
            one.results.append(Result(tuple(range(PLAYERS)), {seat: lifts[seat] for seat in range(PLAYERS)}))
        if number % TOGETHER == TOGETHER - 1:
            yield from together
            together = [Watched(seat) for seat in range(PLAYERS)]


def _steady(one: Watched, rng: Random) -> Watched:
    """A program that waits half a second, give or take a little."""
    return Watched(one.seat, Seen(pauses=[round(rng.gauss(500, 25)) for _ in one.seen.pauses]))


def _quick(one: Watched, rng: Random) -> Watched:
    """A program that lifts again as soon as the tile may be stashed."""
    return Watched(one.seat, Seen(cycles=[round(rng.uniform(520, 900)) for _ in one.seen.cycles]))


def _peeking(one: Watched, rng: Random) -> Watched:
    """Somebody who knows what lies beneath one unseen tile in three."""
    finds = [(odds, found or (odds > 0 and rng.random() < 1 / 3)) for odds, found in one.seen.finds]
    return Watched(one.seat, Seen(finds=finds))


def _throwing(one: Watched, rng: Random) -> Watched:
    """Somebody who sits through every other game, and lifts a tile now and then so as to be seen there."""
    results = [_cut(result, one.seat, rng) if rng.random() < 1 / 2 else result for result in one.results]
    return Watched(one.seat, results=results)


def _cut(result: Result, seat: int, rng: Random) -> Result:
    """The same game with one in four of this seat's lifts."""
    left = sum(rng.random() < 1 / 4 for _ in range(result.lifts[seat]))
    return Result(result.ranking, {**result.lifts, seat: left})


PLANTED: tuple[tuple[str, Callable[[Watched, Random], Watched], tuple[str, ...]], ...] = (
    ("a steady program", _steady, ("regular",)),
    ("a quick program", _quick, ("fast",)),
    ("a peeker", _peeking, ("lucky",)),
    ("who throws every other game", _throwing, ("throws",)),
)


def _pool(rng: Random, foul: bool) -> list[Result]:
    """Ranked games of people who meet by chance; with `foul`, the second seeks the first and always loses to them."""
    skill = [rng.gauss(0, 1) for _ in range(POOL)]
    results = []
    for number in range(ROUNDS):
        people = rng.sample(range(POOL), PLAYERS)
        if foul and number % 20 == 0:
            people = [0, 1, rng.randrange(2, POOL)]
        order = sorted(people, key=lambda one: skill[one] + rng.gauss(0, 1), reverse=True)
        if foul and 0 in order and 1 in order:
            order = [one for one in order if one != 1] + [1]
        results.append(Result(tuple(order)))
    return results
