"""`careers`: what everybody has played in all, counted again from the games."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.models import User
from games import careers
from games.management.progress import Bar


class Command(BaseCommand):
    help = "Counts every player's games again and puts right what is kept of them; the site may run meanwhile."

    def handle(self, *args: Any, **options: Any) -> None:
        last = User.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        changed = careers.recount(Bar("people", max(1, last)).advance)
        self.stdout.write(f"{changed} rows were put right." if changed else "Every career is what the games say.")
