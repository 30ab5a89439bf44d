"""What lies in the box (R1): places, loot and the 54 tiles as printed; art, cards and markets as data.

An edition is one JSON file in `editions/`. A new file is a new edition: no code knows a card or a price.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from .chance import BOARDS, FACES
from .documents import Misread, choice, items, member, members, parse, text, whole

Place = Literal["garage", "office", "safe"]
Loot = Literal["jewels", "cash", "bag", "iron_key", "brass_key", "drawer", "gems", "gold"]
Art = Literal["manuscript", "chalice", "statuette", "jewellery", "watch", "painting"]

PLACES: tuple[Place, ...] = ("garage", "office", "safe")
LOOT: tuple[Loot, ...] = ("jewels", "cash", "bag", "iron_key", "brass_key", "drawer", "gems", "gold")
SILVER: tuple[Art, ...] = ("manuscript", "chalice", "statuette")
GOLD: tuple[Art, ...] = ("jewellery", "watch", "painting")
ART: tuple[Art, ...] = SILVER + GOLD

# Table R1.2, row by row. The tiles of every round are shuffled from this very order.
LOOT_TABLE: tuple[tuple[Place, tuple[tuple[Loot, int], ...]], ...] = (
    ("garage", (("jewels", 4), ("cash", 4), ("bag", 2), ("iron_key", 4), ("drawer", 4))),
    ("office", (("jewels", 4), ("cash", 4), ("bag", 2), ("brass_key", 4), ("gems", 4))),
    ("safe", (("jewels", 4), ("cash", 4), ("bag", 2), ("gems", 4), ("gold", 4))),
)
TILES: tuple[tuple[Place, Loot], ...] = tuple(
    (place, loot) for place, rows in LOOT_TABLE for loot, number in rows for _ in range(number)
)
SLOTS = 6  # of an identity board (R3.3)
MONEY: tuple[Loot, ...] = ("jewels", "cash", "gems", "gold")  # what a price may ask for
ART_TOKENS = 60  # R1.3
CARDS = 24  # R1.3
MOST_WORTH = 99

# Keys lie on the board beside what they opened, so they take slots from a price (R3.4, R3.5).
_KEYS_FOR: dict[Loot, int] = {"jewels": 0, "cash": 0, "gems": 1, "gold": 2}
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MOST_NAME = 40


class EditionError(ValueError):
    """A wrong edition: the message is a sentence that says what is wrong, the code is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Collection:
    """A card whose slots take art from the lowest up; `worth` is the number on each slot (R6.2, R6.3)."""

    id: str
    needs: tuple[Art, ...]
    worth: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        return {"id": self.id, "kind": "collection", "needs": list(self.needs), "worth": list(self.worth)}


@dataclass(frozen=True, slots=True)
class Unique:
    """A unique piece (R6.1)."""

    id: str
    of: Art

    def as_json(self) -> dict[str, object]:
        return {"id": self.id, "kind": "unique", "of": self.of}


Card = Collection | Unique


@dataclass(frozen=True, slots=True)
class Market:
    """One face of a market board; `cards` has the number of cards that each card slot takes."""

    face: str
    cost: tuple[tuple[Loot, int], ...]
    art: int
    cards: tuple[int, ...]

    def as_json(self) -> dict[str, object]:
        return {"face": self.face, "cost": dict(self.cost), "art": self.art, "cards": list(self.cards)}


@dataclass(frozen=True)
class Edition:
    name: str
    art: tuple[tuple[Art, int], ...]
    cards: tuple[Card, ...]
    markets: tuple[Market, ...]

    @cached_property
    def market(self) -> dict[str, Market]:
        """The markets by their face."""
        return {market.face: market for market in self.markets}

    @cached_property
    def card(self) -> dict[str, Card]:
        """The cards by their id."""
        return {card.id: card for card in self.cards}

    @cached_property
    def art_tokens(self) -> tuple[Art, ...]:
        """All art, each kind as often as there are tokens of it, in the edition's order."""
        return tuple(kind for kind, number in self.art for _ in range(number))

    def as_json(self) -> dict[str, object]:
        """The edition as files and records hold it."""
        return {
            "name": self.name,
            "art": [[kind, number] for kind, number in self.art],
            "cards": [card.as_json() for card in self.cards],
            "markets": [market.as_json() for market in self.markets],
        }


@cache
def load_edition(name: str = "house-1") -> Edition:
    """The edition of this name in `editions/`."""
    file = files(__package__) / "editions" / f"{name}.json"
    if not _NAME.fullmatch(name) or not file.is_file():
        raise EditionError("unknown_edition", f"there is no edition named {name!r}")
    edition = parse_edition(file.read_bytes())
    if edition.name != name:
        raise EditionError("wrong_name", f"the file of edition {name} calls itself {edition.name}")
    return edition


def parse_edition(document: str | bytes) -> Edition:
    """The edition that a file's content says."""
    try:
        data = parse(document)
    except Misread as wrong:
        raise EditionError(wrong.code, f"the edition cannot be read: {wrong}") from None
    return read_edition(data)


def read_edition(data: object) -> Edition:
    """The edition that parsed JSON says; names it does not know are left alone."""
    try:
        source = members(data, "the edition")
        edition = Edition(
            name=_name(member(source, "name", "the edition"), "the edition's name"),
            art=tuple(_art(row) for row in items(member(source, "art", "the edition"), "the art")),
            cards=tuple(
                _card(card, f"card {number}")
                for number, card in enumerate(items(member(source, "cards", "the edition"), "the cards"), 1)
            ),
            markets=tuple(
                _market(market, f"market {number}")
                for number, market in enumerate(items(member(source, "markets", "the edition"), "the markets"), 1)
            ),
        )
    except Misread as wrong:
        raise EditionError(wrong.code, str(wrong)) from None
    _check_art(edition)
    _check_cards(edition)
    _check_markets(edition)
    return edition


