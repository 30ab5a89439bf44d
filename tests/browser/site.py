"""The site as it runs: static files collected, Daphne in a process of its own, on the tests' database and Valkey."""

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from midnight import stack
from tests.settings import STATIC_ROOT

# However busy the machine is: what has not come after so long hangs.
HANGS_SECONDS = 300
# Less would ask a slow process again and again without ever waiting for its answer.
ANSWER_SECONDS = 30
ROOT = Path(__file__).resolve().parent.parent.parent


class Site:
    """One running web process, to be stopped and started again by whoever tests a cut line."""

    def __init__(self, folder: Path, database: str, redis: str) -> None:
        self.log = folder / "web.log"
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        # By name: passkeys need one.
        self.url = f"http://localhost:{self.port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in {"DJANGO_SETTINGS_MODULE", "DEBUG"}},
            "MIDNIGHT_VAR": str(folder),
            "DATABASE_URL": database,
            "REDIS_URL": redis,
            "SITE_URL": self.url,
            "PYTHONUNBUFFERED": "1",
        }
        self.process: subprocess.Popen[bytes] | None = None

    def manage(self, *words: str) -> str:
        """What a management command prints; an AssertionError with its complaint if it fails."""
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", *words], env=self.environment, cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> None:
        """Serve, and return when the first page is there."""
        self.spawn()
        assert self.process is not None
        stack.wait_until(self.answers, self.process, "The web process", timeout=HANGS_SECONDS)

    def spawn(self) -> None:
        """Begin to serve; whoever connects before it is ready waits."""
        command = [sys.executable, ROOT / "manage.py", "web", "--fd", str(self.socket.fileno())]
        self.process = stack.child(
            command,
            env=self.environment,
            cwd=ROOT,
            pass_fds=[self.socket.fileno()],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        # We keep its log for it: a process that may write no more files must not fail of that.
        threading.Thread(target=self._keep_log, args=(self.process.stdout,), daemon=True).start()

    def _keep_log(self, said: IO[bytes]) -> None:
        with self.log.open("ab", buffering=0) as log, said:
            for line in said:
                log.write(line)

    def answers(self) -> bool:
        try:
            return bool(urllib.request.urlopen(self.url, timeout=ANSWER_SECONDS).status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """End it as a power cut would: it has no time for anything."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None:
            # Killed while it still tells its pages, it would have been a crash.
            stack.stop(self.process, patience=HANGS_SECONDS)
            self.process = None


@contextmanager
def running_site(folder: Path, database: str, redis: str) -> Iterator[Site]:
    """One while its tests run and no longer: it would take over the games of tests that know nothing of it."""
    site = Site(folder, database, redis)
    if not (STATIC_ROOT / "staticfiles.json").exists():
        site.manage("collectstatic", "--noinput", "--verbosity=0")
    try:
        site.start()
        yield site
    finally:
        site.stop()
        site.socket.close()
