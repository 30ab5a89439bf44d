"""In the place of Django's development server, which knows no sockets and starts nothing that the site needs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Not for this site: use `up`."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addrport", nargs="?")

    def handle(self, *_: Any, **__: Any) -> None:
        raise CommandError("The site needs more than pages: run it with `manage.py up`.")
