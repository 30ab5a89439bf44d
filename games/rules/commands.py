"""What a player may ask for, and the words that ask for it."""

from collections.abc import Callable
from dataclasses import dataclass

from .documents import Misread, choice, items, member, members, text, truth, whole
from .edition import ART, ART_TOKENS, SLOTS, TILES, Art
from .errors import Malformed
from .state import Face

MOST_SLOTS = ART_TOKENS  # no market has more slots than there is art
_MOST_NAME = 40


@dataclass(frozen=True, slots=True)
class Ready:
    """Says that the search may start, or takes it back (R8.7)."""

    on: bool


@dataclass(frozen=True, slots=True)
class Lift:
    """Takes a tile from among the others into the hand and looks at it (R3.1)."""

    tile: int


@dataclass(frozen=True, slots=True)
class Stash:
    """Puts the tile from the hand on the identity board (R3.2)."""

    tile: int


@dataclass(frozen=True, slots=True)
class Return:
    """Puts a tile back among the others, from the hand or from the board, wherever it is (R3.2, R3.5)."""

    tile: int
    face: Face


@dataclass(frozen=True, slots=True)
class Escape:
    """Takes the lowest escape token (R4.1)."""


@dataclass(frozen=True, slots=True)
class Buy:
    """Pays a market with tiles and takes what is in one art slot or in one card slot; the other is None (R5.2).

    A price has no order: `pay` is always in ascending order, however it was written.
    """

    market: int
    pay: tuple[int, ...]
    art: int | None = None
    cards: int | None = None

    def __post_init__(self) -> None:
        if (self.art is None) == (self.cards is None):
            raise ValueError("one slot is bought: of art or of cards")
        object.__setattr__(self, "pay", tuple(sorted(self.pay)))


@dataclass(frozen=True, slots=True)
class OpenBag:
    """Puts a leather bag back for one art token from the bag of art (R5.3)."""

    tile: int


@dataclass(frozen=True, slots=True)
class Place:
    """Puts art from the identity board on the next slot of a collection (R6.3)."""

    art: Art
    card: str


@dataclass(frozen=True, slots=True)
class Pass:
    """Does without a trade in this tour (R5.4)."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Leaves the game for good (R8.8)."""


Command = Ready | Lift | Stash | Return | Escape | Buy | OpenBag | Place | Pass | Leave

# The words that a page may say in "do"; each reads the fields that go with it.
Fields = dict[str, object]
WORDS: dict[str, tuple[frozenset[str], Callable[[Fields], Command]]] = {
    "ready": (frozenset({"on"}), lambda said: Ready(truth(said["on"], '"on"'))),
    "lift": (frozenset({"tile"}), lambda said: Lift(_tile(said["tile"]))),
    "stash": (frozenset({"tile"}), lambda said: Stash(_tile(said["tile"]))),
    "return": (frozenset({"tile", "face"}), lambda said: Return(_tile(said["tile"]), _face(said["face"]))),
    "escape": (frozenset(), lambda _: Escape()),
    "buy": (frozenset({"market", "pay", "art", "cards"}), lambda said: _buy(said)),
    "open_bag": (frozenset({"tile"}), lambda said: OpenBag(_tile(said["tile"]))),
    "place": (frozenset({"art", "card"}), lambda said: Place(choice(said["art"], '"art"', ART), _card(said["card"]))),
    "pass": (frozenset(), lambda _: Pass()),
    "leave": (frozenset(), lambda _: Leave()),
}


def read(data: object) -> Command:
    """The command that parsed JSON such as `{"do": "lift", "tile": 17}` asks for, or `Malformed`.

    Only the fields of that word may stand in it: whoever sends more than a command takes the rest out first.
    """
    try:
        said = members(data, "a command")
        word = choice(member(said, "do", "a command"), '"do"', WORDS)
        fields, reader = WORDS[word]
        for name in said.keys() - fields - {"do"}:
            raise Misread("unknown_name", f'"{word}" has no field {name[:_MOST_NAME]!r}')
        if word != "buy":
            for name in fields:
                member(said, name, f'"{word}"')
        return reader(said)
    except Misread as wrong:
        raise Malformed(str(wrong)) from None


def write(command: Command) -> dict[str, object]:
    """The words that ask for this command: `read(write(command)) == command`."""
    match command:
        case Ready(on):
            return {"do": "ready", "on": on}
        case Lift(tile):
            return {"do": "lift", "tile": tile}
        case Stash(tile):
            return {"do": "stash", "tile": tile}
        case Return(tile, face):
            return {"do": "return", "tile": tile, "face": face}
        case Escape():
            return {"do": "escape"}
        case Buy(market, pay, art, None):
            return {"do": "buy", "market": market, "art": art, "pay": list(pay)}
        case Buy(market, pay, _, cards):
            return {"do": "buy", "market": market, "cards": cards, "pay": list(pay)}
        case OpenBag(tile):
            return {"do": "open_bag", "tile": tile}
        case Place(art_kind, card):
            return {"do": "place", "art": art_kind, "card": card}
        case Pass():
            return {"do": "pass"}
        case Leave():
            return {"do": "leave"}


def _tile(value: object) -> int:
    return whole(value, "a tile", 0, len(TILES) - 1)


def _face(value: object) -> Face:
    faces: tuple[Face, ...] = ("up", "down")
    return choice(value, '"face"', faces)


def _card(value: object) -> str:
    return text(value, '"card"', _MOST_NAME)


def _buy(said: Fields) -> Buy:
    tiles = items(member(said, "pay", '"buy"'), '"pay"')
    if not 1 <= len(tiles) <= SLOTS:
        raise Misread("out_of_range", f'"pay" has {len(tiles)} tiles, it must be 1 to {SLOTS}')
    pay = [_tile(tile) for tile in tiles]
    if len(set(pay)) < len(pay):
        raise Misread("tile_twice", '"pay" names a tile twice')
    if ("art" in said) == ("cards" in said):
        raise Misread("one_slot", '"buy" needs either "art" or "cards"')
    slot = "art" if "art" in said else "cards"
    index = whole(said[slot], f'"{slot}"', 0, MOST_SLOTS - 1)
    market = whole(member(said, "market", '"buy"'), '"market"', 0, 3)
    return Buy(market, tuple(pay), **{slot: index})
