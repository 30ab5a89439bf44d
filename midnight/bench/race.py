"""`bench race`: what a command of the search costs the web process, and how soon everybody sees it.

One web process (Daphne, as the site runs it), real sockets and sessions, real rules, every command on disk before it is
answered; the players are another process. Limits of hold, flood (of commands and of frames) and what a page leaves
unread between two beats (few rooms are told that much) are off, searches are as long as they may be.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.utils import timezone

from games.bench.aims import Aim
from midnight import stack
from midnight.bench import echo

HELP = "the search race over real sockets: what a command costs the web process and how soon everybody sees it"
AIMS = {
    "echo_cpu_us": Aim("a bare ASGI echo on the same server: CPU a command, in µs"),
    "cpu_us": Aim("closed loop: CPU of the web process a command, in µs", most=130),
    "commands_per_second": Aim("closed loop: accepted commands a second", least=6_000),
    "times_echo": Aim("closed loop: CPU a command against the bare echo's"),
    "open_commands_per_second": Aim("open loop: accepted commands a second"),
    "open_p50_ms": Aim("open loop: due to the last player's page, median, in ms"),
    "open_p99_ms": Aim("open loop: due to the last player's page, p99, in ms", most=50),
    "lost": Aim("commands without an answer", most=0),
    "rooms_apart": Aim("rooms whose pages do not agree at the end", most=0),
    "few_tables_cpu_us": Aim("ten tables: CPU a command beyond that of silence, in µs"),
    "many_tables_cpu_us": Aim("many tables, as many commands: the same, in µs"),
    # Alike but for what such a measurement errs by.
    "many_to_few": Aim("many tables against ten: CPU a command", most=1.15),
    "many_tables_quiet_share": Aim("many tables in silence, all pages open: share of a processor"),
    "idle_table_kib": Aim("memory of an idle table, in KiB", most=100),
    "played_table_kib": Aim("memory of a table after 300 events, in KiB", most=100),
    "durable": Aim("the database has on disk what it says it has", least=1),
}

ROOT = Path(__file__).resolve().parent.parent.parent
SEATS = 4


@dataclass(frozen=True)
class Load:
    """So many rooms of four; each player sends `rate` commands a second, or the next when the last was answered."""

    rooms: int
    rate: float
    seconds: float
    # Before that, so long nobody does anything: what pages and tables cost without commands is not the commands' cost.
    quiet: float = 0.0

    @property
    def warm_up(self) -> float:
        """Until everybody has begun."""
        return 2.0 + (1 / self.rate if self.rate else 0)


# All players of a bench come from one address.
UNLIMITED = dict.fromkeys(
    ("REQUEST_RATE", "ADDRESS_SOCKETS", "PROCESS_SOCKETS", "PROCESS_REQUESTS", "PROCESS_MEMORY_MB"), "1000000"
)


class Web:
    """A web process under load."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def running_web(program: str, folder: Path) -> Iterator[Web]:
    """`program` is Python that serves on the open socket whose number is its first argument."""
    listening = stack.listen("127.0.0.1", 0)
    port: int = listening.getsockname()[1]
    with (folder / "web.log").open("ab") as log:
        process = stack.child(
            [sys.executable, "-c", program, str(listening.fileno())],
            cwd=ROOT,
            env=os.environ | UNLIMITED | {"SITE_URL": f"http://localhost:{port}"},
            pass_fds=[listening.fileno()],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Web(process, port)
    finally:
        stack.stop(process)
        listening.close()


def games(rooms: int) -> list[dict[str, Any]]:
    """New games of four people each, with the addresses of their tables and their players' cookies."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from accounts.models import User
    from games.opening import NewSeat, open_game
    from games.rules import terms

    limits = terms.Limits(0, 60_000, 30 * 60_000, 45_000, 60_000, 1_000, events=1_000_000)
    made = []
    for _ in range(rooms):
        people = [User.objects.create_guest() for _ in range(SEATS)]
        game = open_game(
            [NewSeat(character, person.pk) for character, person in zip(terms.CHARACTERS, people, strict=True)],
            limits=limits,
        )
        cookies = []
        for person in people:
            session = SessionStore()
            session[SESSION_KEY] = str(person.pk)
            session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
            session[HASH_SESSION_KEY] = person.get_session_auth_hash()
            session.create()
            cookies.append(f"{settings.SESSION_COOKIE_NAME}={session.session_key}")
        made.append({"path": f"/ws/1/games/{game.code}", "cookies": cookies})
    return made


@contextmanager
def running_site(folder: Path, program: str = "") -> Iterator[Web]:
    """A web process of the site, without the games of an earlier one: it would look after those, too."""
    from games.models import Game

    Game.objects.update(ended=timezone.now(), wake_at=None)
    with running_web(program or SITE, folder) as web:
        yield web


def under_load(web: Web, load: Load, made: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the crowd saw, and what it cost the web process."""
    plan = {
        "port": web.port,
        "rate": load.rate,
        "seconds": load.seconds,
        "quiet": load.quiet,
        "warm_up": load.warm_up,
        "games": made,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "midnight.bench.crowd"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as crowd:
        assert crowd.stdin is not None
        assert crowd.stdout is not None
        crowd.stdin.write(json.dumps(plan).encode())
        crowd.stdin.close()
        quiet = _cpu_between_lines(web, crowd.stdout)
        cpu = _cpu_between_lines(web, crowd.stdout)
        figures = _line(crowd.stdout)
    accepted = figures["accepted"]
    # Of a moment of silence too short to be measured nothing is known.
    quiet = quiet / load.quiet if load.quiet else 0.0
    cpu -= quiet * figures["seconds"]
    answer = {
        "commands_per_second": round(accepted / figures["seconds"]),
        "cpu_us": round(cpu / accepted * 1e6, 1),
        "cpu_share": round(cpu / figures["seconds"], 2),
        "quiet_cpu_share": round(quiet, 3),
        **{name: figures[name] for name in ("p50_ms", "p99_ms", "refused", "lost", "rooms_apart")},
    }
    sys.stderr.write(f"{load}: {answer}\n")
    return answer


def idle_table_bytes(web: Web, number: int) -> float:
    """What a table costs that nobody looks at: the process finds these games begun by nobody, and keeps them."""
    from games.models import Game

    before = web.memory_bytes()
    games(number)
    waiting = Game.objects.filter(head=0)
    waiting.update(wake_at=0)
    end = time.monotonic() + 120
    while waiting.exists():
        if time.monotonic() > end:
            raise RuntimeError("The web process did not take up the games that nobody kept.")
        time.sleep(0.2)
    return (web.memory_bytes() - before) / number


def played_table_bytes(web: Web, number: int) -> float:
    """What a table costs in the middle of a game: the process takes these over, whose keeper is dead."""
    from midnight.bench.in_play import games_in_play

    _take_over(games_in_play(1))
    before = web.memory_bytes()
    _take_over(games_in_play(number))
    return (web.memory_bytes() - before) / number


def _take_over(game_ids: Sequence[int]) -> None:
    """Wait until all of these are kept by a process that lives."""
    from games.models import Game

    left = Game.objects.filter(pk__in=game_ids, kept_by__name="gone")
    end = time.monotonic() + 240
    while left.exists():
        if time.monotonic() > end:
            raise RuntimeError("The web process did not take over the games whose keeper is dead.")
        time.sleep(0.2)


def durable() -> bool:
    """Whether a commit is on disk before the database answers, as it is set up now."""
    from django.db import connection

    def setting(question: str) -> str:
        with connection.cursor() as cursor:
            cursor.execute(question)
            return str(cursor.fetchone()[0])

    if connection.vendor == "sqlite":
        # FULL and EXTRA.
        return int(setting("PRAGMA synchronous")) >= 2
    # All but `off` wait for this server's own disk.
    return setting("SHOW fsync") == "on" and setting("SHOW synchronous_commit") != "off"


def _cpu_between_lines(web: Web, stream: IO[bytes]) -> float:
    """The web process's CPU seconds between the next two lines."""
    _line(stream)
    begun = web.cpu_seconds()
    _line(stream)
    return web.cpu_seconds() - begun


def _line(stream: IO[bytes]) -> dict[str, Any]:
    line = stream.readline()
    if not line:
        raise RuntimeError("The players' process ended early.")
    answer: dict[str, Any] = json.loads(line)
    return answer


SITE = """
import sys, django
django.setup()
from games import allowance, consumers
from midnight.websocket import budget
allowance.MOST_COMMANDS = consumers.MOST_UNREAD_BYTES = 10**9
budget.LIMITS = budget.UNLIMITED
from django.core.management import call_command
call_command("web", fd=int(sys.argv[1]))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", default="", help="an empty PostgreSQL database (a new SQLite file)")
    parser.add_argument("--seconds", type=float, default=10, help="how long each part is measured (10)")
    parser.add_argument("--rooms", type=int, default=50, help="rooms in the closed loop (50)")
    parser.add_argument("--open-rooms", type=int, default=200, help="rooms in the open loop, 3 commands a second (200)")
    parser.add_argument("--many", type=int, default=1_000, help="tables at once, against ten (1000)")


def run(options: Mapping[str, object]) -> dict[str, float]:
    """Every part in a fresh web process, on services of its own."""
    return on_own_services("midnight.bench.race", options, ["seconds", "rooms", "open_rooms", "many"])


def on_own_services(module: str, options: Mapping[str, object], names: Sequence[str]) -> dict[str, float]:
    """What a module measures as a program, given these options, on an empty database and a Valkey of its own."""
    wanted = {name: options[name] for name in names}
    with tempfile.TemporaryDirectory(prefix="midnight-bench-") as name:
        folder = Path(name)
        redis = folder / "valkey.sock"
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "midnight.settings",
            "MIDNIGHT_VAR": name,
            "REDIS_URL": f"unix://{redis}",
            "DATABASE_URL": str(options["database"]) or f"sqlite:///{folder / 'race.sqlite3'}",
        }
        valkey = stack.start_valkey(redis)
        try:
            for words in (["manage.py", "migrate", "--verbosity", "0"], ["-m", module, json.dumps(wanted)]):
                done = subprocess.run(
                    [sys.executable, *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
                )
        finally:
            stack.stop(valkey)
        figures: dict[str, float] = json.loads(done.stdout)
        return figures


def measure(folder: Path, seconds: float, rooms: int, open_rooms: int, many: int) -> dict[str, float]:
    with running_web(echo.PROGRAM, folder) as web:
        names = [{"path": f"/{room}", "cookies": [""] * SEATS} for room in range(rooms)]
        bare = under_load(web, Load(rooms, 0, seconds), names)
    with running_site(folder) as web:
        closed = under_load(web, Load(rooms, 0, seconds), games(rooms))
    with running_site(folder) as web:
        opened = under_load(web, Load(open_rooms, 3, seconds), games(open_rooms))
    commands = 1_200
    with running_site(folder) as web:
        few = under_load(web, Load(10, commands / 10 / SEATS, seconds, quiet=seconds / 2), games(10))
    with running_site(folder) as web:
        tables = under_load(web, Load(many, commands / many / SEATS, seconds, quiet=seconds / 2), games(many))
    with running_site(folder) as web:
        under_load(web, Load(1, 1, 1), games(1))
        idle = idle_table_bytes(web, many)
    with running_site(folder) as web:
        under_load(web, Load(1, 1, 1), games(1))
        played = played_table_bytes(web, many)
    return {
        "echo_cpu_us": bare["cpu_us"],
        "cpu_us": closed["cpu_us"],
        "commands_per_second": closed["commands_per_second"],
        "times_echo": round(closed["cpu_us"] / bare["cpu_us"], 2),
        "open_commands_per_second": opened["commands_per_second"],
        "open_p50_ms": opened["p50_ms"],
        "open_p99_ms": opened["p99_ms"],
        "lost": sum(part["lost"] for part in (closed, opened, few, tables)),
        "rooms_apart": sum(part["rooms_apart"] for part in (closed, opened, few, tables)),
        "few_tables_cpu_us": few["cpu_us"],
        "many_tables_cpu_us": tables["cpu_us"],
        "many_to_few": round(tables["cpu_us"] / few["cpu_us"], 2),
        "many_tables_quiet_share": tables["quiet_cpu_share"],
        "idle_table_kib": round(idle / 1024, 1),
        "played_table_kib": round(played / 1024, 1),
        "durable": durable(),
    }


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(measure(Path(os.environ["MIDNIGHT_VAR"]), **json.loads(sys.argv[1]))))  # noqa: T201
