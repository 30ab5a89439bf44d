"""`ratings`: the proof that every rating is what the games say."""

import sys
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games import ladder
from games.models import Game

BAR = 40


class Command(BaseCommand):
    help = "Works out every rating again from the games and compares it with what is kept, to the cent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--recount", action="store_true", required=True, help="recount all ladders; changes none")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = []
        for pace in Game.Pace.values:
            found = ladder.recount(pace, partial(self._progress, pace))
            self.stdout.write(f"{pace}: {found.games} games, {found.lines} lines of the ledger")
            differences += found.differences
        for difference in differences:
            self.stderr.write(difference, self.style.ERROR)
        if differences:
            raise CommandError("The kept ratings are not what the games say.")
        self.stdout.write("Every rating is what the games say.", self.style.SUCCESS)

    def _progress(self, pace: str, done: int, total: int) -> None:
        """A bar that grows in one line of a terminal, or a line each time where there is none."""
        filled = BAR * done // max(total, 1)
        end = "\n" if done >= total or not sys.stderr.isatty() else "\r"
        self.stderr.write(f"{pace:<8}[{'#' * filled}{'.' * (BAR - filled)}] {done:,} of {total:,}", ending=end)
