"""How much a household may send, and how long it is kept out."""

from functools import partial

import pytest

from midnight.websocket import budget
from midnight.websocket.budget import Budget, ExceededError, Households, Limits, Rate

HOME, AWAY = "198.51.100.7", "203.0.113.9"
LIMITS = Limits(line=Rate(10, 20), household=Rate(100, 200), per_handshake=10, kept_out_seconds=60)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(budget, "monotonic", made)
    return made


def opened(households: Households, name: str | None = HOME) -> Budget:
    return households.budget(name, lambda: None)


def frames_taken(one: Budget, most: int = 10_000) -> int:
    """How many small frames this socket may send at once."""
    for number in range(most):
        try:
            one.frame(0)
        except ExceededError:
            return number
    return most


def test_a_socket_has_a_burst_and_then_its_rate(clock: Clock) -> None:
    one = opened(Households(LIMITS))
    assert frames_taken(one) == 20
    clock.now += 1
    assert frames_taken(one) == 10


def test_play_is_far_below_the_limits(clock: Clock) -> None:
    """20 commands a second at each seat of a household of twelve, with beats and pongs, for ten minutes."""
    households = Households(budget.LIMITS)
    seats = [opened(households) for _ in range(12)]
    for tick in range(20 * 600):
        clock.now += 0.05
        for seat in seats:
            for _ in range(2 if tick % 50 == 0 else 1):
                seat.read()
                seat.frame(100)
    assert not households.kept_out()


def test_who_floods_is_kept_out_and_comes_back(clock: Clock) -> None:
    households = Households(LIMITS)
    assert not households.knock(HOME)
    frames_taken(opened(households))
    assert households.knock(HOME) == 60
    assert not households.knock(AWAY)
    assert households.kept_out() == 1
    clock.now += 60
    assert not households.knock(HOME)
    assert not households.kept_out()


def test_each_further_flood_keeps_out_twice_as_long(clock: Clock) -> None:
    households = Households(LIMITS)
    for seconds in [60, 120, 240, 480, 960, 960]:
        frames_taken(opened(households))
        assert households.knock(HOME) == seconds
        clock.now += seconds
    clock.now += 3_600
    frames_taken(opened(households))
    assert households.knock(HOME) == 60


def test_other_sockets_of_the_same_flood_add_nothing(clock: Clock) -> None:
    households = Households(LIMITS)
    several = [opened(households) for _ in range(5)]
    for one in several:
        frames_taken(one)
    assert households.knock(HOME) == 60


def test_many_sockets_share_one_limit(clock: Clock) -> None:
    households = Households(Limits(line=Rate(0, 20), household=Rate(0, 50)))
    cut: list[int] = []
    several = [households.budget(HOME, partial(cut.append, number)) for number in range(4)]
    for one, frames in zip(several, [10, 19, 10, 15], strict=True):
        for _ in range(frames):
            one.frame(0)
    assert cut == [1]
    assert not households.kept_out()


def test_reconnecting_wins_nothing(clock: Clock) -> None:
    households = Households(LIMITS)
    let_in = 0
    while not households.knock(HOME):
        let_in += 1
    assert let_in == 20
    assert households.knock(HOME) >= 1
    clock.now += 1
    assert not households.knock(HOME)


def test_unknown_addresses_are_never_kept_out(clock: Clock) -> None:
    households = Households(LIMITS)
    frames_taken(opened(households, None))
    assert not households.knock(None)
    assert not households.kept_out()


def test_households_are_forgotten_with_what_they_did(clock: Clock) -> None:
    households = Households(LIMITS)
    open_one, bad = opened(households, "198.51.100.1"), opened(households, "198.51.100.2")
    frames_taken(bad)
    bad.close()
    for number in range(100):
        assert not households.knock(f"203.0.113.{number}")
    clock.now += 100
    households.knock(HOME)
    assert households.known() == 3
    clock.now += 3_601
    open_one.close()
    households.knock(AWAY)
    assert households.known() == 1


def test_more_households_than_can_be_remembered_are_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST_HOUSEHOLDS", 3)
    households = Households(LIMITS)
    assert not any(households.knock(f"203.0.113.{number}") for number in range(10))
    assert households.known() == 3
    assert frames_taken(opened(households, "203.0.113.9")) == 20
