"""The whole site in one command."""

import hashlib
import os
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from accounts.administrators import make_first_administrator
from midnight import stack, watchdog


def port_number(word: str) -> int:
    if word.isdecimal() and 0 < int(word) < 65536:
        return int(word)
    raise ArgumentTypeError(f"a port is a number from 1 to 65535, not {word!r}")


class Command(BaseCommand):
    help = "Run the whole site: what it needs, a web process, a worker and beat. Stop it with Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=port_number, help="where to listen, unless SITE_URL says it (8000)")
        parser.add_argument("--bind", default="127.0.0.1", help="0.0.0.0 lets other machines in: set SITE_URL too")

    def handle(self, *_: Any, port: int | None, bind: str, **__: Any) -> None:
        site = urlsplit(settings.SITE_URL)
        port = port or site.port or 8000
        if not os.environ.get("SITE_URL"):
            site = site._replace(netloc=f"localhost:{port}")
        try:
            with stack.lock(settings.VAR, site.geturl()), stack.Stack() as running:
                # Open until the end: visitors wait while a web process is started again.
                listener = running.afterwards.enter_context(stack.listen(bind, port))
                self.prepare()
                running.heed()
                self.start(running, listener, site.geturl())
                self.welcome(site.geturl())
                running.watch(self.say)
        except stack.Asked as asked:
            self.say(f"{asked}: stopped.")
        except DatabaseError as error:
            raise stack.CannotRun(f"The database does not answer: {str(error).strip()}") from None

    def say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()

    def prepare(self) -> None:
        """Bring the database and the collected files up to date."""
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if plan:
            self.say(f"Preparing the database ({connection.display_name}): {len(plan)} migrations.")
            call_command("migrate", interactive=False, verbosity=0)
        stamp = settings.VAR / "static.stamp"
        print_of_files = static_files_print()
        if not stamp.exists() or stamp.read_text() != print_of_files:
            self.say("Collecting static files.")
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
            stamp.write_text(print_of_files)
        connection.close()

    def start(self, running: stack.Stack, listener: socket.socket, address: str) -> None:
        """Start everything and return once the first page is there."""
        options: dict[str, Any] = {
            "cwd": settings.BASE_DIR,
            "env": {**os.environ, "SITE_URL": address, "CELERY_SKIP_CHECKS": "yes"},
        }
        folder = settings.EMBEDDED_SOCKET.parent
        running.afterwards.enter_context(stack.private_folder(folder))
        if settings.VALKEY_SOCKET:
            self.say("Starting Valkey, the web process, the worker and beat.")
            running.start_valkey(settings.VALKEY_SOCKET)
        else:
            self.say("Starting the web process, the worker and beat.")
        manage: list[str | Path] = [sys.executable, settings.BASE_DIR / "manage.py"]
        web = running.start(
            "The web process",
            [*manage, "web", "--skip-checks", "--fd", str(listener.fileno())],
            folder / "web",
            still=watchdog.STILL_SECONDS,
            pass_fds=[listener.fileno()],
            **options,
        )
        for name, word in (("The worker", "worker"), ("Beat", "beat")):
            command = [*manage, word, "--skip-checks"]
            running.start(name, command, folder / word, still=watchdog.WAITING_SECONDS, **options)
        status = running.first_status(listener, urlsplit(address), web)
        if status != 200:
            raise stack.CannotRun(f"The first page answered with status {status}.")

    def welcome(self, address: str) -> None:
        self.say(f"Midnight is open at {address}")
        if administrator := make_first_administrator():
            name, password = administrator
            self.say(f"Its first administrator is {name!r}, the one-time password {password} (shown this once).")
        self.say("Ctrl-C stops it.")


def static_files_print() -> str:
    """A fingerprint of every file that would be collected, without reading any."""
    facts = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            file = Path(storage.path(path)).stat()
            facts.update(f"{path} {file.st_size} {file.st_mtime_ns}\n".encode())
    return facts.hexdigest()
