"""Games in play for `bench race`: bots have played them for a while, in whosever seats."""

from collections.abc import Sequence

from accounts.models import User
from games import clock, log, opening, shares, steps
from games.bots.selfplay import SelfPlay, seated
from games.frames import Step
from games.models import Game, GameSecret, Server
from games.opening import NewSeat, Opened, open_game
from games.rules import terms
from games.rules.chance import SEED_BYTES
from games.rules.events import Event

EVENTS = 300
# The last sign of life of the process that kept these games was so long before now.
SILENT_MS = 10_000


class InPlay(SelfPlay):
    """One game up to a search after so many events; `lines` is its log, with an id for each command."""

    def __init__(self, opened: Opened) -> None:
        self.steps: list[Step] = []
        self.lines: list[log.Line] = []
        self._commands = 0
        agreed = opened.terms()
        super().__init__(agreed, seated(agreed, ["master"] * len(agreed.seats), "in play"))
        while len(self.log) < EVENTS or self.state.phase != "search":
            self.step()

    def happen(self, happened: Sequence[Event], at: int) -> None:
        seat, command_id = None, ""
        if len(self.played) > self._commands:
            self._commands = len(self.played)
            seat, command_id = self.played[-1].seat, f"kT3v9-{self._commands}"
        done = steps.steps_of(self.state, happened)
        self.steps += done
        self.lines += steps.lines_of(done, seat, command_id)
        super().happen(happened, at)


def games_in_play(number: int) -> list[int]:
    """So many games of two people and two bots, all of which went alike; the process that kept them is dead."""
    opened = [_opened() for _ in range(number)]
    made = InPlay(opened[0])
    now = clock.site_now()
    keeper = Server.objects.create(name="gone", seen=now - SILENT_MS).pk
    for one in opened:
        append = steps.append_of(
            one.game_id,
            made.steps,
            made.lines,
            now=now,
            started_ms=now - SILENT_MS - made.state.at,
            kept_by=keeper,
        )
        assert not log.write([append])
    return [one.game_id for one in opened]


def _opened() -> Opened:
    people = [User.objects.create_guest().pk for _ in range(2)]
    violet, scarlet, emerald, amber = terms.CHARACTERS
    seats = [NewSeat(violet, people[0]), NewSeat(scarlet, people[1])]
    game = open_game([*seats, NewSeat(emerald, strength="master"), NewSeat(amber, strength="master")])
    # The seed decides how it goes; nobody is to begin it before that is written.
    Game.objects.filter(pk=game.pk).update(wake_at=None)
    GameSecret.objects.filter(game=game).update(server_seed=bytes(SEED_BYTES))
    shares.seal(game.pk)
    Game.objects.filter(pk=game.pk).update(wake_at=None)
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    return opened
