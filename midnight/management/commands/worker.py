"""One worker: a process for the jobs, and one for letters."""

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from celery.platforms import EX_FAILURE
from celery.signals import worker_ready, worker_shutting_down
from celery.worker import state
from celery.worker.consumer import consumer
from django.conf import settings
from django.core.management.base import BaseCommand
from kombu.transport.redis import Channel, Transport
from redis.exceptions import ConnectionError as RedisConnectionError

from midnight import backlog, stack, watchdog
from midnight.celery import app

logger = logging.getLogger(__name__)


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
    help = "Do the jobs, and send the letters: Celery's workers. Run as many of these as you like."

    def handle(self, *_: Any, **__: Any) -> None:
        stack.require_redis()
        # It warns of root because of pickled jobs; ours are JSON, and production does not run as root.
        warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
        Transport.Channel = StandingChannel
        for queue in (app.conf.task_default_queue, settings.LETTERS_QUEUE):
            backlog.drop_superfluous(queue)
        watch()
        with beside(settings.LETTERS_QUEUE):
            status = work(app.conf.task_default_queue)
        sys.exit(status)


def watch() -> None:
    """Feed the watchdog where Celery looks whether it is to stop: in each turn of its loop, and each second while it
    waits for Valkey."""
    maybe_shutdown = state.maybe_shutdown

    def turn() -> None:
        watchdog.feed(watchdog.WAITING_SECONDS)
        maybe_shutdown()

    state.maybe_shutdown = turn
    consumer.maybe_shutdown = turn  # type: ignore[attr-defined]  # imported there by name
    watchdog.start()
    worker_ready.connect(say_ready)


def say_ready(**_: object) -> None:
    watchdog.notify(watchdog.READY)


def work(queue: str) -> int:
    """Do the jobs of one queue until somebody asks us to stop; the answer is the exit status."""
    # Threads: jobs wait for the database more than they compute. Workers need not know each other.
    worker = app.Worker(
        queues=[queue],
        pool="threads",
        concurrency=2,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    return int(worker.exitcode or 0)


@contextlib.contextmanager
def beside(queue: str) -> Iterator[None]:
    """Do the jobs of that queue meanwhile, in a copy of this process: it ends with us, and we with it.

    So a mail server that hangs holds the threads of this queue and no others. Everything is loaded before the copy is
    made and is shared from then on: it takes 25 MB, a third of what a process of its own would.
    """
    app.loader.import_default_modules()
    other = multiprocessing.get_context("fork").Process(target=work_for, args=(os.getpid(), queue))
    other.start()

    def end_with_it(*_: object) -> None:
        if state.should_stop is None and not other.is_alive():
            state.should_stop = EX_FAILURE  # type: ignore[assignment]  # its types are wrong

    def stop_it(**_: object) -> None:
        other.terminate()

    signal.signal(signal.SIGCHLD, end_with_it)
    # At once, not after us: it takes no more letters while we finish.
    worker_shutting_down.connect(stop_it)
    end_with_it()
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if state.should_stop == EX_FAILURE:
            logger.error("The process for the queue %r has ended (%s).", queue, other.exitcode)
        if other.is_alive():
            other.terminate()
        other.join()


def work_for(parent: int, queue: str) -> None:
    stack.die_with(parent)
    # The supervisor hears of the worker as a whole.
    os.environ.pop(watchdog.VARIABLE, None)
    sys.exit(work(queue))
