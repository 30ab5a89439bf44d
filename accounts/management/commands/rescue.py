"""`manage.py rescue NAME`: help for somebody who lost their password, passkey or app."""

import getpass
import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.rescue import rescue
from accounts.signing import person_of


class Command(BaseCommand):
    help = (
        "Prints a one-time password for somebody who lost theirs, takes their second factors away, ends their "
        "sessions, and writes down who did it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="a name, or a confirmed mail address")
        parser.add_argument("--by", help="who you are, for the account's history (default: your user on this machine)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = person_of(options["name"])
        if user is None or user.deleted_at:
            raise CommandError(f"Nobody has the name or the confirmed mail address {options['name']}.")
        by = options["by"] or f"{getpass.getuser()}@{socket.gethostname()}"
        self.stdout.write(rescue(user, by=by[:80]))
        self.stderr.write(
            f"This is {user.name}'s one-time password; signing in with it asks for a new one at once. "
            "Their second factors are gone and their sessions have ended."
        )
