"""A thousand finished games, four workers killed again and again: in the end the recount agrees to the cent."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import User
from games import ladder
from games.models import Game, RatingEvent
from tests.games.finishes import finish
from tests.settings import FOLDER, ON_POSTGRES, VALKEY
from tests.table.conftest import database_address

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 4
MOST_SECONDS = 300


@pytest.fixture
def worker() -> Iterator[Callable[[], subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        site = {
            "DATABASE_URL": database_address(),
            "REDIS_URL": f"unix://{VALKEY}",
            "MIDNIGHT_VAR": str(FOLDER),
            "DJANGO_SETTINGS_MODULE": "midnight.settings",
        }
        command = [sys.executable, "-m", "tests.games.rater"]
        started.append(subprocess.Popen(command, cwd=ROOT, env=os.environ | site, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_thousand_games_are_rated_by_four_workers_with_kills(
    worker: Callable[[], subprocess.Popen[str]], so_often: Callable[[int, int], int]
) -> None:
    rng = random.Random(1)
    people = [User.objects.create_user(f"Player {number:02}") for number in range(24)]
    count = 1_000 if ON_POSTGRES else so_often(150, 1_000)
    for _ in range(count):
        finish(rng.sample(people, rng.choice([2, 3, 4])))
    workers = [worker() for _ in range(WORKERS)]
    for process in workers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    kills, end = 0, time.monotonic() + MOST_SECONDS
    while ladder.unrated("live") and time.monotonic() < end:
        time.sleep(rng.uniform(0.05, 0.4))
        victim = rng.randrange(WORKERS)
        if workers[victim].poll() is None:
            kills += 1
        workers[victim].kill()
        workers[victim] = worker()
    assert kills >= 2
    assert ladder.unrated("live") == 0
    assert set(Game.objects.values_list("rated", flat=True)) == {"rated"}
    found = ladder.recount("live")
    assert (found.games, found.differences) == (count, [])
    assert found.lines == RatingEvent.objects.count() == sum(game.seats.count() for game in Game.objects.all())
