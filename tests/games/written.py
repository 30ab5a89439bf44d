"""Games that play themselves into their own log: whoever sits there chooses as a bot would."""

from collections.abc import Sequence

from games import clock, log, opening, shares, steps
from games.bots.selfplay import SelfPlay, seated
from games.models import Game
from games.rules.events import Event


class Written(SelfPlay):
    """A game whose every event is written to its log, at its own time, as it happens."""

    def __init__(self, game: Game) -> None:
        shares.seal(game.pk)
        opened = opening.find_by_id(game.pk)
        assert opened is not None
        self.game, self.opened, self.started_ms = game, opened, clock.database_now()
        terms = opened.terms()
        super().__init__(terms, seated(terms, ["apprentice"] * len(terms.seats), game.code))

    def happen(self, happened: Sequence[Event], at: int) -> None:
        before = self.state
        super().happen(happened, at)
        if happened:
            done = steps.steps_of(before, happened)
            lines, now = steps.lines_of(done), self.started_ms + at
            append = steps.append_of(self.game.pk, done, lines, now=now, started_ms=self.started_ms, kept_by=None)
            assert not log.write([append])
