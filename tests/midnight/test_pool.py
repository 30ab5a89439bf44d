"""Connections to PostgreSQL: a server that restarts, or cuts everybody off, is gone for as long as it is gone."""

import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import ConnectionHandler
from django.db.utils import OperationalError
from pytest_django import DjangoDbBlocker

from midnight.settings import database
from tests.services import running_postgres

MANY = 8


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="midnight-") as folder:
        yield Path(folder) / "pg"


def fill(handler: ConnectionHandler) -> None:
    """As after a busy moment: many connections that nobody uses now."""
    pool = handler["other"].pool
    pool.open()
    taken = [pool.getconn() for _ in range(MANY)]
    for connection in taken:
        pool.putconn(connection)


def ask(handler: ConnectionHandler) -> float:
    """Seconds until the database answered."""
    began = time.monotonic()
    with handler["other"].cursor() as cursor:
        cursor.execute("SELECT 1")
    handler["other"].close()
    return time.monotonic() - began


@pytest.mark.slow
def test_whoever_comes_first_after_a_restart_is_served_at_once(
    place: Path, django_db_blocker: DjangoDbBlocker, in_time: Callable[[float], float]
) -> None:
    with django_db_blocker.unblock(), running_postgres(place) as (address, process):
        handler = ConnectionHandler({"default": {}, "other": database(address)})
        try:
            fill(handler)
            with psycopg.connect(address, autocommit=True) as another:
                another.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            assert ask(handler) < in_time(5)

            fill(handler)
            process.send_signal(signal.SIGINT)
            process.wait()
            with pytest.raises(OperationalError):
                ask(handler)
            with running_postgres(place):
                assert ask(handler) < in_time(5)
        finally:
            handler["other"].close_pool()
