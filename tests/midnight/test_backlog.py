"""A day and a half without a worker: what is superfluous is dropped, everything else is done."""

import time
from collections import Counter
from collections.abc import Callable

import pytest
import redis

from accounts.letters import deliver
from games.tasks import rate_finished, wake_overdue
from midnight import backlog, health, schedule
from midnight.celery import app
from tests.midnight.running import eventually
from tests.midnight.test_worker import Worker, worker

QUEUE = app.conf.task_default_queue


def message_of(client: redis.Redis, task: str) -> bytes:
    """What is queued for this task, as it is sent; taken out again."""
    app.send_task(task, queue=QUEUE)
    return bytes(client.lpop(QUEUE))  # type: ignore[arg-type]


def tasks(client: redis.Redis) -> Counter[str]:
    return Counter(backlog.task_of(message) for message in client.lrange(QUEUE, 0, -1))


def test_of_each_periodic_job_one_is_kept_and_of_others_all(valkey: redis.Redis) -> None:
    sweep, rating, letter = (message_of(valkey, job.name) for job in (wake_overdue, rate_finished, deliver))
    valkey.lpush(QUEUE, *[sweep, rating, letter, b"rubbish"] * 3_000)
    assert backlog.drop_superfluous(QUEUE) == 2 * 2_999
    assert tasks(valkey) == {wake_overdue.name: 1, rate_finished.name: 1, deliver.name: 3_000, "": 3_000}


def test_a_short_queue_is_left_as_it_is(valkey: redis.Redis) -> None:
    valkey.lpush(QUEUE, *[message_of(valkey, wake_overdue.name)] * backlog.SHORT)
    assert backlog.drop_superfluous(QUEUE) == 0
    assert valkey.llen(QUEUE) == backlog.SHORT


def test_a_job_waits_while_its_like_is_queued(valkey: redis.Redis) -> None:
    assert not backlog.waits(QUEUE, wake_overdue.name)
    app.send_task(wake_overdue.name)
    assert backlog.waits(QUEUE, wake_overdue.name)
    assert not backlog.waits(QUEUE, rate_finished.name)


def test_into_an_endless_queue_nothing_is_sent(valkey: redis.Redis) -> None:
    valkey.lpush(QUEUE, *[message_of(valkey, deliver.name)] * (backlog.LOOKED_AT + 1))
    assert backlog.waits(QUEUE, wake_overdue.name)


@pytest.mark.slow
def test_a_worker_gets_through_a_day_and_a_half_of_sweeps(
    valkey: redis.Redis, so_often: Callable[[int, int], int], in_time: Callable[[float], float]
) -> None:
    """With --long all 248,000 jobs of 36 hours, within ten seconds of the first one's being taken."""
    jobs = [message_of(valkey, entry["task"]) for entry in schedule.BEAT.values()]
    with worker() as here:
        assert here.works()
        here.process.kill()
        here.process.wait()
        fill(here, jobs, so_often(18_000, 248_000))
        here.redis.delete(health.HEARTBEAT)
        began = time.monotonic()
        here.start()
        eventually(lambda: here.redis.get(health.HEARTBEAT))
        eventually(lambda: here.redis.llen(QUEUE) == 0)
        took = time.monotonic() - began
    assert took < in_time(10)


def fill(here: Worker, jobs: list[bytes], number: int) -> None:
    for _ in range(number // len(jobs) // 100):
        here.redis.lpush(QUEUE, *jobs * 100)
    assert here.redis.llen(QUEUE) > 0.9 * number
