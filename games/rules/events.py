"""What happened, one value for each type of event of the record, and their JSON both ways.

`read` is strict about every field it knows and leaves names alone that it does not; it knows nothing of the game's
state, so an event that was read is well formed, not necessarily legal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from .documents import Misread, choice, items, member, members, text, truth, whole
from .edition import ART, ART_TOKENS, CARDS, LOOT, PLACES, SLOTS, TILES, Art
from .state import Face, Offer, Reason, Tile, VoidBy

ReturnedBy = Literal["player", "clock", "end"]
EscapedBy = Literal["player", "last", "clock", "abandoned"]
PassedBy = Literal["player", "auto", "clock", "abandoned"]
AbandonedBy = Literal["player", "clock", "staff"]
Source = Literal["hand", "board"]

FACES: tuple[Face, ...] = ("up", "down")
SOURCES: tuple[Source, ...] = ("hand", "board")
RETURNED_BY: tuple[ReturnedBy, ...] = ("player", "clock", "end")
ESCAPED_BY: tuple[EscapedBy, ...] = ("player", "last", "clock", "abandoned")
PASSED_BY: tuple[PassedBy, ...] = ("player", "auto", "clock", "abandoned")
ABANDONED_BY: tuple[AbandonedBy, ...] = ("player", "clock", "staff")
REASONS: tuple[Reason, ...] = ("bag_opened_empty", "bag_empty", "deck_short", "abandoned", "void")
VOID_BY: tuple[VoidBy, ...] = ("rules", "staff", "server")

MOST = 10**15 - 1  # the largest number that a record may hold
_MOST_TEXT = 40


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """All 54 tiles are laid out, every slot is full; `bag` and `deck` are how many are left in them (R2, R7.1)."""

    type: ClassVar[str] = "round_started"
    seq: int
    at: int
    round: int
    tiles: tuple[Tile, ...]
    markets: tuple[Offer, ...]
    bag: int
    deck: int


@dataclass(frozen=True, slots=True)
class Ready:
    """`on` is false where the player went away or took it back (R8.7)."""

    type: ClassVar[str] = "ready"
    seq: int
    at: int
    seat: int
    on: bool


@dataclass(frozen=True, slots=True)
class CountdownStarted:
    """All are ready, or their time is over (R8.7)."""

    type: ClassVar[str] = "countdown_started"
    seq: int
    at: int


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """The limit of the search counts from here (R8.4)."""

    type: ClassVar[str] = "search_started"
    seq: int
    at: int


@dataclass(frozen=True, slots=True)
class Lifted:
    """(R3.1)"""

    type: ClassVar[str] = "lifted"
    seq: int
    at: int
    seat: int
    tile: int


@dataclass(frozen=True, slots=True)
class Stashed:
    """The tile in the hand went on the board (R3.2)."""

    type: ClassVar[str] = "stashed"
    seq: int
    at: int
    seat: int
    tile: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A tile went back to its own spot: by the player, by the clock (R8.3), or because the search ended (R4.2)."""

    type: ClassVar[str] = "returned"
    seq: int
    at: int
    seat: int
    tile: int
    face: Face
    source: Source
    by: ReturnedBy


@dataclass(frozen=True, slots=True)
class Escaped:
    """Somebody has an escape token (R4.1, R4.2, R8.4, R8.8)."""

    type: ClassVar[str] = "escaped"
    seq: int
    at: int
    seat: int
    token: int
    by: EscapedBy


@dataclass(frozen=True, slots=True)
class ExchangeStarted:
    """`order` is the seats by their tokens (R5)."""

    type: ClassVar[str] = "exchange_started"
    seq: int
    at: int
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bought:
    """`got` is one kind of art, or the ids of all cards in the slot (R5.2); the slot of the other sort is None."""

    type: ClassVar[str] = "bought"
    seq: int
    at: int
    seat: int
    market: int
    art: int | None
    cards: int | None
    paid: tuple[int, ...]
    got: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BagOpened:
    """`got` is None where the bag of art was empty (R5.3)."""

    type: ClassVar[str] = "bag_opened"
    seq: int
    at: int
    seat: int
    tile: int
    got: Art | None


@dataclass(frozen=True, slots=True)
class Placed:
    """`worth` is the card's from now on (R6.3)."""

    type: ClassVar[str] = "placed"
    seq: int
    at: int
    seat: int
    art: Art
    card: str
    worth: int


@dataclass(frozen=True, slots=True)
class Passed:
    """(R5.4, R6.6, R8.6, R8.8)"""

    type: ClassVar[str] = "passed"
    seq: int
    at: int
    seat: int
    by: PassedBy


