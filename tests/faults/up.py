"""`manage.py up` as a site to be hurt: one command, SQLite, no proxy."""

import hashlib
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any

import psutil
import redis

from midnight import stack
from tests.faults.faults import WHEN_OVER, Fault
from tests.faults.journal import Journal
from tests.faults.player import Door
from tests.faults.proxy import Proxy
from tests.faults.site import HEALTH, Service, Site, eventually, page_status
from tests.midnight.running import ROOT, clean_environment, free_port


class Child:
    """One of the processes that `up` has started: whichever has this part now."""

    def __init__(self, up: Service, word: str) -> None:
        self.up, self.word = up, word

    def process(self) -> psutil.Process | None:
        for process in self.up.family()[1:]:
            with suppress(psutil.NoSuchProcess):
                if self.word in process.cmdline():
                    return process
        return None

    @property
    def process_id(self) -> int:
        process = self.process()
        return process.pid if process is not None else 0

    def kill(self) -> None:
        if (process := self.process()) is not None:
            process.kill()

    def memory(self) -> int:
        with suppress(psutil.NoSuchProcess):
            if (process := self.process()) is not None:
                return int(process.memory_info().rss) // 2**20
        return 0

    def lines(self) -> int:
        """All of them write into one log."""
        return self.up.lines()

    def tracebacks(self) -> int:
        return self.up.tracebacks()


class UpSite(Site):
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder / "journal")
        self.port = free_port()
        self.ours, self.webs = ("web", "worker", "beat"), ("web",)
        self.health = []
        self.lines = []
        self._mark = hashlib.sha256(str(folder / "var").encode()).hexdigest()[:12]
        self.database = folder / "var" / "midnight.sqlite3"
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(self.port)]

        def start(log: Any) -> subprocess.Popen[bytes]:
            process = stack.child(
                command, cwd=ROOT, env=self.environment("up"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            # We keep its log for it: with no room on its disk we still want to read what it says.
            threading.Thread(target=_keep, args=(process.stdout, folder / "up.log"), daemon=True).start()
            return process

        self.up = Service("up", folder / "up.log", start)
        self.services = {"up": self.up}
        self.children = {name: Child(self.up, name) for name in self.ours}

    def __getitem__(self, name: str) -> Any:
        return self.children.get(name) or self.services[name]

    def environment(self, host: str, **more: str) -> dict[str, str]:
        # All players come from this machine.
        return clean_environment(
            MIDNIGHT_VAR=str(self.folder / "var"),
            PYTHONUNBUFFERED="1",
            ADDRESS_SOCKETS="1000",
            REQUEST_RATE="1000",
            **more,
        )

    async def start(self) -> None:
        self.up.start()
        await eventually(self.answers)
        self.health = [path for path in HEALTH if await self.status("web", path) in (200, 503)]
        self.lines = [Proxy(("127.0.0.1", self.port)) for _ in range(2)]

    async def close(self) -> None:
        for line in self.lines:
            await line.close()
        await self.up.stop()
        self.journal.close()

    async def repair(self) -> None:
        limit_files(self, resource.RLIM_INFINITY)
        if not self.up.lives():
            self.up.start()

    def where(self) -> tuple[list[str], dict[str, str]]:
        return [], self.environment("up", DJANGO_SETTINGS_MODULE="midnight.settings")

    def sql(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database, timeout=60)) as connection:
            return connection.execute(question, values).fetchall()

    def _valkey(self) -> redis.Redis:
        address = Path(tempfile.gettempdir()) / f"midnight-{os.getuid()}-{self._mark}" / "valkey.sock"
        return redis.Redis(unix_socket_path=str(address))

    async def status(self, web: str, path: str) -> int:
        return await page_status(("127.0.0.1", self.port), f"localhost:{self.port}", path, secure=False)

    def door(self, number: int) -> Door:
        return Door(self.lines[number % 2].address, f"localhost:{self.port}", False, "127.0.0.1")


def _keep(said: IO[bytes], file: Path) -> None:
    with file.open("ab", buffering=0) as log, said:
        for line in said:
            log.write(line)


def limit_files(site: Site, most: int) -> None:
    """No process of the site makes a file longer than this, as where a disk is full."""
    for process in site["up"].family():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))


async def no_room(site: Site) -> None:
    limit_files(site, 0)


async def room(site: Site) -> None:
    limit_files(site, resource.RLIM_INFINITY)


async def kill_web(site: Site) -> None:
    site["web"].kill()


async def kill_up(site: Site) -> None:
    site["up"].kill()
    site["up"].start()


async def restart_up(site: Site) -> None:
    await site["up"].stop()
    site["up"].start()


FAULTS_OF_UP = [
    Fault("`up`: its web process killed", kill_web, WHEN_OVER),
    Fault("`up`: killed and started again", kill_up, WHEN_OVER),
    Fault("`up`: stopped gently and started again", restart_up, WHEN_OVER),
    Fault("`up`: no room on the disk 30 s", no_room, WHEN_OVER, room, 30),
]
