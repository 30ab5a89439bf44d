"""A thousand finished games, four workers killed again and again: in the end the recount agrees to the cent."""

import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import User
from games import ladder
from games.models import Game, RatingEvent
from midnight import stack
from tests.games.finishes import finish
from tests.settings import FOLDER, ON_POSTGRES, VALKEY
from tests.table.conftest import database_address

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 4
# About so many, each after some more ratings however long those take: where a worker needs longer to start than it may
# live, nothing would ever be rated.
KILLS = 30
# Four workers that rate nothing for so long hang.
MOST_QUIET_SECONDS = 120


@pytest.fixture
def worker() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        site = {
            "DATABASE_URL": database_address(),
            "REDIS_URL": f"unix://{VALKEY}",
            "MIDNIGHT_VAR": str(FOLDER),
            "DJANGO_SETTINGS_MODULE": "midnight.settings",
        }
        command = [sys.executable, "-m", "tests.games.rater"]
        started.append(stack.child(command, cwd=ROOT, env=os.environ | site, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def until_rated(left: int) -> None:
    """Until no more than so many games wait for their rating."""
    waiting, end = ladder.unrated("live"), time.monotonic() + MOST_QUIET_SECONDS
    while waiting > max(left, 0):
        assert time.monotonic() < end, "no worker gets anywhere"
        time.sleep(0.005)
        now = ladder.unrated("live")
        if now < waiting:
            waiting, end = now, time.monotonic() + MOST_QUIET_SECONDS


def is_at_work(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has said that it begins, and still runs."""
    readable, _, _ = select.select([process.stdout], [], [], 0)
    return bool(readable) and process.poll() is None


def test_a_thousand_games_are_rated_by_four_workers_with_kills(
    worker: Callable[[], subprocess.Popen[bytes]], so_often: Callable[[int, int], int]
) -> None:
    rng = random.Random(1)
    people = [User.objects.create_user(f"Player {number:02}") for number in range(24)]
    count = 1_000 if ON_POSTGRES else so_often(150, 1_000)
    for _ in range(count):
        finish(rng.sample(people, rng.choice([2, 3, 4])))
    workers = [worker() for _ in range(WORKERS)]
    kills = 0
    while left := ladder.unrated("live"):
        until_rated(left - rng.randint(1, 2 * count // KILLS))
        working = [number for number in range(WORKERS) if is_at_work(workers[number])]
        if working:
            # Somewhere between two ratings.
            time.sleep(rng.uniform(0, 0.02))
            victim = rng.choice(working)
            workers[victim].kill()
            workers[victim] = worker()
            kills += 1
    assert kills >= KILLS // 3
    assert ladder.unrated("live") == 0
    assert set(Game.objects.values_list("rated", flat=True)) == {"rated"}
    found = ladder.recount("live")
    assert (found.games, found.differences) == (count, [])
    assert found.lines == RatingEvent.objects.count() == sum(game.seats.count() for game in Game.objects.all())
