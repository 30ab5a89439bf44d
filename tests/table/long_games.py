"""Games with a long log: two players who lift a tile and put it back, as often as a test wants."""

from channels.db import database_sync_to_async

from games import clock, log, opening, rules, shares, steps
from games.frames import Step
from games.rules.commands import Command, Lift, Ready, Return
from tests.table.conftest import Match


class LongGame:
    """A game of two in its search; what is `done` is in its log after `write`, and nobody keeps it."""

    def __init__(self, game_id: int) -> None:
        shares.seal(game_id)
        opened = opening.find_by_id(game_id)
        assert opened is not None
        self.game_id, self._started_ms = game_id, clock.database_now()
        self.done: list[Step] = []
        self.lines: list[log.Line] = []
        self._written = 0
        self._happen(steps.first_steps(opened))
        for seat in range(2):
            self._play(seat, Ready(on=True))
        due = rules.wake_at(self.after)
        assert due is not None
        self._happen(steps.clock_steps(self.after, due, stalled=False))
        self._tiles = [spot for spot, tile in enumerate(self.after.tiles) if tile.place == "garage"]

    @property
    def after(self) -> rules.State:
        return self.done[-1].after

    def play_on(self, events: int) -> None:
        """Until there are so many events, or a few more."""
        while len(self.done) < events:
            for seat in range(2):
                self._play(seat, Lift(self._tiles[seat]))
            for seat in range(2):
                self._play(seat, Return(self._tiles[seat], "up"))

    def write(self) -> None:
        lines, now = self.lines[self._written :], self._started_ms + self.after.at
        done = self.done[self._written :]
        append = steps.append_of(self.game_id, done, lines, now=now, started_ms=self._started_ms, kept_by=None)
        assert not log.write([append])
        self._written = len(self.lines)

    def _play(self, seat: int, command: Command) -> None:
        events = rules.decide(self.after, seat, command, self.after.at)
        self._happen(steps.steps_of(self.after, events), seat, f"long{seat}-{len(self.done)}")

    def _happen(self, done: list[Step], seat: int | None = None, command_id: str = "") -> None:
        self.done += done
        self.lines += steps.lines_of(done, seat, command_id)


async def long_game(match: Match, events: int) -> LongGame:
    """Such a game of so many events, in the log of this match."""

    def write() -> LongGame:
        game = LongGame(match.game.pk)
        game.play_on(events)
        game.write()
        return game

    return await database_sync_to_async(write)()


async def goes_on(game: LongGame, events: int) -> None:
    """So many more events are written somewhere, and nobody rings."""

    def write() -> None:
        game.play_on(len(game.done) + events)
        game.write()

    await database_sync_to_async(write)()
