"""Connections to PostgreSQL: a server that restarts, or cuts everybody off, is gone for as long as it is gone."""

import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import ConnectionHandler
from django.db.utils import OperationalError
from pytest_django import DjangoDbBlocker

from games import deadlines
from midnight.postgresql import web_limits
from midnight.settings import database
from tests.services import running_postgres
from tests.support.proxy import proxy_to

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


@pytest.mark.slow
def test_a_server_that_falls_silent_is_given_up_at_the_deadline(
    place: Path, django_db_blocker: DjangoDbBlocker, in_time: Callable[[float], float]
) -> None:
    with (
        django_db_blocker.unblock(),
        running_postgres(place),
        proxy_to(place / ".s.PGSQL.5432") as line,
    ):
        handler = ConnectionHandler({"default": {}, "other": database(f"postgres://midnight@{line.address}/postgres")})
        try:
            for in_use in (True, False):
                fill(handler)
                if in_use:
                    handler["other"].ensure_connection()
                line.mute()
                for _ in range(2):
                    began = time.monotonic()
                    with pytest.raises(OperationalError), deadlines.within(1):
                        ask(handler)
                    assert time.monotonic() - began < in_time(2.5)
                    with suppress(OperationalError):
                        handler["other"].close()
                line.unmute()
                assert ask(handler) < in_time(4)
        finally:
            handler["other"].close_pool()


@pytest.mark.slow
def test_web_processes_have_limits_that_the_operator_may_change(
    place: Path, django_db_blocker: DjangoDbBlocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")

    def shown(found: dict[str, Any]) -> list[str]:
        monkeypatch.setattr(settings, "DATABASES", {"default": found})
        web_limits.apply()
        handler = ConnectionHandler({"default": {}, "other": found})
        try:
            with handler["other"].cursor() as cursor:
                return [cursor.execute(f"SHOW {name}").fetchone()[0] for name in names]
        finally:
            handler["other"].close()
            handler["other"].close_pool()

    monkeypatch.setattr(deadlines, "_of_every_question", None)
    with django_db_blocker.unblock(), running_postgres(place) as (address, _):
        assert shown(database(address)) == ["10s", "5s", "5s"]
        assert shown(database(f"{address}&options=-c%20statement_timeout%3D1min")) == ["1min", "5s", "5s"]
    assert deadlines.seconds_left() == web_limits.ANSWER_SECONDS
