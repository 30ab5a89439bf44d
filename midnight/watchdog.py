"""A watchdog: a process whose loop stands still ends, and its supervisor starts another one.

`feed` is called by a process's own loop. It winds up an alarm clock of the kernel's, which needs neither the
interpreter nor its lock: unless it is wound up again in time, the process prints the tracebacks of its threads and
dies of SIGALRM. While the machine sleeps that clock stands still too.

The supervisor hears the same by the words of systemd's Type=notify (sd_notify(3)), so it also ends a process that is
frozen: systemd by WatchdogSec, `manage.py up` by `NoticeSocket`. Containers have the alarm clock alone.
"""

import asyncio
import faulthandler
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

# For how long the event loop of a web process may stand still.
STILL_SECONDS = 10
# A worker's main thread and beat also wait for Valkey.
WAITING_SECONDS = 60
FEED_SECONDS = 1.0
# How long a process may take to end once it was asked to.
STOP_SECONDS = 9

VARIABLE = "NOTIFY_SOCKET"
READY, STOPPING, TURNS = "READY=1", "STOPPING=1", "WATCHDOG=1"


_watched = False


def start() -> None:
    """Watch this process from now on; an alarm prints where every thread is before it ends the process."""
    global _watched
    _watched = True
    faulthandler.register(signal.SIGALRM, all_threads=True, chain=True)


def feed(seconds: int = STILL_SECONDS) -> None:
    """Say that this process turns: if it is watched, it ends unless this is called again within so many seconds."""
    if _watched:
        signal.alarm(seconds)
        notify(TURNS)


async def keep_feeding() -> None:
    """Feed for as long as the event loop turns, until this is cancelled."""
    while True:
        feed()
        await asyncio.sleep(FEED_SECONDS)


def end_soon(seconds: int = STOP_SECONDS) -> None:
    """Tell the supervisor that this process stops, and end it after so many seconds at most. Stop feeding before."""
    notify(STOPPING)
    signal.alarm(seconds)


def notify(word: str) -> None:
    """Tell the supervisor, where there is one that listens."""
    address = os.environ.get(VARIABLE, "")
    if not address:
        return
    # It may be gone or not read, or this process may have no descriptor left: nothing that could be mended here.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.setblocking(False)
        # An @ stands for the zero byte with which an abstract address begins.
        line.sendto(word.encode(), f"\0{address[1:]}" if address[0] == "@" else address)


class NoticeSocket:
    """A supervisor's end of the line: what one process says of itself. Its path goes into the process's VARIABLE."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        path.unlink(missing_ok=True)
        self._socket.bind(str(path))

    def heard(self) -> set[str]:
        """The words that came since this was called last."""
        words: set[str] = set()
        while True:
            try:
                words.update(self._socket.recv(1024).decode(errors="replace").splitlines())
            except BlockingIOError:
                return words

    def close(self) -> None:
        self._socket.close()
        self.path.unlink(missing_ok=True)
