"""Which processes are alive, as one of them sees it by its own clock; and when it could not look after its games."""

import pytest

from games.servers import (
    BEATS,
    CALM_SECONDS,
    MOST_PATIENCE_MS,
    NOTHING_LOST,
    SILENT_MS,
    STUCK_MS,
    Loss,
    Peers,
    Sign,
)
from games.stalls import Stalls

OWN, OTHER, THIRD = 1, 2, 3
HOUR_MS = 3_600_000
NOON = 1_800_000_000_000


class Room:
    """Some processes that beat once a second, and what the first of them finds about the others."""

    def __init__(self) -> None:
        self.monotonic = 50.0
        self.database_off = 0
        self.peers = Peers(lambda: self.monotonic)
        self.rows = dict.fromkeys((OWN, OTHER, THIRD), self._sign(0))
        self.look()

    @property
    def now(self) -> int:
        return NOON + int(self.monotonic * 1000)

    def _sign(self, server: int, still_ms: int = 0) -> Sign:
        seen = self.now + self.database_off
        return Sign(server, seen, self.now, -self.database_off, seen - still_ms)

    def beat(self, *who: int, still_ms: int = 0) -> None:
        self.rows |= {server: self._sign(server, still_ms) for server in who}

    def look(self) -> list[int]:
        found = [sign._replace(server=server) for server, sign in self.rows.items()]
        return self.peers.look(OWN, found, [], self.now)

    def seconds(self, number: float, *who: int) -> None:
        """So long these beat and the first one looks."""
        for _ in range(int(number)):
            self.monotonic += 1.0
            self.beat(*who)
            self.look()

    def gone(self) -> set[int]:
        return {OTHER, THIRD} - set(self.peers.alive())


def test_a_silent_process_is_gone_and_the_others_are_alive() -> None:
    room = Room()
    room.seconds(10, OWN, OTHER, THIRD)
    assert room.gone() == set()
    last = room.now
    room.seconds(2, OWN, THIRD)
    assert room.gone() == set()
    room.seconds(1, OWN, THIRD)
    assert room.gone() == {OTHER}
    room.monotonic += 0.7
    assert room.peers.loss(OTHER, room.now) == Loss(room.now - last, stalled=False)
    assert room.peers.loss(THIRD, room.now) == room.peers.loss(None, room.now) == NOTHING_LOST


@pytest.mark.parametrize("step", [20_000, -20_000, HOUR_MS, -HOUR_MS])
def test_a_step_of_the_database_is_no_silence_and_hides_none(step: int) -> None:
    room = Room()
    room.seconds(5, OWN, OTHER, THIRD)
    room.database_off = step
    for _ in range(5):
        room.seconds(1, OWN, THIRD) if room.gone() else room.seconds(1, OWN, OTHER, THIRD)
        assert room.gone() == set()
    # One that dies with the old time is found out as soon as any other.
    room.database_off = 0
    room.seconds(3, OWN, THIRD)
    assert room.gone() == {OTHER}
    assert room.peers.loss(OTHER, room.now).ms == 3_000


def test_a_database_whose_clock_stands_still_is_no_silence() -> None:
    room = Room()
    for _ in range(10):
        room.database_off -= 1_000
        room.seconds(1, OWN, OTHER, THIRD)
    assert room.gone() == set()


@pytest.mark.parametrize("seconds", [3, 10, 60])
def test_a_process_that_could_not_hear_declares_none_gone(seconds: int) -> None:
    room = Room()
    room.seconds(3, OWN, OTHER, THIRD)
    # Either it stood still itself, or no beat was stored in that time.
    room.monotonic += seconds
    room.beat(OWN)
    room.look()
    assert room.gone() == set()
    # All have been heard of by the time of its next beats.
    room.seconds(5, OWN, OTHER, THIRD)
    assert room.gone() == set()


def test_an_old_look_says_nothing_of_others() -> None:
    room = Room()
    room.seconds(10, OWN, THIRD)
    assert room.peers.loss(OTHER, room.now).ms == 10_000
    room.monotonic += SILENT_MS / 1000 + 0.1
    assert room.peers.loss(OTHER, room.now) == NOTHING_LOST


