"""`balance`: how games of good bots go, and whether the edition keeps what section 9 of the rules aims at."""

import argparse
import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games.bots import STRENGTHS, Strength
from games.bots.balance import Balance, average, matches, outcomes
from games.bots.plot import drawn
from games.bots.prospects import PLANS
from games.management.arguments import positive
from games.rules.edition import EditionError, load_edition, parse_edition
from games.rules.terms import PLAYERS, RULEBOOKS, Rulebook

PLAYED = ("fr", "es", "pt")  # it and de play as fr does
PROGRESS_EVERY = 50
COLUMNS = ("rulebook", "players", "rounds", "ends", "points", "winner's", *PLANS, "aim")


class Command(BaseCommand):
    help = "Plays many games of good bots; a table of rounds, ends, points and plans' wins on stdout, a plot as SVG."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--games", type=positive, default=400, metavar="N", help="with dealt plans, a line (400)")
        parser.add_argument("--players", type=int, choices=PLAYERS, nargs="+", default=PLAYERS, help="(2 3 4)")
        parser.add_argument("--rulebook", choices=RULEBOOKS, nargs="+", default=PLAYED, help="(fr es pt)")
        parser.add_argument("--bots", choices=STRENGTHS, default=STRENGTHS[-1], help=f"({STRENGTHS[-1]})")
        parser.add_argument("--seed", default="0", metavar="S", help="the same seed gives the same table (0)")
        parser.add_argument("--edition", type=Path, metavar="FILE", help="another edition than the house's")
        parser.add_argument("--svg", type=Path, metavar="FILE", help="where the plot goes")
        parser.add_argument("--processes", type=positive, default=os.cpu_count(), help=argparse.SUPPRESS)

    def handle(
        self,
        *args: Any,
        games: int,
        players: list[int],
        rulebook: list[Rulebook],
        bots: Strength,
        seed: str,
        edition: Path | None,
        svg: Path | None,
        processes: int,
        **options: Any,
    ) -> None:
        try:
            played_with = load_edition() if edition is None else parse_edition(edition.read_bytes())
        except (EditionError, OSError) as wrong:
            raise CommandError(str(wrong)) from None
        if svg is not None:
            _can_be_written(svg)
        self.stdout.write("\t".join(COLUMNS))
        balances = []
        for book in rulebook:
            for number in players:
                balance = Balance(number, book)
                to_play = matches(played_with, bots, number, book, games, seed)
                for count, outcome in enumerate(outcomes(to_play, processes), start=1):
                    balance.add(outcome)
                    if count % PROGRESS_EVERY == 0 or count == len(to_play):
                        self.stderr.write(f"{book}, {number} players: {count} of {len(to_play)} games")
                balances.append(balance)
                self.stdout.write("\t".join(_row(balance)))
        if svg is not None:
            svg.write_text(drawn(balances))


def _can_be_written(file: Path) -> None:
    """Before hours of games, not after them."""
    try:
        with file.open("a"):
            pass
    except OSError as wrong:
        raise CommandError(f"{file} cannot be written: {wrong.strerror}") from None


def _row(balance: Balance) -> list[str]:
    ends = ", ".join(f"{reason} {number}" for reason, number in balance.ends.most_common())
    return [
        balance.rulebook,
        str(balance.players),
        str(average(balance.rounds)),
        ends,
        str(average(balance.points)),
        str(average(balance.best)),
        *(str(balance.share(plan)) for plan in PLANS),
        "met" if balance.meets_the_aim() else "MISSED",
    ]
