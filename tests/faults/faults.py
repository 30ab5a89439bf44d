"""What may happen to a site: each fault says how it begins, how long it lasts, how it ends, and what it may cost."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from tests.faults.network import OUTSIDE
from tests.faults.site import HOSTS, WEBS, Site, eventually

Act = Callable[[Site], Awaitable[None]]


@dataclass(frozen=True)
class Aim:
    """How long a table may stand still: in all, or counted from the end of the fault."""

    name: str
    still: float | None = None
    after: float | None = None


# Another process is well and nothing keeps players from it.
ELSEWHERE = Aim("≤ 1 s", still=1)
# Nothing tells a host that is gone from one that is slow but time.
HOST_LOST = Aim("≤ 10 s", still=10)
# What every table needs is away: play goes on when it is back.
WHEN_OVER = Aim("≤ 5 s after", after=5)


@dataclass(frozen=True)
class Fault:
    name: str
    begin: Act
    aim: Aim
    end: Act | None = None
    seconds: float = 0
    # How long it lasts in the everyday run; None: it is left out there.
    short: float | None = None
    # It needs a disk that can be filled: only root makes one.
    fills_disk: bool = False

    def shortened(self) -> "Fault":
        return replace(self, seconds=self.short or 0)


def killed(*names: str) -> tuple[Act, Act]:
    """Ended without a word, and started again when the fault is over."""

    async def begin(site: Site) -> None:
        for name in names:
            site[name].kill()

    async def end(site: Site) -> None:
        for name in names:
            site[name].start()

    return begin, end


def frozen(*names: str) -> tuple[Act, Act]:
    async def begin(site: Site) -> None:
        for name in names:
            site[name].freeze()

    async def end(site: Site) -> None:
        for name in names:
            site[name].thaw()

    return begin, end


def parted(*pairs: tuple[str, str]) -> tuple[Act, Act]:
    """Between these hosts nothing arrives."""

    async def begin(site: Site) -> None:
        for pair in pairs:
            site.network.part(*pair)

    async def end(site: Site) -> None:
        for pair in pairs:
            site.network.join(*pair)

    return begin, end


def lost(host: str) -> tuple[Act, Act]:
    """The host has vanished: nothing from it, nothing to it."""
    return parted(*((host, other) for other in (*HOSTS, OUTSIDE) if other != host))


def repeated(act: Act, times: int, pause: float) -> Act:
    async def several(site: Site) -> None:
        for _ in range(times):
            await act(site)
            await asyncio.sleep(pause)

    return several


async def nothing(site: Site) -> None:
    """To compare with."""


async def restart_webs(site: Site) -> None:
    """As a deployment does it: one after the other, each asked to end, the next one when it answers again."""
    for web in WEBS:
        await restart_gently(web, site)
        await asyncio.sleep(2)


async def restart_gently(web: str, site: Site) -> None:
    await site[web].stop()
    site[web].start()
    await eventually(partial(site.status, web, "/healthz"))


async def kill_and_start(name: str, site: Site) -> None:
    site[name].kill()
    site[name].start()


async def restart_database(site: Site) -> None:
    await site["database"].stop()
    site["database"].start()


async def empty_valkey(site: Site) -> None:
    site.valkey("FLUSHALL")


async def cut_database_lines(site: Site) -> None:
    site.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_addr IS NOT NULL")


async def read_only(site: Site) -> None:
    site.sql("ALTER DATABASE postgres SET default_transaction_read_only = on")
    await cut_database_lines(site)


async def writable(site: Site) -> None:
    site.sql("ALTER DATABASE postgres RESET default_transaction_read_only")
    await cut_database_lines(site)


async def no_room(site: Site) -> None:
    await asyncio.to_thread(site.fill_disk)


async def room(site: Site) -> None:
    site.empty_disk()


def database_ahead(interval: str) -> Act:
    async def set_clock(site: Site) -> None:
        site.sql("UPDATE clock.ahead SET by = CAST(%s AS interval)", interval)

    return set_clock


async def half_of_the_players(site: Site) -> None:
    site.lines[0].mute()


async def all_of_the_players(site: Site) -> None:
    site.lines[0].heal()


async def beat_an_hour_ahead(site: Site) -> None:
    """Beat's clock is an hour ahead; started anew, since a running process cannot be given another clock."""
    await site["beat"].stop()
    site["beat-ahead"].start()


