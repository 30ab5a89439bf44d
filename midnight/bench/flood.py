"""`bench flood`: what a race and the pages beside it feel of clients that send as much as they can.

The site with all of its limits, as `web` runs it. A hundred tables race at an easy pace, each from an address of its
own; meanwhile attackers without an account flood it, first all from one address, then each from another one.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from games.bench.aims import Aim
from midnight.bench import race
from midnight.bench.race import Load, Web

HELP = "sockets that send all they can, from one address and from many, beside a race"
AIMS = {
    "peace_p50_ms": Aim("in peace: due to the last player's page, median, in ms"),
    "peace_p99_ms": Aim("in peace: the same, p99"),
    "peace_page_ms": Aim("in peace: the slowest page, in ms"),
    "one_address_p50_ms": Aim("flooded from one address: median, in ms"),
    "one_address_p99_ms": Aim("flooded from one address: p99, in ms"),
    "one_address_times": Aim("flooded from one address: p99, against peace", most=3),
    "one_address_page_ms": Aim("flooded from one address: the slowest page, in ms", most=1_000),
    "many_addresses_p50_ms": Aim("flooded from many addresses: median, in ms"),
    "many_addresses_p99_ms": Aim("flooded from many addresses: p99, in ms"),
    "many_addresses_times": Aim("flooded from many addresses: p99, against peace", most=3),
    "many_addresses_page_ms": Aim("flooded from many addresses: the slowest page, in ms", most=1_000),
    "lost": Aim("commands without an answer", most=0),
    "resumed": Aim("races that were interrupted", most=0),
    "memory_times": Aim("memory after the floods, against before", most=1.1),
}
PAGES = ["/", "/healthz", "/history/"]
PAGE_EVERY_SECONDS = 0.5
# Pages of each visitor before anything is measured.
VISITS = 30

SITE = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("web", fd=int(sys.argv[1]))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", default="", help="an empty PostgreSQL database (a new SQLite file)")
    parser.add_argument("--seconds", type=float, default=60, help="how long each part is measured (60)")
    parser.add_argument("--rooms", type=int, default=100, help="tables that race (100)")
    parser.add_argument("--rate", type=float, default=1, help="commands a second of each player (1)")
    parser.add_argument("--attackers", type=int, default=20, help="sockets that flood (20)")


def run(options: Mapping[str, object]) -> dict[str, float]:
    return race.on_own_services("midnight.bench.flood", options, ["seconds", "rooms", "rate", "attackers"])


def players(rooms: int) -> list[dict[str, Any]]:
    """New games, each table's players at home at an address of their own."""
    made = race.games(rooms)
    for number, game in enumerate(made):
        game["host"] = f"127.1.{number // 250}.{number % 250 + 1}"
    return made


@contextmanager
def flooded(web: Web, hosts: Sequence[str]) -> Iterator[None]:
    """Beside attackers at these addresses."""
    plan = {"port": web.port, "path": "/ws/1/news/lobby", "hosts": hosts}
    with subprocess.Popen(
        [sys.executable, "-m", "midnight.bench.attackers"],
        cwd=race.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as attackers:
        assert attackers.stdin is not None
        assert attackers.stdout is not None
        attackers.stdin.write(json.dumps(plan) + "\n")
        attackers.stdin.flush()
        try:
            yield
        finally:
            attackers.stdin.close()
            sys.stderr.write(f"attackers: {attackers.stdout.read()}")


class Reader(threading.Thread):
    """Fetches pages beside the race, and times them."""

    def __init__(self, web: Web) -> None:
        super().__init__(daemon=True)
        self._web, self._over = web, threading.Event()
        self.milliseconds: list[float] = []

    def run(self) -> None:
        while not self._over.wait(PAGE_EVERY_SECONDS):
            for page in PAGES:
                began = time.perf_counter()
                connection = http.client.HTTPConnection("127.0.0.1", self._web.port, timeout=60)
                connection.request("GET", page)
                connection.getresponse().read()
                connection.close()
                self.milliseconds.append((time.perf_counter() - began) * 1000)

    def slowest(self) -> float:
        self._over.set()
        self.join()
        sys.stderr.write(f"pages: {len(self.milliseconds)}, median {statistics.median(self.milliseconds):.0f} ms\n")
        return round(max(self.milliseconds), 1)


def visited(web: Web, visitors: int) -> None:
    """As many visitors at once as there will be attackers: a process that was never busy grows with its first crowd."""

    def visit(number: int) -> None:
        for _ in range(VISITS):
            home = (f"127.4.0.{number + 1}", 0)
            connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60, source_address=home)
            connection.request("GET", PAGES[number % len(PAGES)])
            connection.getresponse().read()
            connection.close()

    with ThreadPoolExecutor(visitors) as pool:
        list(pool.map(visit, range(visitors)))


def raced(web: Web, load: Load) -> dict[str, Any]:
    made = players(load.rooms)
    reader = Reader(web)
    reader.start()
    figures = race.under_load(web, load, made) | {"page_ms": reader.slowest()}
    end_games()
    return figures


def end_games() -> None:
    """End the running games, so that the process may forget their tables."""
    from games import intervention
    from games.models import Game

    for game_id in Game.objects.filter(ended=None).values_list("pk", flat=True):
        intervention.void(game_id)


def memory_at_rest(web: Web) -> int:
    """What the process holds once it has dropped the tables of games that are over."""
    from games import tables

    time.sleep(tables.IDLE_SECONDS + 5)
    held = web.memory_bytes()
    sys.stderr.write(f"memory at rest: {held / 2**20:.0f} MiB\n")
    return held


def measure(folder: Path, seconds: float, rooms: int, rate: float, attackers: int) -> dict[str, float]:
    load = Load(rooms, rate, seconds)
    with race.running_site(folder, SITE) as web:
        # What is imported and compiled once is not the measurement's.
        raced(web, Load(rooms, rate, 2))
        visited(web, max(1, attackers))
        peace = raced(web, load)
        before = memory_at_rest(web)
        with flooded(web, ["127.2.0.1"] * attackers):
            one = raced(web, load)
        # Never more tables at once than in peace: what they take together is not the flood's.
        memory_at_rest(web)
        with flooded(web, [f"127.3.0.{number + 1}" for number in range(attackers)]):
            many = raced(web, load)
        after = memory_at_rest(web)
        resumed = interrupted()
    return {
        "peace_p50_ms": peace["p50_ms"],
        "peace_p99_ms": peace["p99_ms"],
        "peace_page_ms": peace["page_ms"],
        **_beside("one_address", one, peace),
        **_beside("many_addresses", many, peace),
        "lost": sum(part["lost"] for part in (peace, one, many)),
        "resumed": resumed,
        "memory_times": round(after / before, 2),
    }


def _beside(name: str, part: Mapping[str, Any], peace: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"{name}_p50_ms": part["p50_ms"],
        f"{name}_p99_ms": part["p99_ms"],
        f"{name}_times": round(part["p99_ms"] / peace["p99_ms"], 2),
        f"{name}_page_ms": part["page_ms"],
    }


def interrupted() -> int:
    """How many games the process went on with after a silence of its own."""
    from games.models import Event

    lines = Event.objects.filter(body__contains='"resumed"')
    return lines.values("game_id").distinct().count()


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(measure(Path(os.environ["MIDNIGHT_VAR"]), **json.loads(sys.argv[1]))))  # noqa: T201