def _name(value: object, where: str) -> str:
    name = text(value, where, _MOST_NAME)
    if not _NAME.fullmatch(name):
        raise Misread("wrong_name", f"{where} is {name!r}, it must be small letters, digits and single dashes")
    return name


def _art(value: object) -> tuple[Art, int]:
    row = items(value, "a row of the art")
    if len(row) != 2:
        raise Misread("wrong_type", "a row of the art must be a kind and a number")
    kind = choice(row[0], "a kind of art", ART)
    return kind, whole(row[1], f"the number of tokens of {kind}", 1, ART_TOKENS)


def _card(value: object, where: str) -> Card:
    source = members(value, where)
    name = _name(member(source, "id", where), f"the id of {where}")
    where = f"card {name}"
    if choice(member(source, "kind", where), f"the kind of {where}", ("collection", "unique")) == "unique":
        return Unique(name, choice(member(source, "of", where), f"what {where} is of", ART))
    needs = tuple(
        choice(kind, f"a need of {where}", ART)
        for kind in items(member(source, "needs", where), f"the needs of {where}")
    )
    worth = tuple(
        whole(number, f"a worth of {where}", 1, MOST_WORTH)
        for number in items(member(source, "worth", where), f"the worth of {where}")
    )
    if not needs:
        raise Misread("no_needs", f"{where} is a collection without slots")
    if len(needs) != len(worth):
        raise Misread(
            "worth_length",
            f"{where} has {len(needs)} slots, but {len(worth)} numbers for what they are worth",
        )
    if any(lower >= higher for lower, higher in pairwise(worth)):
        raise Misread("worth_order", f"the worth of {where} does not rise from slot to slot")
    return Collection(name, needs, worth)


def _market(value: object, where: str) -> Market:
    source = members(value, where)
    faces = tuple(board + face for board in BOARDS for face in FACES)
    face = choice(member(source, "face", where), f"the face of {where}", faces)
    where = f"market {face}"
    price = members(member(source, "cost", where), f"the cost of {where}")
    asked = {
        choice(loot, f"a loot in the cost of {where}", MONEY): whole(number, f"{loot} in the cost of {where}", 1, SLOTS)
        for loot, number in price.items()
    }
    # The names of an object have no order in JSON; here the dearest loot comes first.
    cost = tuple((loot, asked[loot]) for loot in reversed(MONEY) if loot in asked)
    if not cost:
        raise Misread("no_cost", f"{where} costs nothing")
    cards = tuple(
        whole(number, f"a card slot of {where}", 1, 2)
        for number in items(member(source, "cards", where), f"the card slots of {where}")
    )
    return Market(face, cost, whole(member(source, "art", where), f"the art slots of {where}", 0, ART_TOKENS), cards)


def _check_art(edition: Edition) -> None:
    kinds = Counter(kind for kind, _ in edition.art)
    for kind in ART:
        if kinds[kind] != 1:
            raise EditionError("art_kinds", f"the art {kind} is listed {kinds[kind]} times, it must be once")
    if len(edition.art_tokens) != ART_TOKENS:
        raise EditionError(
            "art_number", f"there are {len(edition.art_tokens)} art tokens, the box has {ART_TOKENS} (R1.3)"
        )


def _check_cards(edition: Edition) -> None:
    for card, number in Counter(card.id for card in edition.cards).items():
        if number > 1:
            raise EditionError("card_twice", f"card {card} is listed {number} times")
    if len(edition.cards) != CARDS:
        raise EditionError("card_number", f"there are {len(edition.cards)} cards, the box has {CARDS} (R1.3)")
    tokens = dict(edition.art)
    for one in edition.cards:
        if isinstance(one, Collection):
            for kind, number in Counter(one.needs).items():
                if number > tokens[kind]:
                    raise EditionError(
                        "card_too_long", f"card {one.id} needs {number} of {kind}, there are {tokens[kind]}"
                    )


def _check_markets(edition: Edition) -> None:
    faces = Counter(market.face for market in edition.markets)
    for board in BOARDS:
        for face in FACES:
            if faces[board + face] != 1:
                raise EditionError(
                    "market_faces",
                    f"market {board + face} is listed {faces[board + face]} times, it must be once: "
                    "4 boards have two faces each (R1.3)",
                )
    there = Counter(loot for _, loot in TILES)
    for market in edition.markets:
        keys = max(_KEYS_FOR[loot] for loot, _ in market.cost)
        price = sum(number for _, number in market.cost)
        if price + keys > SLOTS or any(number > there[loot] for loot, number in market.cost):
            raise EditionError(
                "cost_too_high",
                f"nobody can ever pay market {market.face}: a board has {SLOTS} slots, keys among them",
            )
        if market.art + len(market.cards) == 0:
            raise EditionError("nothing_to_sell", f"market {market.face} has neither art nor cards")
    art = _largest({market.face: market.art for market in edition.markets})
    cards = _largest({market.face: sum(market.cards) for market in edition.markets})
    if art > len(edition.art_tokens):
        raise EditionError("art_short", f"four markets may need {art} art tokens, there are {ART_TOKENS}")
    if cards > len(edition.cards):
        raise EditionError("cards_short", f"four markets may need {cards} cards, there are {CARDS}")


def _largest(wanted: dict[str, int]) -> int:
    """What the hungriest faces of all boards want together."""
    return sum(max(wanted[board + face] for face in FACES) for board in BOARDS)
