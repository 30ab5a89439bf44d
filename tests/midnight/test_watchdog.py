"""A process whose loop stands still ends; its supervisor hears how it does."""

import errno
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midnight import watchdog
from midnight.watchdog import NoticeSocket
from tests.midnight.running import HANGS_SECONDS, ROOT

FEEDING = """
import asyncio, re, sys, time
from midnight import watchdog

async def main():
    feeding = asyncio.create_task(watchdog.keep_feeding())
    await asyncio.sleep(0.1)
    print("turns", flush=True)
    {then}

watchdog.start()
watchdog.feed.__defaults__ = (2,)
asyncio.run(main())
"""


def ends(then: str) -> tuple[int, str]:
    """How a process ends whose loop does that, and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", FEEDING.format(then=then)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
    )
    return done.returncode, done.stderr


def test_a_loop_that_waits_for_ever_ends_its_process_with_a_traceback() -> None:
    code, said = ends("time.sleep(10**6)")
    assert code == -signal.SIGALRM
    assert "in main" in said


def test_a_loop_that_holds_the_interpreter_ends_its_process_too() -> None:
    code, said = ends("re.match('(a|a)*b', 'a' * 100)")
    assert code == -signal.SIGALRM
    assert "in main" in said


def test_a_loop_that_turns_lives_on() -> None:
    code, _ = ends("await asyncio.sleep(4)")
    assert code == 0


def test_a_stop_that_waits_for_ever_ends_all_the_same() -> None:
    code, _ = ends("feeding.cancel(); watchdog.end_soon(1); await asyncio.sleep(10**6)")
    assert code == -signal.SIGALRM


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NoticeSocket]:
    line = NoticeSocket(tmp_path / "line")
    monkeypatch.setenv(watchdog.VARIABLE, str(line.path))
    yield line
    line.close()


def test_a_supervisor_hears_each_word_once(line: NoticeSocket) -> None:
    for word in (watchdog.READY, watchdog.TURNS, watchdog.TURNS):
        watchdog.notify(word)
    assert line.heard() == {watchdog.READY, watchdog.TURNS}
    assert line.heard() == set()


def test_a_supervisor_that_does_not_listen_holds_nobody_up(line: NoticeSocket) -> None:
    for _ in range(10_000):
        watchdog.notify(watchdog.TURNS)
    line.close()
    watchdog.notify(watchdog.TURNS)


def test_a_process_without_a_descriptor_goes_on(line: NoticeSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "socket", none_left)
    watchdog.notify(watchdog.TURNS)
