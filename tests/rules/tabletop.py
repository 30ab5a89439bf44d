"""A game under test: commands by their names, time that is moved by hand, and the hidden things in plain view."""

from collections.abc import Sequence
from typing import TypeVar

from games import rules
from games.rules import Refused, State, commands, events
from games.rules.commands import Command
from games.rules.edition import Art, Loot, load_edition
from games.rules.errors import Code
from games.rules.events import Event
from games.rules.state import Face, Held, Lies, Tile
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, Kind, Limits, Pace, Rulebook, Seat, Terms

E = TypeVar("E")

ALICE, BOB, CHARLIE, DORA = range(4)


def agree(
    players: int = 2,
    rulebook: Rulebook = "fr",
    pace: Pace = "live",
    seed: int = 0,
    faces: tuple[str, ...] = (),
    ranked: bool = False,
    limits: Limits | None = None,
    kind: Kind = "human",
) -> Terms:
    return Terms(
        rulebook=rulebook,
        pace=pace,
        ranked=ranked,
        limits=limits or DEFAULT_LIMITS[pace],
        edition=load_edition(),
        seats=tuple(Seat(kind, CHARACTERS[seat], bytes([seat]) * 16) for seat in range(players)),
        server_seed=seed.to_bytes(32, "big"),
        faces=faces,
    )


class Table:
    """One game; whatever is asked of it happens at `at`, and the clock has acted by then."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.log: list[Event] = list(rules.setup(terms))
        self.state: State = rules.replay(terms, self.log)
        self.at = 0

    def do(self, seat: int, command: Command) -> tuple[Event, ...]:
        """The command counts: what happened, without what the clock did before."""
        self.wait(0)
        return self.happen(rules.decide(self.state, seat, command, self.at))

    def refused(self, seat: int, command: Command) -> Code:
        """The command does not count: why not."""
        self.wait(0)
        try:
            happened = rules.decide(self.state, seat, command, self.at)
        except Refused as refusal:
            return refusal.code
        raise AssertionError(f"not refused: {happened}")

    def wait(self, ms: int) -> tuple[Event, ...]:
        """Time goes on: what the clock did at the end of it."""
        self.at += ms
        return self.happen(rules.tick(self.state, self.at))

    def wait_for_the_clock(self) -> tuple[Event, ...]:
        due = rules.wake_at(self.state)
        assert due is not None
        return self.wait(due - self.at)

    def happen(self, happened: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in happened:
            assert event.seq == len(self.log) + 1
            self.state = rules.apply(self.state, event)
            self.log.append(event)
        return happened

    # Shortcuts

    def search(self) -> "Table":
        """Everybody is ready and the countdown is over."""
        for seat in self.state.staying():
            if self.state.phase == "gathering" and not self.state.players[seat].ready:
                self.do(seat, commands.Ready(True))
        self.wait_for_the_clock()
        assert self.state.phase == "search"
        return self

    def lift(self, seat: int, tile: int) -> tuple[Event, ...]:
        return self.do(seat, commands.Lift(tile))

    def stash(self, seat: int, tile: int) -> tuple[Event, ...]:
        """From the hand, once it has turned over."""
        self.wait(self.terms.limits.hold_ms)
        return self.do(seat, commands.Stash(tile))

    def put_back(self, seat: int, tile: int, face: Face = "down") -> tuple[Event, ...]:
        if self.state.players[seat].hand == tile:
            self.wait(self.terms.limits.hold_ms)
        return self.do(seat, commands.Return(tile, face))

    def take(self, seat: int, *loot: Loot) -> list[int]:
        """Lifts and stashes such tiles, the keys that they need included in the asking."""
        taken = []
        for one in loot:
            tile = self.find(one, seat)
            self.lift(seat, tile)
            self.stash(seat, tile)
            taken.append(tile)
        return taken

    def find(self, loot: Loot, seat: int = ALICE) -> int:
        """A spot where such a tile lies face down and this seat may lift it."""
        for command in rules.legal(self.state, seat, self.at):
            if isinstance(command, commands.Lift) and self.state.tiles[command.tile].loot == loot:
                return command.tile
        raise AssertionError(f"{loot} cannot be lifted")

    def tile_of(self, place: str, loot: str | None = None) -> int:
        """A spot where a tile of this place lies, whoever may lift it."""
        for spot, tile in enumerate(self.state.tiles):
            if tile.place == place and loot in (None, tile.loot) and self.state.lies[spot] in ("down", "up"):
                return spot
        raise AssertionError(f"no {loot} lies in the {place}")

    def give(self, seat: int, art: Sequence[Art] = (), cards: Sequence[str] = (), loot: Sequence[Loot] = ()) -> None:
        """Puts things before a player that no event put there; the log does not tell this state any more."""
        player = self.state.players[seat]
        for one in loot:
            spot = next(
                spot
                for spot, tile in enumerate(self.state.tiles)
                if tile.loot == one and self.state.lies[spot] == "down"
            )
            self.state = self.state._replace(lies=self.state.with_lie(spot, "board"))
            player = player._replace(board=(*player.board, spot), stashed_at=(*player.stashed_at, self.state.seq))
        player = player._replace(
            art=(*player.art, *art),
            cards=player.cards + tuple(Held(self.terms.edition.card[name]) for name in cards),
        )
        self.state = self.state._replace(players=self.state.with_player(seat, player))

    def exchange(self, *boards: Sequence[Loot]) -> "Table":
        """The exchange, with these boards, in the order of the seats; art and cards were given before."""
        self.search()
        for seat, board in enumerate(boards):
            self.give(seat, loot=board)
        for token in range(1, len(self.state.players)):
            escaped = events.Escaped(self.state.seq + 1, self.at, token - 1, token, "player")
            self._happen_silently(escaped)
        self._happen_silently(events.Escaped(self.state.seq + 1, self.at, len(boards) - 1, len(boards), "last"))
        order = tuple(range(len(boards)))
        self._happen_silently(events.ExchangeStarted(self.state.seq + 1, self.at, order))
        return self

    def _happen_silently(self, event: Event) -> None:
        self.state = rules.apply(self.state, event)
        self.log.append(event)

    def tile(self, spot: int) -> Tile:
        return self.state.tiles[spot]

    def lies(self, spot: int) -> Lies:
        return self.state.lies[spot]

    def board(self, seat: int, loot: Loot) -> int:
        """The spot of such a tile on this board."""
        return next(tile for tile in self.state.players[seat].board if self.state.tiles[tile].loot == loot)


def only(happened: Sequence[Event], kind: type[E]) -> E:
    """The one event of this kind among these."""
    (found,) = [event for event in happened if isinstance(event, kind)]
    return found


def kinds(happened: Sequence[Event]) -> list[str]:
    return [event.type for event in happened]
