"""The pieces of the game as pictures: {% tile_art %}, {% loot %}, {% art %}, {% card %}, {% character %}, {% token %} …

Each is an <svg> of symbols from pictures.svg and bears its name from games/names.py, unless `hidden=True` says that a
word stands beside it. How large it is, the style sheet says (--piece). Cards and market faces are laid out from the
edition's data alone, so another edition needs no other code.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeVar

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from games import names
from games.rules.edition import SILVER, SLOTS, Art, Edition, Loot, Place, Unique
from games.rules.scoring import UNIQUE_POINTS
from games.rules.terms import Character

register = template.Library()

FIELD = (64, 64)
CARD = (100, 140)
STALL = (160, 44)
FULL_LENGTH = (100, 180)
FACE = (160, 124)
Where = tuple[float, float, float, float]
LOOT_ON_TILE: Where = (5, 5, 54, 54)  # within its window

T = TypeVar("T")


class Part(NamedTuple):
    """A symbol, where it lies (x, y, width, height; all of the field if not said), and the colour of its frame."""

    symbol: str
    where: Where | None = None
    colour: str = ""

    def attributes(self) -> Iterator[tuple[str, str]]:
        yield "href", f"{pictures()}#{self.symbol}"
        if self.where:
            yield from zip(("x", "y", "width", "height"), map(figure, self.where), strict=True)
        if self.colour:
            yield "color", self.colour


@register.simple_tag
def pictures() -> str:
    """The address of the file of symbols, for scripts that draw with it."""
    return static("games/art/pictures.svg")


def figure(number: float) -> str:
    """A number as SVG has it in every language."""
    return f"{number:g}"


def _element(tag: str, attributes: Iterable[tuple[str, str]], content: object = "") -> SafeString:
    return format_html("<{}{}>{}</{}>", tag, format_html_join("", ' {}="{}"', attributes), content, tag)


def _parts(parts: Iterable[Part]) -> SafeString:
    return SafeString("".join(_element("use", part.attributes()) for part in parts))


def _svg(kind: str, size: tuple[int, int], name: object, hidden: bool, content: SafeString) -> SafeString:
    attributes = [("class", f"piece {kind}"), ("viewBox", f"0 0 {size[0]} {size[1]}")]
    if hidden:
        return _element("svg", [*attributes, ("aria-hidden", "true")], content)
    return _element("svg", [*attributes, ("role", "img")], _element("title", (), name) + content)


def _piece(kind: str, name: object, hidden: bool, *symbols: str) -> SafeString:
    return _svg(kind, FIELD, name, hidden, _parts(Part(symbol) for symbol in symbols))


# Tiles, loot, art ---------------------------------------------------------------------------------------------------


@register.simple_tag
def tile_art(place: Place, loot: Loot | None = None, hidden: bool = False) -> SafeString:
    """A tile's front, or its back where the loot is known."""
    if not loot:
        return _piece("front", names.of_tile(place), hidden, f"tile-{place}")
    parts = (Part(f"back-{place}"), Part(f"loot-{loot}", LOOT_ON_TILE))
    return _svg("back", FIELD, names.of_tile(place, loot), hidden, _parts(parts))


@register.simple_tag
def loot(kind: Loot, hidden: bool = False) -> SafeString:
    return _piece("loot", names.LOOT[kind], hidden, f"loot-{kind}")


def metal_of(kind: Art) -> str:
    return "silver" if kind in SILVER else "gold"


@register.simple_tag
def art(kind: Art, hidden: bool = False) -> SafeString:
    """A token of art: silver is round, gold has eight corners."""
    return _piece("art", names.ART[kind], hidden, f"disc-{metal_of(kind)}", f"art-{kind}")


@register.simple_tag
def token(number: int, hidden: bool = False) -> SafeString:
    """An escape token."""
    return _piece("token", names.of_token(number), hidden, "token", f"token-{number}")


@register.simple_tag
def bag_of_art(hidden: bool = False) -> SafeString:
    return _piece("bag", names.BAG_OF_ART, hidden, "bag-of-art")


@register.simple_tag
def lock(hidden: bool = False) -> SafeString:
    return _piece("lock", names.LOCKED, hidden, "lock")


@register.simple_tag
def hand(hidden: bool = False) -> SafeString:
    """A hand in the colour of the text."""
    return _piece("hand", names.HAND, hidden, "hand")


# Burglars -----------------------------------------------------------------------------------------------------------


@register.simple_tag
def character(kind: Character, hidden: bool = False) -> SafeString:
    """A burglar's head in a ring."""
    return _piece("character", names.CHARACTERS[kind], hidden, f"character-{kind}")


