"""Jobs in processes of their own, whose power fails after so many steps, or which run beside each other.

A step is whatever others might see: a statement that writes, the commit of what was written, a word to Valkey, and a
call of what a test names. What only reads changes nothing, so nobody need be killed before it.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import redis
from django.db import connection, connections

from tests.settings import ON_POSTGRES

FORK = multiprocessing.get_context("fork")
READS = ("SELECT", "PRAGMA", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "SET")

Job = Callable[[], object]
# Functions whose calls are steps too: where each is found, and its name.
Calls = Sequence[tuple[Any, str]]


def survives(job: Job, steps: int, calls: Calls = ()) -> bool:
    """Run the job until its power fails after so many steps; True where it came to its end before."""
    hang_up()
    process = FORK.Process(target=_until_the_power_fails, args=(job, steps, calls))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode == 0


def at_once(*jobs: Job) -> None:
    """Run these jobs in processes that begin in the same moment, each to its end."""
    hang_up()
    start = FORK.Barrier(len(jobs))
    processes = [FORK.Process(target=_together, args=(job, start)) for job in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * len(jobs)


def hang_up() -> None:
    """Two processes must not share a line, nor a pool of them."""
    connections.close_all()
    if ON_POSTGRES:
        connections["default"].close_pool()  # type: ignore[attr-defined]


def _together(job: Job, start: Any) -> None:
    start.wait(60)
    job()


def _until_the_power_fails(job: Job, steps: int, calls: Calls) -> None:
    left, written = steps, False

    def step() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal written
        if not sql.lstrip("( ").upper().startswith(READS):
            step()
            written = True
        return execute(sql, params, many, context)

    def commit() -> None:
        nonlocal written
        keep()
        if written:
            step()
        written = False

    def stepping(call: Callable[..., Any]) -> Callable[..., Any]:
        def around(*args: Any, **kwargs: Any) -> Any:
            step()
            answer = call(*args, **kwargs)
            step()
            return answer

        return around

    keep, connection._commit = connection._commit, commit  # type: ignore[attr-defined]
    for place, name in (*calls, (redis.Redis, "execute_command")):
        setattr(place, name, stepping(getattr(place, name)))
    with connection.execute_wrapper(watch):
        job()
