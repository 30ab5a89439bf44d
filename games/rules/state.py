"""A game at one moment. A state is the fold of its events over `blank(terms)`, and nothing else.

States are named tuples because every event makes a new one: `_replace` copies them in well under a microsecond.
"""

from typing import Literal, NamedTuple

from . import chance
from .edition import Art, Card, Loot, Place
from .terms import Terms

Phase = Literal["setup", "gathering", "countdown", "search", "exchange", "over"]
Lies = Literal["down", "up", "hand", "board"]
Face = Literal["up", "down"]
Reason = Literal["bag_opened_empty", "bag_empty", "deck_short", "abandoned", "void"]
VoidBy = Literal["rules", "staff", "server"]


class Tile(NamedTuple):
    place: Place
    loot: Loot


class Offer(NamedTuple):
    """What a market in play still sells: a sold art slot is None, a sold card slot is empty (R5.2)."""

    face: str
    art: tuple[Art | None, ...]
    cards: tuple[tuple[str, ...], ...]


class Held(NamedTuple):
    """A card that a player has, and how many of its slots are filled; a unique piece has none (R6)."""

    card: Card
    filled: int = 0


class Player(NamedTuple):
    """One seat's side of the table.

    `board` has the stashed tiles in the order of stashing, `stashed_at` the `seq` of each one's event (R8.4).
    `let_go` are the tiles that the clock took from this hand in this search (R8.3). `final` is a pass that ends this
    player's trading in this phase (R6.6). `acted` tells of an event of this player's own in this round, `missed`
    counts the rounds in a row before it that had none; `left_at` is when this player abandoned (R8.8). `readies` counts
    how often this player pressed *ready* in this round (R8.12).
    """

    ready: bool = False
    hand: int | None = None
    lifted_at: int = 0
    board: tuple[int, ...] = ()
    stashed_at: tuple[int, ...] = ()
    let_go: frozenset[int] = frozenset()
    token: int | None = None
    final: bool = False
    art: tuple[Art, ...] = ()
    cards: tuple[Held, ...] = ()
    acted: bool = False
    missed: int = 0
    left_at: int | None = None
    readies: int = 0


class Exchange(NamedTuple):
    """Where an exchange phase stands (R5.1); between two of them, the last one.

    `order` is the seats by their tokens, `turn` counts into it and is None when nobody's turn is left, `tour` counts
    from 1, `traded` tells of a trade in this tour, `short` of a leather bag opened over an empty bag of art (R5.3).
    """

    order: tuple[int, ...] = ()
    tour: int = 0
    turn: int | None = None
    traded: bool = False
    short: bool = False


class State(NamedTuple):
    """The whole game, secrets included: never to be shown. `sight` says what may be.

    `tiles` (their spots count from 0) stay the same all round, `lies` says where each one is. `bag` and `deck` are in
    the order in which they will be drawn. `limit` is when the clock ends the phase, or the turn in an exchange;
    `resumes_at` is the end of the countdown that follows a fault in a search (R8.10).
    """

    terms: Terms
    bag: tuple[Art, ...]
    deck: tuple[str, ...]
    players: tuple[Player, ...]
    seq: int = 0
    at: int = 0
    phase: Phase = "setup"
    round: int = 0
    limit: int = 0
    resumes_at: int = 0
    tiles: tuple[Tile, ...] = ()
    lies: tuple[Lies, ...] = ()
    offers: tuple[Offer, ...] = ()
    exchange: Exchange = Exchange()
    leavers: tuple[int, ...] = ()
    reason: Reason | None = None

    def with_player(self, seat: int, player: Player) -> tuple[Player, ...]:
        """All players, with this one in place of who sat there."""
        return (*self.players[:seat], player, *self.players[seat + 1 :])

    def with_lie(self, tile: int, lies: Lies) -> tuple[Lies, ...]:
        """Where all tiles are, with this one moved."""
        return (*self.lies[:tile], lies, *self.lies[tile + 1 :])

    def staying(self) -> list[int]:
        """The seats that have not abandoned the game."""
        return [seat for seat, player in enumerate(self.players) if player.left_at is None]

    def in_turn(self) -> int | None:
        """The seat whose turn it is in the exchange."""
        if self.phase != "exchange" or self.exchange.turn is None:
            return None
        return self.exchange.order[self.exchange.turn]


def blank(terms: Terms) -> State:
    """The game before its first event: the bag and the deck are shuffled, the table is empty."""
    return State(
        terms=terms,
        bag=tuple(chance.shuffle(terms.seed, "bag", terms.edition.art_tokens)),
        deck=tuple(chance.shuffle(terms.seed, "deck", [card.id for card in terms.edition.cards])),
        players=tuple(Player() for _ in terms.seats),
    )
