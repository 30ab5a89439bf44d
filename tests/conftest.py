"""What every test may rely on: a real Valkey, empty at its start, and the database that tests/settings.py names."""

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from django.core.management.commands import flush
from django.db import OperationalError, connection
from django.utils import translation
from hypothesis import settings
from psycopg.errors import LockNotAvailable
from xdist import is_xdist_worker

from games import sweep
from games.migrations import _append_only
from games.valkey import gate
from tests.services import running_postgres, running_valkey
from tests.settings import ON_POSTGRES, POSTGRES_FOLDER, VALKEY

# Some hundred processes of one run load the same code: it is compiled once, whatever the environment says.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hypothesis looks shortly, and the same way every time; `--hypothesis-profile=long` looks long and anew.
settings.register_profile(
    "short", max_examples=15, stateful_step_count=100, deadline=None, derandomize=True, database=None
)
settings.register_profile("long", max_examples=400, stateful_step_count=400, deadline=None, database=None)
settings.load_profile("short")


def pytest_xdist_auto_num_workers() -> int:
    """A test waits for other processes for half of its time, so there are two tests for each processor."""
    return 2 * (os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="repeat races, crashes and faults as often as we promise")
    parser.addoption("--faults", default="", metavar="A,B", help="only faults with one of these in their names")
    parser.addoption("--kills", type=int, default=1_000, help="how many processes the long run of kills ends")


# A process that still holds a table after so long hangs: what it does takes milliseconds.
MOST_FLUSH_SECONDS = 120


@pytest.fixture(autouse=True)
def no_look_stays() -> None:
    """A sweep knows nothing of the processes of the test before."""
    sweep.onlooker.forget()


@pytest.fixture(autouse=True)
def no_language_stays() -> Iterator[None]:
    """A request activates its person's language, and Django leaves it so."""
    yield
    translation.deactivate()


@pytest.fixture
def in_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the limits of requests no time passes: however long the requests take, they come within one minute."""
    now = time.time()
    still = SimpleNamespace(time=lambda: now, monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr("allauth.core.internal.ratelimit.time", still)
    monkeypatch.setattr("games.limits.time", still)


@pytest.fixture(scope="session")
def so_often(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """How often, or for how long, a test does a thing: the first number, or the second one with --long."""
    return lambda short, long: long if request.config.getoption("long") else short


@pytest.fixture(scope="session")
def in_time(request: pytest.FixtureRequest) -> Callable[[float], float]:
    """The seconds that we promise, with --long. In the suite, whose machine may be busy with other things, five times
    as many, and that for each process that wants our processor."""
    if request.config.getoption("long"):
        return lambda promised: promised
    return lambda promised: promised * 5 * crowd()


def crowd() -> float:
    """How many processes wanted each processor in the last minute; at least one."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.fixture(scope="session")
def in_work(so_often: Callable[[int, int], int]) -> Callable[[float], float]:
    """The processor's time that we promise; in the suite, which runs on whatever processor there is, twice as much."""
    return lambda promised: promised * so_often(2, 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL run what is marked for both databases, everything else has its run on SQLite.

    The test that does so takes longest by far: begun first, it runs beside all others, and so does the one that hurts
    a whole site. The tables' tests are given to one process all together; begun early, with the rules' many short ones
    to fill that process's share, they do too. What measures on a machine of its own comes last: then few others have
    to wait for it.
    """
    items.sort(key=_turn)
    if ON_POSTGRES:
        here = [item for item in items if item.get_closest_marker("both_databases")]
        config.hook.pytest_deselected(items=[item for item in items if item not in here])
        items[:] = here


def _turn(item: pytest.Item) -> tuple[bool, int]:
    early = ["test_postgresql.py", "test_campaign.py", "table", "rules"]
    ranks = [early.index(part) for part in item.path.parts if part in early]
    return item.get_closest_marker("alone") is not None, min(ranks, default=len(early))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a test that was skipped is a promise that nobody looked at."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        reporter.write_line("\nSkipped tests fail the run in CI.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def elbow_room(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for all processes of this run of tests."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if is_xdist_worker(request) else own) / "elbow-room"


@pytest.fixture(autouse=True)
def who_measures_is_alone(request: pytest.FixtureRequest, elbow_room: Path) -> Iterator[None]:
    with elbow_room.open("w") as room:
        fcntl.flock(room, fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH)
        yield


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[redis.Redis]:
    with running_valkey(VALKEY), redis.Redis(unix_socket_path=str(VALKEY)) as client:
        yield client


@pytest.fixture(autouse=True)
def valkey(valkey_server: redis.Redis) -> redis.Redis:
    """A client of this process's Valkey, where nothing is left of the test before."""
    valkey_server.flushall()
    gate.open()
    return valkey_server


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    if ON_POSTGRES:
        with running_postgres(POSTGRES_FOLDER):
            yield
    else:
        yield


# The tables whose rows the database keeps as they were written.
KEPT = ("games_act", "games_fairnessline")
# What Django writes after each migration, always the same: to write it anew after each test would take longer than most
# tests do.
WRITTEN_BY_DJANGO = ("django_content_type", "auth_permission")


@pytest.fixture(scope="session", autouse=True)
def _flush_beside_other_processes() -> Iterator[None]:
    """Empty the database between two tests although a guard forbids it and web processes still write; what Django
    itself wrote there stays."""
    vendor, operations = connection.vendor, type(connection.ops)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "sql_flush", _without_guard(vendor, operations.sql_flush))
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_: None)
        if vendor == "postgresql":
            patch.setattr(operations, "execute_sql_flush", _without_deadlock(operations.execute_sql_flush))
        yield


def _without_guard(vendor: str, sql_flush: Callable[..., list[str]]) -> Callable[..., list[str]]:
    def around(self: Any, style: Any, tables: Iterable[str], **kwargs: Any) -> list[str]:
        emptied = [table for table in tables if table not in WRITTEN_BY_DJANGO]
        off = [line for table in KEPT for line in _append_only.no_triggers(vendor, table)]
        on = [*_append_only.redactable_triggers(vendor), *_append_only.triggers(vendor, "games_fairnessline")]
        return [*off, *sql_flush(self, style, emptied, **kwargs), *on]

    return around


def _without_deadlock(execute: Callable[..., None]) -> Callable[..., None]:
    """Get the locks of all tables at once or none of them, as often as it takes.

    A flush that waits for one table and holds another deadlocks with a process that writes both in another order: one
    that the test killed, whose statement the server finishes, or one that outlives the test and keeps its game.
    """

    def around(self: Any, statements: list[str]) -> None:
        tables = ", ".join(connection.ops.quote_name(name) for name in connection.introspection.table_names())
        end = time.monotonic() + MOST_FLUSH_SECONDS
        while True:
            try:
                return execute(self, [f"LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE NOWAIT", *statements])
            except OperationalError as busy:
                if not isinstance(busy.__cause__, LockNotAvailable) or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    return around
