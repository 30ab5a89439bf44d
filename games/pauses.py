"""Games whose table broke off here. Nobody has to ask for them: each is taken up again after a pause, a longer one each
time, so that a game that cannot be mended costs little."""

from collections.abc import Callable
from dataclasses import dataclass

FIRST_SECONDS = 2.0
MOST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float
    end: float


class Pauses:
    """Of each game that broke off lately the pause that it gets, by a clock that never falls."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pauses: dict[int, Pause] = {}

    def begin(self, game_id: int) -> None:
        """It has broken off, perhaps again; what held for long enough begins with a short pause."""
        now = self._now()
        self._pauses = {one: pause for one, pause in self._pauses.items() if now < pause.end + MOST_SECONDS}
        before = self._pauses.get(game_id)
        seconds = FIRST_SECONDS if before is None else min(2 * before.seconds, MOST_SECONDS)
        self._pauses[game_id] = Pause(seconds, now + seconds)

    def hold(self, game_id: int) -> bool:
        """Whether this game is still to be left alone."""
        pause = self._pauses.get(game_id)
        return pause is not None and self._now() < pause.end
