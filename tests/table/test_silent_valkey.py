"""The host of Valkey vanishes while people play: nothing answers, and nothing refuses."""

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from channels.db import database_sync_to_async

from games.doorbell import CHANNEL
from tests.browser.site import Site
from tests.settings import FOLDER, VALKEY
from tests.support.proxy import MutableProxy, proxy_to
from tests.table.conftest import NewMatch, database_address, eventually
from tests.table.racers import lost_or_doubled, racing
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

MOST_GROWTH_KB = 60_000
MOST_COMPLAINTS = 60


@pytest.fixture(scope="module")
def line() -> Iterator[MutableProxy]:
    with proxy_to(VALKEY) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def far_web(first_web: Site, line: MutableProxy) -> Iterator[Site]:
    """A web process whose Valkey is on another host."""
    site = Site(FOLDER, database_address(), f"redis://{line.address}/0")
    try:
        site.start()
        yield site
    finally:
        site.stop()
        site.socket.close()


def memory_kb(site: Site) -> int:
    assert site.process is not None
    status = Path(f"/proc/{site.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def complaints(site: Site) -> list[str]:
    return [line for line in site.log.read_text().splitlines() if re.match(r"[\d:]{8} (WARNING|ERROR) ", line)]


async def test_races_go_on_while_the_host_of_valkey_is_away(
    first_web: Site,
    far_web: Site,
    line: MutableProxy,
    new_match: NewMatch,
    valkey: redis.Redis,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
) -> None:
    async def all_ears() -> bool:
        return dict(valkey.pubsub_numsub(CHANNEL)) == {CHANNEL.encode(): 2}

    together, apart = await new_match(2, LONG), await new_match(2, LONG)
    near, far = await together.search(far_web), await apart.search(first_web, far_web)
    await eventually(all_ears)
    async with racing(near) as neighbours, racing(far) as strangers:
        await asyncio.sleep(2)
        before, known = memory_kb(far_web), len(complaints(far_web))
        line.mute()
        try:
            # In a long run, for longer than the kernel tries: 45 s.
            await asyncio.sleep(so_often(12, 75))
            after = memory_kb(far_web)
        finally:
            line.unmute()
        await eventually(all_ears, 60)
        for racer in (*neighbours, *strangers):
            await racer.hears_again()
            await racer.rest()
        await together.all_see_the_log(near, in_time(2.0))
        await apart.all_see_the_log(far, in_time(2.0))
    assert after - before < MOST_GROWTH_KB
    assert max(wait for racer in neighbours for wait in racer.waits) < in_time(0.5)
    for match, racers in ((together, neighbours), (apart, strangers)):
        wrong = await database_sync_to_async(lambda match=match, racers=racers: list(lost_or_doubled(match, racers)))()
        assert wrong == []
        assert await match.faults() == []
        assert all(racer.page.notices == [] and "unavailable" not in racer.refused for racer in racers)
    assert any("lost Valkey" in line for line in complaints(far_web)[known:])
    assert len(complaints(far_web)) - known <= MOST_COMPLAINTS
