"""`archive`: finished games become records now, parked ones included once they were mended; and which are parked."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games import archive
from games.models import Game, Record


class Command(BaseCommand):
    help = "Says which finished games make no record and why; with their codes, tries them again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("codes", nargs="*", metavar="CODE", help="games to archive now")

    def handle(self, *args: Any, codes: list[str], **options: Any) -> None:
        for code in codes:
            game = Game.objects.filter(code=code).first()
            if game is None:
                raise CommandError(f"There is no game {code}.")
            archive.archive(game.pk)
        parked = Record.objects.filter(packed=None).select_related("game").order_by("at")
        if codes:
            parked = parked.filter(game__code__in=codes)
        for record in parked:
            self.stdout.write(f"{record.game.code}: {record.faults.splitlines()[0]}")
        if parked:
            raise CommandError(f"{len(parked)} games make no record.", returncode=1)
        self.stderr.write("No game is parked.")
