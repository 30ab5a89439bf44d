"""What a page loads, collected: by whatever user, for every user that runs a web process."""

from typing import Any

from django.contrib.staticfiles.management.commands import collectstatic

from midnight.private_files import public


class Command(collectstatic.Command):
    def handle(self, **options: Any) -> str | None:
        with public():
            return super().handle(**options)
