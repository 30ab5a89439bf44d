"""`manage.py worker`: what waits for the mail server holds up no other job."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import redis
from celery import Task
from django.conf import settings

from accounts.letters import deliver
from games.tasks import write_to_the_awaited
from midnight import health, stack
from midnight.celery import app
from midnight.tasks import heartbeat
from tests.midnight.running import HANGS_SECONDS, ROOT, clean_environment, eventually
from tests.services import running_valkey
from tests.support.proxy import MutableProxy, proxy_to

# More than there are threads for them, each of which waits twenty seconds.
LETTERS = 6


class Worker:
    """A worker, its Valkey, and the line between them."""

    def __init__(self, folder: Path, address: Path, line: MutableProxy, environment: dict[str, str]) -> None:
        self._environment = {"MIDNIGHT_VAR": str(folder), "REDIS_URL": f"redis://{line.address}/0", **environment}
        self._log = folder / "log"
        self.line = line
        self.process: subprocess.Popen[bytes]
        self.redis = redis.Redis(unix_socket_path=str(address))
        self.broker = app.connection_for_write(f"redis+socket://{address}")

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = stack.child(
                [sys.executable, ROOT / "manage.py", "worker", "--skip-checks"],
                cwd=ROOT,
                env=clean_environment(**self._environment),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def log(self) -> list[str]:
        return self._log.read_text().splitlines()

    def ask(self, job: "Task[..., object]", *words: str) -> None:
        job.apply_async(words, connection=self.broker)

    def works(self) -> bool:
        """Whether it does a job that is asked for now."""
        self.redis.delete(health.HEARTBEAT)
        self.ask(heartbeat)
        return bool(eventually(lambda: self.redis.get(health.HEARTBEAT)))

    def has_done_one_of_many(self) -> bool:
        """Ask for one more; whether any was done. A single one may be lost with the line that carried it."""
        self.ask(heartbeat)
        time.sleep(0.5)
        return self.redis.get(health.HEARTBEAT) is not None

    def letters(self) -> psutil.Process:
        """Its process for letters."""
        [process] = eventually(lambda: psutil.Process(self.process.pid).children())
        return process


@contextmanager
def worker(**environment: str) -> Iterator[Worker]:
    """A worker in a process of its own, with a Valkey of its own."""
    with tempfile.TemporaryDirectory(prefix="midnight-") as folder:
        address = Path(folder) / "valkey.sock"
        with running_valkey(address), proxy_to(address) as line:
            here = Worker(Path(folder), address, line, environment)
            here.start()
            try:
                yield here
            finally:
                here.broker.release()
                here.redis.close()
                here.process.kill()
                here.process.wait()


@pytest.mark.slow
def test_a_mail_server_that_says_nothing_holds_up_no_other_job() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        with worker(EMAIL_URL=f"smtp://127.0.0.1:{silent.getsockname()[1]}") as here:
            for number in range(LETTERS):
                here.ask(deliver, "irma@example.org", "Subject", "Message", f"<{number}@example.org>")
            held = [silent.accept()[0], silent.accept()[0]]
            assert here.works()
            for line in held:
                line.close()


@pytest.mark.slow
def test_who_asks_the_worker_to_stop_stops_both_its_processes() -> None:
    with worker() as here:
        assert here.works()
        letters = here.letters()
        here.process.terminate()
        assert here.process.wait(30) == 0
        assert not psutil.wait_procs([letters], timeout=HANGS_SECONDS)[1]


@pytest.mark.slow
def test_neither_process_of_a_worker_goes_on_without_the_other() -> None:
    with worker() as here:
        here.letters().kill()
        assert here.process.wait(30) == 1
    with worker() as here:
        letters = here.letters()
        os.kill(here.process.pid, signal.SIGKILL)
        assert not psutil.wait_procs([letters], timeout=HANGS_SECONDS)[1]


@pytest.mark.slow
def test_a_worker_works_again_after_its_broker_was_silent(so_often: Callable[[int, int], int]) -> None:
    with worker() as here:
        assert here.works()
        processes = [psutil.Process(here.process.pid), here.letters()]
        before = [sum(process.cpu_times()[:2]) for process in processes]
        here.line.mute()
        eventually(lambda: any("Connection to broker lost" in line for line in here.log()))
        # In a long run, for longer than the kernel tries: 45 s.
        time.sleep(so_often(1, 75))
        used = [sum(process.cpu_times()[:2]) for process in processes]
        here.line.unmute()
        here.redis.delete(health.HEARTBEAT)
        eventually(here.has_done_one_of_many)
        assert all(after - first < 5 for first, after in zip(before, used, strict=True)), "it does not spin"
        assert len(here.log()) < 150


@pytest.mark.parametrize("job", [deliver, write_to_the_awaited], ids=lambda job: job.name)
def test_whatever_writes_to_the_mail_server_waits_where_letters_wait(job: "Task[..., object]") -> None:
    assert app.amqp.router.route({}, job.name)["queue"].name == settings.LETTERS_QUEUE != app.conf.task_default_queue
