"""`manage.py up` in a process of its own, with a folder and a port of its own."""

import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from midnight import stack

# However busy the machine is: what has not come after so long hangs.
HANGS_SECONDS = 300
ROOT = Path(__file__).resolve().parent.parent.parent
OURS = ("SITE_URL", "SECRET_KEY", "REDIS_URL", "DATABASE_URL", "DEBUG", "DJANGO_SETTINGS_MODULE", "MIDNIGHT_VAR")


def clean_environment(**settings: str) -> dict[str, str]:
    """The environment without any setting of the tests', plus these."""
    return {**{name: value for name, value in os.environ.items() if name not in OURS}, **settings}


def manage(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *words],
        cwd=ROOT,
        env=clean_environment(**settings),
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
    )


_ports: list[socket.socket] = []


def free_port() -> int:
    """A port for a process that wants its number. No other test gets it while this process lives, nor does any program
    that asks the kernel for some port: those come from above 32,767."""
    while True:
        number = random.randrange(10_000, 32_000)
        mark, probe = socket.socket(socket.AF_UNIX), socket.socket()
        try:
            mark.bind(f"\0midnight-test-port-{number}")
            probe.bind(("127.0.0.1", number))
        except OSError:
            mark.close()
            continue
        finally:
            probe.close()
        _ports.append(mark)
        return number


def eventually(condition: Callable[[], Any], within: float = HANGS_SECONDS) -> Any:
    """What the condition answers as soon as that is true; an AssertionError if it takes too long."""
    end = time.monotonic() + within
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return answer


class Up:
    def __init__(self, folder: Path, *words: str, port: int | None = None, **settings: str) -> None:
        self.port = port or free_port()
        self.folder = folder
        self.output = folder / "output"
        with self.output.open("wb") as output:
            # It ends with the tests, even with those that are killed.
            self.process = stack.child(
                [sys.executable, ROOT / "manage.py", "up", "--port", str(self.port), *words],
                death=signal.SIGTERM,
                cwd=ROOT,
                env=clean_environment(MIDNIGHT_VAR=str(folder / "var"), **settings),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.output.read_text()

    def until_open(self) -> "Up":
        eventually(lambda: "Ctrl-C stops it" in self.said() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said()
        return self

    def children(self) -> dict[str, psutil.Process]:
        """By name: valkey, web, worker, beat, and the worker's own, letters."""
        found = {}
        for process in psutil.Process(self.process.pid).children(recursive=True):
            words = process.cmdline()
            name = next((name for name in ("web", "worker", "beat") if name in words), "valkey")
            found[name if process.ppid() == self.process.pid else "letters"] = process
        return found

    def work(self) -> float:
        """Seconds of processor time that it and its children have taken so far: a busy machine changes nothing."""
        processes = [psutil.Process(self.process.pid), *self.children().values()]
        return sum(sum(process.cpu_times()[:2]) for process in processes)

    def get(self, path: str = "/", **headers: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS_SECONDS)
        try:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")
        finally:
            connection.close()

    def health(self) -> tuple[int, dict[str, Any]]:
        status, _, body = self.get("/healthz")
        return status, json.loads(body)

    def one_time_password(self) -> str | None:
        found = re.search(r"one-time password (\S+)", self.said())
        return found[1] if found else None

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(HANGS_SECONDS)


@contextmanager
def running(*words: str, folder: Path | None = None, **options: Any) -> Iterator[Up]:
    with tempfile.TemporaryDirectory(prefix="midnight-up-") as temporary:
        site = Up(folder or Path(temporary), *words, **options)
        try:
            yield site.until_open()
        finally:
            if site.process.poll() is None:
                site.end()
            sys.stdout.write(site.said())  # for whoever reads why a test failed
