"""How a process does is read in one thread while another one counts."""

import threading
import time

from games.pulse import MOST_KEPT, Pulse


def test_moves_are_counted_on_while_the_slowest_of_them_is_looked_for() -> None:
    own, done = Pulse(), threading.Event()
    for _ in range(MOST_KEPT):
        own.moved(time.perf_counter())

    def go_on() -> None:
        while not done.is_set():
            own.moved(time.perf_counter())

    moving = threading.Thread(target=go_on)
    moving.start()
    try:
        for _ in range(150):
            assert own.read(people=3)["p99_ms"] is not None
    finally:
        done.set()
        moving.join()
    assert own.moves > MOST_KEPT