@register.simple_tag
def burglar(kind: Character, hidden: bool = False) -> SafeString:
    """The same burglar at full length."""
    part = Part(f"burglar-{kind}")
    return _svg("burglar", FULL_LENGTH, names.CHARACTERS[kind], hidden, _parts([part]))


# Cards --------------------------------------------------------------------------------------------------------------

INK, BRASS, SILVER_EDGE, GOLD_EDGE = "#131c38", "#e0b24a", "#7987a8", "#a8781f"
COLUMN = 35  # the middle of the slots, from the left
NUMBERS = 75  # the middle of the numbers
TOP, FOOT = 14, 127
LARGEST_SLOT, GAP = 46, 3
DRAWN_UNIQUES = frozenset(names.UNIQUES)


class Slot(NamedTuple):
    """One slot of a collection, from the lowest up: filled or not, `now` where the card's worth stands."""

    kind: Art
    worth: int
    y: float
    size: float
    filled: bool
    now: bool

    @property
    def middle(self) -> float:
        return self.y + self.size / 2


def slots_of(needs: Sequence[Art], worth: Sequence[int], filled: int) -> list[Slot]:
    """Where the slots of a collection lie: as large as there is room, the first one at the foot."""
    size = min(LARGEST_SLOT, (FOOT - TOP + GAP) / len(needs) - GAP)
    return [
        Slot(kind, number, FOOT - size - place * (size + GAP), size, place < filled, place == filled - 1)
        for place, (kind, number) in enumerate(zip(needs, worth, strict=True))
    ]


@register.simple_tag
def card(edition: Edition, name: str, filled: int = 0, hidden: bool = False) -> SafeString:
    """A card of this edition by its id, face up, with as many slots filled."""
    one = edition.card[name]
    if isinstance(one, Unique):
        picture = f"unique-{name}" if name in DRAWN_UNIQUES else f"art-{one.of}"
        parts = (Part("card-unique"), Part(picture, (12, 16, 76, 76)))
        content = _parts(parts) + _number(50, 114, 24, UNIQUE_POINTS, now=True)
        return _svg("prestige", CARD, names.card_in_words(one), hidden, content)
    slots = slots_of(one.needs, one.worth, filled)
    showcase = len(set(one.needs)) > 1
    metal_colour = SILVER_EDGE if set(one.needs) <= set(SILVER) else GOLD_EDGE
    ground = [Part("card-showcase" if showcase else "card-collection", None, metal_colour)]
    free = slots[-1].y - TOP
    if free > LARGEST_SLOT / 2:
        width = min(64, 2 * free)
        ground.append(Part("card-fan", (50 - width / 2, TOP + (free - width / 2) / 2, width, width / 2), metal_colour))
    content = _parts([*ground, *_slot_parts(slots)]) + _numbers(slots)
    return _svg("prestige", CARD, names.card_in_words(one, filled), hidden, content)


def _slot_parts(slots: Sequence[Slot]) -> Iterator[Part]:
    for slot in slots:
        where = (COLUMN - slot.size / 2, slot.y, slot.size, slot.size)
        yield Part(f"{'disc' if slot.filled else 'slot'}-{metal_of(slot.kind)}", where)
        yield Part(f"art-{slot.kind}", where)


def _numbers(slots: Sequence[Slot]) -> SafeString:
    return SafeString(
        "".join(_number(NUMBERS, slot.middle, min(22, slot.size * 0.62), slot.worth, slot.now) for slot in slots)
    )


def _number(x: float, y: float, size: float, number: int, now: bool) -> SafeString:
    """A number on a card; on a badge of brass where it is what the card is worth."""
    text = [("x", figure(x)), ("y", figure(y + 0.36 * size)), ("font-size", figure(size))]
    ink = [("fill", INK), ("stroke", INK), ("stroke-width", ".9")]  # our capitals have one weight: a little more of it
    written = _element("text", [*text, ("text-anchor", "middle"), *ink], number)
    if not now:
        return written
    corner = [("x", figure(x - 0.7 * size)), ("y", figure(y - 0.62 * size)), ("rx", "3")]
    sides = [("width", figure(1.4 * size)), ("height", figure(1.24 * size))]
    return _element("rect", [*corner, *sides, ("fill", BRASS), ("stroke", INK), ("stroke-width", "2")]) + written


@register.simple_tag
def complete_card(edition: Edition, name: str, hidden: bool = False) -> SafeString:
    """A card that lies face down, as its owner knows it: a unique piece, or a collection with every slot filled."""
    one = edition.card[name]
    return card(edition, name, 0 if isinstance(one, Unique) else len(one.needs), hidden)