def test_while_nothing_is_stored_no_process_is_gone() -> None:
    room = Room()
    room.seconds(3, OWN, OTHER, THIRD)
    room.seconds(60)
    assert room.gone() == set()
    room.seconds(BEATS, OWN, THIRD)
    assert room.gone() == {OTHER}


def test_a_flapping_process_is_given_more_patience_each_time() -> None:
    room = Room()
    found = []
    for _ in range(6):
        silent = 0
        while OTHER not in room.gone():
            room.seconds(1, OWN, THIRD)
            silent += 1
        found.append(silent)
        room.seconds(5, OWN, OTHER, THIRD)
        assert room.gone() == set()
    most = MOST_PATIENCE_MS // 1000 + 1
    assert found == [3, 5, 9, most, most, most]
    room.seconds(CALM_SECONDS + 1, OWN, OTHER, THIRD)
    room.seconds(3, OWN, THIRD)
    assert room.gone() == {OTHER}


def test_a_process_whose_loop_stands_still_is_busy_first_and_then_stuck() -> None:
    room = Room()
    for still_ms in (SILENT_MS + 1, STUCK_MS):
        room.monotonic += 1.0
        room.beat(OWN, THIRD)
        room.beat(OTHER, still_ms=still_ms)
        room.look()
        assert room.gone() == set()
    room.monotonic += 1.0
    room.beat(OWN, THIRD)
    room.beat(OTHER, still_ms=STUCK_MS + 1_000)
    room.look()
    assert room.gone() == {OTHER}
    assert room.peers.loss(OTHER, room.now) == Loss(STUCK_MS + 1_000, stalled=True)


@pytest.mark.parametrize("ago", [60_000, -60_000])
def test_one_that_was_silent_when_this_process_began_is_gone_at_once(ago: int) -> None:
    """A sign of life of the future is none."""
    room = Room()
    peers, old = Peers(lambda: room.monotonic), room.now - ago
    peers.look(OWN, [Sign(OWN, room.now, room.now, 0, None), Sign(OTHER, old, old, 0, None)], [THIRD], room.now)
    assert peers.alive() == [OWN]
    assert peers.loss(OTHER, room.now) == Loss(60_000 if ago > 0 else room.now, stalled=False)
    assert peers.loss(THIRD, room.now) == Loss(room.now, stalled=False)


def test_only_skews_heard_of_anew_are_passed_on() -> None:
    room = Room()
    room.database_off = 7
    room.monotonic += 1.0
    room.beat(OTHER)
    assert room.look() == [-7]
    assert room.look() == []


# The stalls of this process.


class Own:
    def __init__(self) -> None:
        self.monotonic = 10.0
        self.stalls = Stalls(lambda: self.monotonic)

    def go_on(self, seconds: float, *, turns: bool = True, stores: bool = True) -> None:
        for _ in range(int(seconds * 4)):
            self.monotonic += 0.25
            if turns:
                self.stalls.turned()
            if stores:
                self.stalls.stored()


def test_a_process_that_turns_and_stores_loses_nothing() -> None:
    own = Own()
    own.go_on(60)
    assert (own.stalls.count, own.stalls.lost_ms(0)) == (0, 0)


@pytest.mark.parametrize(("turns", "stores"), [(False, True), (True, False), (False, False)])
def test_a_loop_that_stands_still_or_a_database_that_takes_nothing_is_a_stall(turns: bool, stores: bool) -> None:
    own = Own()
    own.go_on(5)
    own.go_on(2, turns=turns, stores=stores)
    assert own.stalls.lost_ms(0) == 0
    own.go_on(8, turns=turns, stores=stores)
    # It goes on, and then it is over.
    assert own.stalls.lost_ms(0) == 10_000
    own.go_on(5)
    assert own.stalls.lost_ms(0) == pytest.approx(10_250, abs=1)
    assert own.stalls.count == 2 - (turns or stores)


def test_of_a_stall_a_game_lost_only_what_came_after_its_last_event() -> None:
    own = Own()
    own.go_on(5)
    began = own.monotonic
    own.monotonic += 10
    own.go_on(5)
    assert own.stalls.lost_ms(began + 4) == 6_250
    assert own.stalls.lost_ms(began + 9) == 0
    assert own.stalls.lost_ms(own.monotonic) == 0
