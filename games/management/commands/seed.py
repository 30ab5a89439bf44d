"""`seed`: an empty database as full as a busy site's after years."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import User
from games.management.arguments import positive
from games.management.seeding import Seeding
from games.models import Game

REAL = 300
FEWEST = 8


class Command(BaseCommand):
    help = "Fills an empty database with finished games, people and ratings, to see how fast pages are then."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--games", type=positive, default=20_000, metavar="N", help="how many (20,000)")
        parser.add_argument("--people", type=positive, default=2_000, metavar="N", help="who plays them (2,000)")
        parser.add_argument(
            "--real",
            type=positive,
            default=REAL,
            metavar="N",
            help=f"how many games are played, again and again ({REAL})",
        )

    def handle(self, *args: Any, games: int, people: int, real: int, **options: Any) -> None:
        if people < FEWEST:
            raise CommandError(f"Fewer than {FEWEST} people are no site.")
        if Game.objects.exists() or User.objects.exists():
            raise CommandError("This database is not empty: nothing was changed.")
        Seeding(games, people, real, timezone.now()).run()
