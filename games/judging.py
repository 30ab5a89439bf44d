"""Records from outside, judged and drawn in a process of their own: no race waits for them.

A web process has one judge (games/judge_worker.py), started when it is first needed. Questions wait in a short queue;
beyond it they are refused at once with `Busy`, as they are where one household asks for much at a time.
"""

import asyncio
import atexit
import contextlib
import json
import logging
import select
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from games import judge_worker
from games.judge_worker import CPU_SECONDS, WALL_SECONDS

logger = logging.getLogger(__name__)

MOST_WAITING = 8
MOST_OF_HOUSEHOLD = 2
# When to come again, where the queue is full: by then it has moved on.
RETRY_SECONDS = 5
# Longer than any child may take, and a start beside it.
PATIENCE_SECONDS = 2 * WALL_SECONDS

Kind = Literal["drawn", "faulty", "large", "costly"]


class Busy(Exception):
    """The queue is full: nothing was judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a record: `page` is its replay, ready to be shown, `faults` the first of `all_faults`."""

    kind: Kind
    page: str = ""
    faults: tuple[str, ...] = ()
    all_faults: int = 0


class Judge:
    """A web process's judge and the queue before it."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._line = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")
        self._waiting: Counter[str] = Counter()
        self._counting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    async def ask(self, document: bytes, language: str, household: str) -> Judged:
        """Judge a record and draw it; `Busy` where too many wait."""
        self._take_place(household)
        job = self._line.submit(self._ask, document, language)
        # A visitor who goes away leaves the place when the work is done, or when it is not begun.
        job.add_done_callback(lambda _: self._leave_place(household))
        return await asyncio.wrap_future(job)

    def close(self) -> None:
        """End the process; the next question starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            # What was not sent yet need not be.
            with contextlib.suppress(BrokenPipeError), process:
                pass

    def _take_place(self, household: str) -> None:
        with self._counting:
            if self._waiting.total() >= MOST_WAITING or self._waiting[household] >= MOST_OF_HOUSEHOLD:
                raise Busy
            self._waiting[household] += 1

    def _leave_place(self, household: str) -> None:
        with self._counting:
            self._waiting[household] -= 1
            # What has no place is not kept.
            self._waiting += Counter()

    def _ask(self, document: bytes, language: str) -> Judged:
        """One question, in the judge's thread. A process that has ended of itself gets a successor at once."""
        for _again in range(2):
            with contextlib.suppress(BrokenPipeError, EOFError):
                return self._answer_to(document, language)
            self.close()
        return Judged("costly")

    def _answer_to(self, document: bytes, language: str) -> Judged:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        head = json.dumps({"bytes": len(document), "language": language}).encode() + b"\n"
        process.stdin.write(head + document)
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_SECONDS)
        if not ready:
            logger.error("The judge did not answer in %d s", PATIENCE_SECONDS)
            self.close()
            return Judged("costly")
        line = process.stdout.readline()
        if not line:
            raise EOFError
        said = json.loads(line)
        page = process.stdout.read(said["bytes"]).decode()
        return Judged(said["is"], page, tuple(said.get("faults", ())), said.get("all", 0))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", judge_worker.__name__, str(self._cpu_seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=settings.BASE_DIR,
            )
        return self._process
