"""One worker process."""

import sys
import warnings
from typing import Any

from django.core.management.base import BaseCommand
from kombu.transport.redis import Channel, Transport
from redis.exceptions import ConnectionError as RedisConnectionError

from midnight import stack
from midnight.celery import app


class StandingChannel(Channel):
    """Says that its connection is lost where kombu's stumbles over what is missing then.

    A job that ends after Redis went away reports on a connection that is half tidied up. Celery comes back after a
    connection error; after the AttributeError it gets from kombu 5.7 it ends the worker.
    """

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection.client is None:
            raise RedisConnectionError("This connection was hung up.")
        parameters: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[misc]
        return parameters


class Command(BaseCommand):
    help = "Do the jobs: a Celery worker. Run as many of these as you like."

    def handle(self, *_: Any, **__: Any) -> None:
        stack.require_redis()
        # It warns of root because of pickled jobs; ours are JSON, and production does not run as root.
        warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
        # Threads: jobs wait for the database more than they compute. Workers need not know each other.
        Transport.Channel = StandingChannel
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