@register.simple_tag
def card_back(hidden: bool = False) -> SafeString:
    """A card face down, or the deck."""
    return _svg("prestige", CARD, names.CARD_FACE_DOWN, hidden, _parts([Part("card-back")]))


EMBLEMS = {
    "silver": ("art", "disc-silver", FIELD),
    "gold": ("art", "disc-gold", FIELD),
    "uniques": ("prestige", "card-unique", CARD),
    "collections": ("prestige", "card-collection", CARD),
}


@register.simple_tag
def emblem(line: str) -> SafeString:
    """What stands before a line of the score, but for the total; its word stands beside it."""
    if line not in EMBLEMS:
        return SafeString()
    kind, symbol, size = EMBLEMS[line]
    return _svg(kind, size, "", True, _parts([Part(symbol, None, "#a8781f")]))


# Markets ------------------------------------------------------------------------------------------------------------


@register.simple_tag
def stall(face: str) -> SafeString:
    """The front of a board's stall and the sign of its trade: an ornament above its name, as wide as there is room."""
    wide = [("class", "piece stall"), ("viewBox", f"0 0 {STALL[0]} {STALL[1]}"), ("preserveAspectRatio", "none")]
    front = _element("svg", [*wide, ("aria-hidden", "true")], _parts([Part(f"stall-{face[0]}")]))
    return front + _piece("trade", "", True, f"emblem-{face[0]}")


@register.simple_tag
def cost(edition: Edition, face: str) -> list[Loot]:
    """What this market asks for, loot by loot."""
    return [kind for kind, number in edition.market[face].cost for _one in range(number)]


@register.simple_tag
def market_face(edition: Edition, face: str, hidden: bool = False) -> SafeString:
    """A market face as it lies in the box: what it costs, and how many slots it has for art and for cards."""
    market = edition.market[face]
    prices = [Part(f"loot-{kind}", where) for kind, where in placed(cost(edition, face), 10, 48, 38, 66)]
    tokens = [Part("slot-silver", where) for _one, where in placed(range(market.art), 56, 48, 96, 30)]
    cards = [
        Part("card-back", (x + 3 * under, y - 3 * under, width, height))
        for number, (x, y, width, height) in placed(market.cards, 56, 84, 90, 32, CARD[1] / CARD[0])
        for under in reversed(range(number))
    ]
    front = [Part(f"stall-{face[0]}", (0, 0, *STALL)), Part(f"emblem-{face[0]}", (60, 2, 40, 40))]
    content = _parts([Part("board"), *prices, *tokens, *cards, *front])
    return _svg("face", FACE, names.market_in_words(market), hidden, content)


def placed(
    things: Sequence[T], x: float, y: float, width: float, height: float, ratio: float = 1
) -> Iterator[tuple[T, tuple[float, float, float, float]]]:
    """Lays things out in rows, as large as this space allows; `ratio` is a thing's height by its width."""

    def size(columns: int) -> float:
        return min(width / columns, height / ceil(len(things) / columns) / ratio)

    if not things:
        return
    columns = max(range(1, len(things) + 1), key=size)
    step = size(columns)
    for number, thing in enumerate(things):
        row, column = divmod(number, columns)
        yield thing, (x + column * step, y + row * step * ratio, step * 0.9, step * ratio * 0.9)


# What the fragments ask of a sight ----------------------------------------------------------------------------------


@register.filter
def at(things: Sequence[T], index: int) -> T:
    """The tile on a spot, the player in a seat: `tiles|at:spot`."""
    return things[index]


@register.filter
def six(board: Sequence[int]) -> list[int | None]:
    """The slots of an identity board, the free ones as None."""
    return [*board, *[None] * (SLOTS - len(board))]


@register.filter
def tokens(players: Sequence[Mapping[str, object]]) -> list[tuple[int, Mapping[str, object] | None]]:
    """The escape tokens of a game with these players, lowest first, each with the player who took it or None."""
    taken = {player["token"]: player for player in players}
    return [(number, taken.get(number)) for number in range(1, len(players) + 1)]


@register.filter
def by_kind(tokens: Sequence[Art]) -> list[tuple[Art, int]]:
    """Each kind of art once, in the order of first sight, with how many there are."""
    return list(Counter(tokens).items())


@register.filter
def score_lines(points: Mapping[str, int]) -> list[tuple[str, names.Name, int]]:
    """The lines of a score in the order of the rules: key, word, points."""
    return [(line, name, points[line]) for line, name in names.SCORE.items()]


@register.filter
def market_name(face: str) -> str:
    return names.of_market(face)


@register.filter
def character_name(kind: Character) -> str:
    return str(names.CHARACTERS[kind])
