"""`ratings`: the proof that every rating is what the games say."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games import ladder
from games.management.progress import Bar
from games.models import Game


class Command(BaseCommand):
    help = "Works out every rating again from the games and compares it with what is kept, to the cent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--recount", action="store_true", required=True, help="recount all ladders; changes none")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = []
        for pace in Game.Pace.values:
            bar = Bar(pace, max(1, ladder.rated_to(pace)))
            found = ladder.recount(pace, bar.advance)
            self.stdout.write(f"{pace}: {found.games} games, {found.lines} lines of the ledger")
            differences += found.differences
        for difference in differences:
            self.stderr.write(difference, self.style.ERROR)
        if differences:
            raise CommandError("The kept ratings are not what the games say.")
        self.stdout.write("Every rating is what the games say.", self.style.SUCCESS)
