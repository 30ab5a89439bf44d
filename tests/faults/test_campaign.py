"""Whatever fails, people play on: one fault after the other, while people play, on a site of several processes.

`pytest tests/faults --long` runs all of them and writes midnight/FAULTS.md; the everyday run has some of each kind.
"""

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.faults import report
from tests.faults.campaign import Campaign, Evening, Outcome
from tests.faults.faults import FAULTS, WHEN_OVER, Fault, kill_and_start, nothing
from tests.faults.network import Loopback, Namespaces, may_make_namespaces
from tests.faults.site import HOSTS, OURS, Site
from tests.faults.up import FAULTS_OF_UP, UpSite

pytestmark = pytest.mark.slow

# In the long run: how many play at each table, and how long they play before and after each fault.
TABLES = [4, 4, 4, 2]
SETTLED_SECONDS = 5
# Which processes the kills hit, the web processes most.
VICTIMS = (*OURS, "web1", "web2", "database", "valkey")
KILLS_BETWEEN_LOOKS = 25


@asynccontextmanager
async def running_site(*, dropped_packets: bool) -> AsyncIterator[Site]:
    """A site of its own; with `dropped_packets` on network namespaces, where this process may make them."""
    with tempfile.TemporaryDirectory(prefix="midnight-faults-") as folder:
        spaces = dropped_packets and may_make_namespaces()
        site = Site(Path(folder), Namespaces(HOSTS) if spaces else Loopback(HOSTS))
        try:
            await site.start()
            yield site
        finally:
            await site.close()


Choose = Callable[[Sequence[Fault]], list[Fault]]


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> Choose:
    """Of these faults those that `--faults` names: all whose names have one of its words in them."""
    words = str(request.config.getoption("faults")).split(",")
    return lambda faults: [fault for fault in faults if any(word in fault.name for word in words)]


@pytest.mark.not_long
async def test_people_play_on_through_common_faults(chosen: Choose) -> None:
    """What has to hold after each, and nothing of what it may cost: this machine may be busy with other tests."""
    broken: list[str] = []
    async with running_site(dropped_packets=False) as site:
        campaign = Campaign(site)
        await campaign.sit_down([4, 2])
        for fault in chosen([fault.shortened() for fault in FAULTS if fault.short is not None]):
            outcome = await campaign.suffer(fault, settled=0.5)
            broken += [f"{fault.name}: {wrong}" for wrong in outcome.wrong]
        broken += await campaign.verified()
        await campaign.get_up()
    assert not broken, "\n".join(broken)


@pytest.mark.only_long
async def test_no_fault_costs_more_than_we_promise(chosen: Choose) -> None:
    async with running_site(dropped_packets=True) as site:
        evening = Evening(site)
        possible = [fault for fault in FAULTS if site.has_small_disk or not fault.fills_disk]
        broken = await suffer(site, chosen(possible))
        broken += await evening.end()
    assert not broken, "\n".join(broken)


@pytest.mark.only_long
async def test_up_plays_on_by_itself(chosen: Choose, tmp_path: Path) -> None:
    site = UpSite(tmp_path)
    try:
        await site.start()
        broken = await suffer(site, chosen(FAULTS_OF_UP))
    finally:
        await site.close()
    assert not broken, "\n".join(broken)


async def suffer(site: Site, faults: Sequence[Fault]) -> list[str]:
    """Each of these at new tables; what it cost goes into the table. The answer is what was wrong, or too dear."""
    outcomes: list[Outcome] = []
    for fault in faults:
        outcomes.append(await suffer_one(site, fault))
        report.write(outcomes)
    return [f"{outcome.fault.name}: {wrong}" for outcome in outcomes for wrong in outcome.wrong + outcome.missed()]


async def suffer_one(site: Site, fault: Fault) -> Outcome:
    campaign = Campaign(site)
    try:
        await campaign.sit_down(TABLES)
        outcome = await campaign.suffer(fault, SETTLED_SECONDS, patient=True)
        outcome.wrong += await campaign.verified()
        await campaign.get_up()
    except Exception as error:
        # What broke is one line of the table: the other faults are still to come.
        await site.repair()
        await campaign.abandon()
        return Outcome(fault, wrong=[f"the run broke off: {error!r}"])
    return outcome


@pytest.mark.only_long
async def test_of_a_thousand_kills_none_loses_a_move(request: pytest.FixtureRequest) -> None:
    """Any process at any moment, `--kills` times; each is started again at once."""
    chance, kills = random.Random(7), request.config.getoption("kills")
    broken: list[str] = []
    async with running_site(dropped_packets=False) as site:
        for done in range(0, kills, KILLS_BETWEEN_LOOKS):
            campaign = Campaign(site)
            await campaign.sit_down([4, 2])
            for _ in range(min(KILLS_BETWEEN_LOOKS, kills - done)):
                await asyncio.sleep(chance.uniform(0, 2))
                await kill_and_start(chance.choice(VICTIMS), site)
            outcome = await campaign.suffer(Fault("kills", nothing, WHEN_OVER))
            broken += [*outcome.wrong, *await campaign.verified()]
            await campaign.get_up()
    assert not broken, "\n".join(broken)
