"""One worker process."""

import sys
import warnings
from typing import Any

from django.core.management.base import BaseCommand

from midnight import stack
from midnight.celery import app


class Command(BaseCommand):
    help = "Do the jobs: a Celery worker. Run as many of these as you like."

    def handle(self, *_: Any, **__: Any) -> None:
        stack.require_redis()
        # It warns of root because of pickled jobs; ours are JSON, and production does not run as root.
        warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
        # Threads: jobs wait for the database more than they compute. Workers need not know each other.
        worker = app.Worker(
            pool="threads",
            concurrency=2,
            quiet=True,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )
        worker.start()
        sys.exit(worker.exitcode)
