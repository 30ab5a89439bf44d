"""The site's clock: each clock that it depends on is moved, and no game's time moves with it."""

from collections.abc import Callable

import pytest
from prometheus_client import REGISTRY

from games import clock, servers
from games.clock import Clock
from games.models import Server

pytestmark = pytest.mark.usefixtures("no_other_process")
HOUR_MS = 3_600_000
STEPS = [20_000, -20_000, HOUR_MS, -HOUR_MS]


class World:
    """The clocks around one process, each of which a test can move."""

    def __init__(self) -> None:
        self.monotonic = 1_000.0
        self.database = 1_800_000_000_000.0
        self.machine = 1_800_000_000.0
        self.answers_after = 0.002
        self.clock = Clock(lambda: self.monotonic, lambda: self.machine)
        self.clock.set(self.read)

    def read(self) -> int:
        answer = self.database
        self.pass_by(self.answers_after)
        return int(answer + self.answers_after * 500)

    def pass_by(self, seconds: float, database: float = 1.0) -> None:
        self.monotonic += seconds
        self.machine += seconds
        self.database += seconds * 1000 * database

    def beats(self, number: int, database: float = 1.0) -> None:
        for _ in range(number):
            self.pass_by(1.0, database)
            self.clock.follow(self.read)

    def passed(self, deed: Callable[[], None]) -> float:
        """By how much more the site's clock went on meanwhile than time did, in parts of that time."""
        clock_before, before = self.clock.now(), self.monotonic
        deed()
        real = (self.monotonic - before) * 1000
        return (self.clock.now() - clock_before - real) / real


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_the_database_moves_no_game(step: int, caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.beats(5)
    world.database += step
    assert abs(world.passed(lambda: world.beats(60))) <= 0.011
    assert world.clock.skew_ms == pytest.approx(-step, abs=700)
    assert REGISTRY.get_sample_value("midnight_clock_skew_seconds", {"clock": "database"}) == pytest.approx(
        -step / 1000, abs=0.7
    )
    # The step is told, and once that the two differ: not each second. With this machine's it is the same.
    assert len(caplog.records) == 3
    assert world.clock.wall() == pytest.approx(world.database, abs=10)


def test_a_clock_that_jumps_about_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    for turn in range(120):
        world.database += 5_000 if turn % 2 else -5_000
        world.beats(1)
    steps = [record for record in caplog.records if "between two answers" in record.getMessage()]
    assert 2 <= len(steps) <= 3


@pytest.mark.parametrize("step", STEPS)
def test_a_step_back_and_forth_leaves_nothing_behind(step: int) -> None:
    world = World()
    before = world.clock.now()
    for by in (step, -step):
        world.database += by
        world.beats(10)
    assert world.clock.skew_ms == pytest.approx(0, abs=250)
    assert world.clock.now() - before == pytest.approx(20_000, abs=300)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_this_machine_is_told_and_moves_nothing(step: int, caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    world.machine += step / 1000
    assert abs(world.passed(lambda: world.beats(60))) < 0.0005
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith("This machine's clock is ")
    assert REGISTRY.get_sample_value("midnight_clock_skew_seconds", {"clock": "machine"}) == pytest.approx(
        step / 1000, abs=0.1
    )


@pytest.mark.parametrize("seconds", [0.3, 10.0, 26.0])
def test_a_slow_answer_corrects_nothing(seconds: float) -> None:
    world = World()
    world.answers_after = seconds
    assert abs(world.passed(lambda: world.beats(3))) < 0.0001
    assert world.clock.published_skew_ms is None
    world.answers_after = 0.002
    assert abs(world.passed(lambda: world.beats(10))) < 0.0001
    assert world.clock.published_skew_ms == pytest.approx(0, abs=5)


@pytest.mark.parametrize(("rate", "follows"), [(1.005, 0.005), (0.995, -0.005), (1.05, 0.01), (0.5, -0.01)])
def test_a_database_that_runs_fast_or_slow_is_followed_by_one_percent_at_most(rate: float, follows: float) -> None:
    world = World()
    assert world.passed(lambda: world.beats(100, rate)) == pytest.approx(follows, abs=0.0005)


def test_a_database_whose_clock_stands_still_halts_nothing(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    assert abs(world.passed(lambda: world.beats(60, 0.0))) <= 0.011
    assert len([record for record in caplog.records if "ahead of" in record.getMessage()]) == 2


def test_small_differences_shrink_and_the_clock_never_falls() -> None:
    world = World()
    world.database -= 500
    before = world.clock.now()
    for _ in range(60):
        world.beats(1)
        assert world.clock.now() > before
        before = world.clock.now()
    assert world.clock.skew_ms == 0


@pytest.mark.parametrize("lost", [20.0, 3_600.0])
def test_a_process_that_was_frozen_catches_up_with_the_others(lost: float) -> None:
    world = World()
    # Its monotonic clock stood still, as in a machine that was halted from outside.
    world.database += lost * 1000
    world.machine += lost
    world.beats(1)
    assert world.clock.skew_ms == pytest.approx(-lost * 1000, abs=100)
    for _ in range(clock.BEHIND_TIMES):
        world.beats(1)
        world.clock.keep_up([0, -5])
    assert world.clock.skew_ms == pytest.approx(0, abs=20)


def test_what_others_published_before_a_step_moves_nothing() -> None:
    world = World()
    world.database += HOUR_MS
    for others in ([0], [0, -HOUR_MS], [-HOUR_MS], [], [-HOUR_MS], [-HOUR_MS]):
        world.beats(1)
        world.clock.keep_up(others)
    assert world.clock.skew_ms == pytest.approx(-HOUR_MS, abs=100)


def test_a_clock_behind_is_never_followed() -> None:
    world = World()
    for _ in range(10):
        world.beats(1)
        world.clock.keep_up([-HOUR_MS])
    assert world.clock.skew_ms == 0


# A process that starts.


def no_wait(_seconds: float) -> None:
    pytest.fail("It waits, although a process is heard of.")


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("skew", [0, *STEPS])
def test_a_process_that_starts_has_the_time_of_those_that_run(skew: int) -> None:
    now = clock.database_now()
    Server.objects.create(name="runs", seen=now, clock=now + skew, skew=skew)
    Server.objects.create(name="older", seen=now - 5 * HOUR_MS, clock=now - 5 * HOUR_MS, skew=7 * HOUR_MS)
    own = Clock()
    servers.begin(own, no_wait)
    assert own.now() == pytest.approx(clock.database_now() + skew, abs=1_000)
    assert clock.site_now() == pytest.approx(own.now(), abs=1_000)


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_starts_just_after_a_step_waits_for_who_knows(step: int) -> None:
    """The database's clock was set a moment ago, and the process that runs has not said so yet."""
    now = clock.database_now()
    peer = Server.objects.create(name="runs", seen=now - step, clock=now - step, skew=0)

    def wait(_seconds: float) -> None:
        now = clock.database_now()
        Server.objects.filter(pk=peer.pk).update(seen=now, clock=now - step, skew=-step)

    own = Clock()
    servers.begin(own, wait)
    assert own.now() == pytest.approx(clock.database_now() - step, abs=1_000)


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize(("skew", "goes_on"), [(-HOUR_MS, -HOUR_MS), (0, 0), (400 * 24 * HOUR_MS, 0)])
def test_a_site_that_starts_again_goes_on_with_its_time_unless_that_is_absurd(skew: int, goes_on: int) -> None:
    ago, waits = clock.database_now() - 600_000, list[float]()
    Server.objects.create(name="ended", seen=ago, clock=ago + skew, skew=skew)
    own = Clock()
    servers.begin(own, waits.append)
    assert sum(waits) == servers.LISTEN_SECONDS
    assert own.now() == pytest.approx(clock.database_now() + goes_on, abs=1_000)