async def beat_is_right_again(site: Site) -> None:
    await site["beat-ahead"].stop()
    site["beat"].start()


def slow_lines(delay: float) -> Act:
    async def begin(site: Site) -> None:
        for line in site.lines:
            line.delay = delay

    return begin


def fault(name: str, acts: tuple[Act, Act], aim: Aim, seconds: float, short: float | None = None) -> Fault:
    return Fault(name, acts[0], aim, acts[1], seconds, short)


FAULTS = [
    Fault("none", nothing, ELSEWHERE, seconds=20),
    # Processes
    fault("web1 killed", killed("web1"), ELSEWHERE, 5, 1),
    fault("web2 killed", killed("web2"), ELSEWHERE, 5),
    fault("both web processes killed", killed(*WEBS), WHEN_OVER, 1),
    fault("web1 frozen 5 s", frozen("web1"), HOST_LOST, 5),
    fault("web1 frozen 30 s", frozen("web1"), HOST_LOST, 30),
    Fault("restarted gently, one after the other", restart_webs, ELSEWHERE),
    Fault("web2 restarted gently", partial(restart_gently, "web2"), ELSEWHERE, short=0),
    fault("worker and beat killed, 30 s", killed("worker", "beat"), ELSEWHERE, 30),
    fault("worker killed", killed("worker"), ELSEWHERE, 1, 0.5),
    # Valkey
    Fault("Valkey killed 5 times", repeated(partial(kill_and_start, "valkey"), 5, 3), ELSEWHERE),
    fault("Valkey away 30 s", killed("valkey"), ELSEWHERE, 30, 1),
    fault("Valkey frozen 30 s", frozen("valkey"), ELSEWHERE, 30, 2),
    Fault("Valkey emptied 3 times", repeated(empty_valkey, 3, 1), ELSEWHERE, short=0),
    fault("web1 parted from Valkey 70 s", parted(("web1", "valkey")), ELSEWHERE, 70),
    fault("Valkey's host lost 70 s", lost("valkey"), ELSEWHERE, 70),
    # PostgreSQL
    Fault("PostgreSQL restarted 3 times", repeated(restart_database, 3, 3), WHEN_OVER),
    Fault("PostgreSQL restarted", restart_database, WHEN_OVER, short=0),
    Fault("PostgreSQL killed 3 times", repeated(partial(kill_and_start, "database"), 3, 3), WHEN_OVER),
    fault("PostgreSQL away 20 s", killed("database"), WHEN_OVER, 20),
    fault("PostgreSQL frozen 10 s", frozen("database"), WHEN_OVER, 10),
    fault("PostgreSQL read-only 12 s", (read_only, writable), WHEN_OVER, 12),
    Fault("no room on PostgreSQL's disk 30 s", no_room, WHEN_OVER, room, 30, fills_disk=True),
    Fault("PostgreSQL's lines cut 5 times", repeated(cut_database_lines, 5, 2), ELSEWHERE),
    Fault("PostgreSQL's lines cut", cut_database_lines, WHEN_OVER, short=0),
    # Lines between hosts
    fault("web1 parted from the proxy 20 s", parted(("web1", "proxy")), HOST_LOST, 20),
    fault("web1's host lost 75 s", lost("web1"), HOST_LOST, 75),
    fault("web1 parted from PostgreSQL 20 s", parted(("web1", "database")), HOST_LOST, 20),
    fault("PostgreSQL's host lost 20 s", lost("database"), WHEN_OVER, 20),
    fault("half of the players' lines dead 30 s", (half_of_the_players, all_of_the_players), HOST_LOST, 30, 2),
    # Clocks
    fault("the database's clock an hour ahead", (database_ahead("1 hour"), database_ahead("0")), ELSEWHERE, 20),
    fault("the database's clock an hour behind", (database_ahead("-1 hour"), database_ahead("0")), ELSEWHERE, 20),
    fault("beat's clock an hour ahead 10 s", (beat_an_hour_ahead, beat_is_right_again), ELSEWHERE, 10),
]
