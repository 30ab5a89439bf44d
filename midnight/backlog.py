"""Jobs that wait in a queue, and those among them that are superfluous.

Each job of the schedule does whatever there is to do when it runs, so one of a kind that waits is enough. Beat sends no
second one (scheduler.py), and a worker that begins drops what an absence of all workers left behind.
"""

import logging
import re

import redis

from games import valkey
from midnight import schedule

logger = logging.getLogger(__name__)

PERIODIC = frozenset(entry["task"] for entry in schedule.BEAT.values())
# In kombu's messages the body is base64, so this is found in the headers only.
TASK = re.compile(rb'"task": "([\w.]+)"')
# So many newest messages are looked at. A longer queue needs none of the schedule's jobs.
LOOKED_AT = 500
# A worker does a shorter queue as fast as it would tidy it up.
SHORT = 100
BATCH = 5_000


def task_of(message: bytes) -> str:
    """The name of the task that a queued message asks for; "" where there is none."""
    found = TASK.search(message)
    return found[1].decode() if found else ""


def waits(queue: str, task: str) -> bool:
    """Whether a job of this kind waits in the queue; RedisError where Valkey is away."""
    with valkey.gate.attempt(), valkey.client() as client:
        messages: list[bytes] = client.lrange(queue, 0, LOOKED_AT)
    return len(messages) > LOOKED_AT or any(task_of(message) == task for message in messages)


def drop_superfluous(queue: str) -> int:
    """Keep one job of each kind of the schedule, and all others; the answer is how many were dropped.

    Workers may do it at the same time, and while jobs are sent and taken. What is kept may wait behind newer jobs then.
    """
    kept: set[str] = set()
    dropped = 0
    try:
        with valkey.client() as client:
            left = client.llen(queue)
            while left > SHORT or (dropped and left > 0):
                batch = min(left, BATCH)
                dropped += _sift(client, queue, batch, kept)
                left -= batch
    except (redis.RedisError, OSError) as error:
        # The worker waits for Valkey by itself.
        logger.warning("The queue %s could not be tidied up: %s", queue, error)
    if dropped:
        logger.warning("%d superfluous jobs were dropped from the queue %s.", dropped, queue)
    return dropped


def _sift(client: redis.Redis, queue: str, count: int, kept: set[str]) -> int:
    """Take the oldest messages and put back at the other end those that are needed; how many were not."""
    messages: list[bytes] = client.rpop(queue, count) or []  # type: ignore[assignment]
    needed = []
    for message in messages:
        task = task_of(message)
        if task in PERIODIC and task in kept:
            continue
        kept.add(task)
        needed.append(message)
    if needed:
        client.lpush(queue, *needed)
    return len(messages) - len(needed)