@dataclass(frozen=True, slots=True)
class Abandoned:
    """(R8.8)"""

    type: ClassVar[str] = "abandoned"
    seq: int
    at: int
    seat: int
    by: AbandonedBy


@dataclass(frozen=True, slots=True)
class Resumed:
    """A server looks after the game again, after `lost_ms` in which none did (R8.10).

    `stalled`: it is the server that had the game before, which lived and stood still.
    """

    type: ClassVar[str] = "resumed"
    seq: int
    at: int
    lost_ms: int
    stalled: bool = False


@dataclass(frozen=True, slots=True)
class GameEnded:
    """(R7.2, R8.8, R8.10a); `by` is there for void games only."""

    type: ClassVar[str] = "game_ended"
    seq: int
    at: int
    reason: Reason
    by: VoidBy | None = None


Event = (
    RoundStarted
    | Ready
    | CountdownStarted
    | SearchStarted
    | Lifted
    | Stashed
    | Returned
    | Escaped
    | ExchangeStarted
    | Bought
    | BagOpened
    | Placed
    | Passed
    | Abandoned
    | Resumed
    | GameEnded
)


def write(event: Event) -> dict[str, object]:
    """The event as the record has it: `read(write(event)) == event`."""
    said: dict[str, object] = {"seq": event.seq, "at": event.at, "type": event.type}
    match event:
        case Lifted() | Stashed():
            said |= {"seat": event.seat, "tile": event.tile}
        case Returned():
            said |= {
                "seat": event.seat,
                "tile": event.tile,
                "face": event.face,
                "source": event.source,
                "by": event.by,
            }
        case Passed() | Abandoned():
            said |= {"seat": event.seat, "by": event.by}
        case Placed():
            said |= {"seat": event.seat, "art": event.art, "card": event.card, "worth": event.worth}
        case Bought():
            slot = {"cards": event.cards} if event.art is None else {"art": event.art}
            said |= {"seat": event.seat, "market": event.market}
            said |= slot
            said |= {"paid": list(event.paid), "got": list(event.got)}
        case BagOpened():
            said |= {"seat": event.seat, "tile": event.tile, "got": event.got}
        case Escaped():
            said |= {"seat": event.seat, "token": event.token, "by": event.by}
        case Ready():
            said |= {"seat": event.seat, "on": event.on}
        case RoundStarted():
            said |= {
                "round": event.round,
                "tiles": [list(tile) for tile in event.tiles],
                "markets": [
                    {"face": offer.face, "art": list(offer.art), "cards": [list(slot) for slot in offer.cards]}
                    for offer in event.markets
                ],
                "bag": event.bag,
                "deck": event.deck,
            }
        case ExchangeStarted():
            said |= {"order": list(event.order)}
        case Resumed():
            said |= {"lost_ms": event.lost_ms}
            if event.stalled:
                said |= {"stalled": True}
        case GameEnded():
            said |= {"reason": event.reason}
            if event.by is not None:
                said |= {"by": event.by}
        case CountdownStarted() | SearchStarted():
            pass
    return said


def read(data: object) -> Event:
    """The event that parsed JSON says, or `Misread`."""
    said = _Fields(members(data, "an event"))
    kind = said.values.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        choice(kind, "the type of an event", _READERS)
        raise AssertionError("a known type has a reader")
    return reader(said, said.number("seq", 1, MOST), said.number("at", 0, MOST))


