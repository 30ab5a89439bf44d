"""Beat, its clock and its broker: whatever jumps or is away, each job is sent when its time comes."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis

from midnight import backlog, schedule, stack
from midnight.celery import app
from midnight.scheduler import Scheduler
from tests.midnight.running import ROOT, clean_environment, eventually
from tests.services import running_valkey
from tests.support.proxy import MutableProxy, proxy_to

HEARTBEAT = "midnight.tasks.heartbeat"
HOUR = timedelta(hours=1)


class Beat:
    """A beat on a clock of its own that sends into a list."""

    def __init__(self, file: Path, patch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2026, 1, 31, 12, tzinfo=UTC)
        self.sent: list[str] = []
        self._file = file
        patch.setattr(app, "now", lambda: self.now)
        patch.setattr(backlog, "waits", lambda queue, task: False)
        patch.setattr(Scheduler, "apply_async", lambda _self, entry, **_: self.sent.append(entry.task))
        patch.setattr(Scheduler, "producer", None)
        self.start()

    def start(self) -> None:
        self._scheduler = Scheduler(app, schedule_filename=str(self._file))

    def restart(self) -> None:
        self._scheduler.close()
        self.start()

    def run(self, seconds: int) -> Counter[str]:
        """What it sends in so many seconds."""
        self.sent.clear()
        end = self.now + timedelta(seconds=seconds)
        while self.now < end:
            wait = self._scheduler.tick()
            assert wait <= Scheduler.max_interval
            self.now += timedelta(seconds=max(wait, 0.001))
        return Counter(self.sent)


@pytest.fixture
def beat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Beat]:
    running = Beat(tmp_path / "beat", monkeypatch)
    yield running
    running._scheduler.close()


def assert_all_are_sent(sent: Counter[str], seconds: int) -> None:
    """Each job of an interval, as often as it should be, with two to spare."""
    for entry in schedule.BEAT.values():
        if isinstance(every := entry["schedule"], int):
            assert abs(sent[entry["task"]] - seconds // every) <= 2, entry["task"]


def test_each_job_is_sent_when_its_time_comes(beat: Beat) -> None:
    assert_all_are_sent(beat.run(300), 300)


@pytest.mark.parametrize("step", [HOUR, timedelta(seconds=20), timedelta(days=400)])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_was_ahead_stops_no_job(beat: Beat, step: timedelta, restarted: bool) -> None:
    beat.run(60)
    beat.now += step
    beat.run(10)
    beat.now -= step
    if restarted:
        beat.restart()
    assert_all_are_sent(beat.run(300), 300)


@pytest.mark.parametrize("step", [HOUR, -HOUR, timedelta(seconds=20), timedelta(seconds=-20)])
def test_a_clock_that_is_set_stops_no_job(beat: Beat, step: timedelta) -> None:
    beat.run(60)
    beat.now += step
    assert_all_are_sent(beat.run(300), 300)


def test_a_restart_forgets_nothing_of_the_past(beat: Beat) -> None:
    beat.run(20 * 60)
    beat.now += timedelta(hours=23, minutes=40)
    beat.restart()
    assert beat.run(5)["games.tasks.forget_talk"] == 1, "it is a day since the last one was due"


# As it runs -----------------------------------------------------------------------------------------------------------


@contextmanager
def running_beat() -> Iterator[tuple[redis.Redis, MutableProxy, Callable[[], str]]]:
    """Beat in a process of its own: its Valkey, the line to it, and what it has logged."""
    with tempfile.TemporaryDirectory(prefix="midnight-") as name:
        folder = Path(name)
        address, log = folder / "valkey.sock", folder / "log"
        with running_valkey(address), proxy_to(address) as line, log.open("wb") as said:
            process = stack.child(
                [sys.executable, ROOT / "manage.py", "beat", "--skip-checks"],
                cwd=ROOT,
                env=clean_environment(MIDNIGHT_VAR=name, REDIS_URL=f"redis://{line.address}/0"),
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            try:
                with redis.Redis(unix_socket_path=str(address)) as client:
                    yield client, line, log.read_text
            finally:
                process.kill()
                process.wait()


def queued(client: redis.Redis) -> Counter[str]:
    return Counter(json.loads(message)["headers"]["task"] for message in client.lrange("celery", 0, -1))


@pytest.mark.slow
def test_beat_without_a_broker_logs_few_lines_and_sends_again_afterwards() -> None:
    with running_beat() as (client, line, log):
        eventually(lambda: queued(client)[HEARTBEAT])
        line.mute()
        eventually(lambda: log().count("more like this") >= 2)
        line.unmute()
        client.delete("celery")
        eventually(lambda: queued(client)[HEARTBEAT])
        assert "Traceback" not in log()
        assert len(log().splitlines()) <= 20


@pytest.mark.slow
def test_beat_sends_no_job_of_which_one_waits() -> None:
    with running_beat() as (client, _line, _log):
        eventually(lambda: queued(client)["games.tasks.wake_overdue"])
        client.delete("celery")
        # The heartbeat comes after two more sweeps were due.
        eventually(lambda: queued(client)[HEARTBEAT])
        client.lrem("celery", 1, next(m for m in client.lrange("celery", 0, -1) if backlog.task_of(m) == HEARTBEAT))
        eventually(lambda: queued(client)[HEARTBEAT])
        assert set(queued(client).values()) == {1}