class _Fields:
    """The fields of one event, each read strictly."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def number(self, name: str, least: int, most: int) -> int:
        value = self.values.get(name)
        if type(value) is int and least <= value <= most:
            return value
        return whole(self.field(name), f'"{name}"', least, most)

    def field(self, name: str) -> object:
        return member(self.values, name, "the event")

    def seat(self) -> int:
        return self.number("seat", 0, 3)

    def tile(self) -> int:
        return self.number("tile", 0, len(TILES) - 1)

    def list(self, name: str, most: int) -> list[object]:
        found = items(self.field(name), f'"{name}"')
        if len(found) > most:
            raise Misread("out_of_range", f'"{name}" has {len(found)} entries, it may have {most}')
        return found


def _round_started(said: _Fields, seq: int, at: int) -> RoundStarted:
    return RoundStarted(
        seq,
        at,
        said.number("round", 1, MOST),
        tuple(_tile(tile) for tile in said.list("tiles", len(TILES))),
        tuple(_offer(offer) for offer in said.list("markets", 4)),
        said.number("bag", 0, ART_TOKENS),
        said.number("deck", 0, CARDS),
    )


def _tile(value: object) -> Tile:
    pair = items(value, "a tile")
    if len(pair) != 2:
        raise Misread("wrong_type", "a tile must be a place and a loot")
    return Tile(choice(pair[0], "a place", PLACES), choice(pair[1], "a loot", LOOT))


def _offer(value: object) -> Offer:
    said = _Fields(members(value, "a market"))
    return Offer(
        text(said.field("face"), '"face"', _MOST_TEXT),
        tuple(choice(kind, "art of a market", ART) for kind in said.list("art", ART_TOKENS)),
        tuple(tuple(_names(slot, "a card slot", CARDS)) for slot in said.list("cards", CARDS)),
    )


def _names(value: object, where: str, most: int) -> list[str]:
    found = items(value, where)
    if len(found) > most:
        raise Misread("out_of_range", f"{where} has {len(found)} entries, it may have {most}")
    return [text(name, f"an entry of {where}", _MOST_TEXT) for name in found]


def _bought(said: _Fields, seq: int, at: int) -> Bought:
    if ("art" in said.values) == ("cards" in said.values):
        raise Misread("one_slot", 'an event "bought" must have either "art" or "cards"')
    paid = said.list("paid", SLOTS)
    return Bought(
        seq,
        at,
        said.seat(),
        said.number("market", 0, 3),
        said.number("art", 0, ART_TOKENS - 1) if "art" in said.values else None,
        said.number("cards", 0, CARDS - 1) if "cards" in said.values else None,
        tuple(whole(tile, 'a tile of "paid"', 0, len(TILES) - 1) for tile in paid),
        tuple(_names(said.field("got"), '"got"', CARDS)),
    )


def _bag_opened(said: _Fields, seq: int, at: int) -> BagOpened:
    got = said.field("got")
    return BagOpened(seq, at, said.seat(), said.tile(), None if got is None else choice(got, '"got"', ART))


def _game_ended(said: _Fields, seq: int, at: int) -> GameEnded:
    reason = choice(said.field("reason"), '"reason"', REASONS)
    if reason != "void":
        if "by" in said.values:
            raise Misread("not_void", '"by" is there for void games only')
        return GameEnded(seq, at, reason)
    return GameEnded(seq, at, reason, choice(said.field("by"), '"by"', VOID_BY))


def _returned(said: _Fields, seq: int, at: int) -> Returned:
    return Returned(
        seq,
        at,
        said.seat(),
        said.tile(),
        choice(said.field("face"), '"face"', FACES),
        choice(said.field("source"), '"source"', SOURCES),
        choice(said.field("by"), '"by"', RETURNED_BY),
    )


def _placed(said: _Fields, seq: int, at: int) -> Placed:
    return Placed(
        seq,
        at,
        said.seat(),
        choice(said.field("art"), '"art"', ART),
        text(said.field("card"), '"card"', _MOST_TEXT),
        said.number("worth", 0, MOST),
    )


_READERS: dict[str, Callable[[_Fields, int, int], Event]] = {
    "round_started": _round_started,
    "ready": lambda said, seq, at: Ready(seq, at, said.seat(), truth(said.field("on"), '"on"')),
    "countdown_started": lambda said, seq, at: CountdownStarted(seq, at),
    "search_started": lambda said, seq, at: SearchStarted(seq, at),
    "lifted": lambda said, seq, at: Lifted(seq, at, said.seat(), said.tile()),
    "stashed": lambda said, seq, at: Stashed(seq, at, said.seat(), said.tile()),
    "returned": _returned,
    "escaped": lambda said, seq, at: Escaped(
        seq, at, said.seat(), said.number("token", 1, 4), choice(said.field("by"), '"by"', ESCAPED_BY)
    ),
    "exchange_started": lambda said, seq, at: ExchangeStarted(
        seq, at, tuple(whole(seat, "a seat", 0, 3) for seat in said.list("order", 4))
    ),
    "bought": _bought,
    "bag_opened": _bag_opened,
    "placed": _placed,
    "passed": lambda said, seq, at: Passed(seq, at, said.seat(), choice(said.field("by"), '"by"', PASSED_BY)),
    "abandoned": lambda said, seq, at: Abandoned(seq, at, said.seat(), choice(said.field("by"), '"by"', ABANDONED_BY)),
    "resumed": lambda said, seq, at: Resumed(
        seq, at, said.number("lost_ms", 1, MOST), truth(said.values.get("stalled", False), '"stalled"')
    ),
    "game_ended": _game_ended,
}
