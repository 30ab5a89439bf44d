"""What art and cards are worth to somebody who has these already (R6, R7.3)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from games.rules.edition import ART, SILVER, Collection, Edition
from games.rules.scoring import EMPTY_COLLECTION_POINTS, GOLD_POINTS, SILVER_POINTS, UNIQUE_POINTS

KIND: dict[str, int] = {kind: number for number, kind in enumerate(ART)}
LOOSE = tuple(SILVER_POINTS if kind in SILVER else GOLD_POINTS for kind in ART)

Item = str | tuple[str, ...]  # a kind of art, or the ids of the cards in one slot

_CLAIMED = 0.5  # a second collection that waits for the same kind of art gets the next token, if any


class Open(NamedTuple):
    """A collection that is not complete; `steps` is what each slot that is still empty adds to the card."""

    needs: tuple[int, ...]
    steps: tuple[int, ...]


def open_collection(card: Collection, filled: int) -> Open:
    worth = (EMPTY_COLLECTION_POINTS, *card.worth)
    steps = tuple(worth[slot + 1] - worth[slot] for slot in range(filled, len(card.worth)))
    return Open(tuple(KIND[kind] for kind in card.needs[filled:]), steps)


def best_filling(art: Sequence[int], cards: Sequence[Open]) -> tuple[int, tuple[int, ...]]:
    """The most points that this art makes, placed or not, and how many slots of each card to fill for that."""
    filling = [0] * len(cards)
    points = sum(number * loose for number, loose in zip(art, LOOSE, strict=True))
    for group in _rivals([number for number, card in enumerate(cards) if art[card.needs[0]]], cards):
        gain, levels = _fill(list(art), [cards[number] for number in group], 0)
        points += gain
        for number, level in zip(group, levels, strict=True):
            filling[number] = level
    return points, tuple(filling)


def _rivals(wanting: Sequence[int], cards: Sequence[Open]) -> list[list[int]]:
    """The cards in groups that need no kind of art of another's: each group can be filled by itself.

    So whoever hoards cards and art makes nobody who judges them think long.
    """
    groups: list[tuple[set[int], list[int]]] = []
    for number in wanting:
        kinds, group = set(cards[number].needs), [number]
        apart = []
        for other_kinds, others in groups:
            if kinds.isdisjoint(other_kinds):
                apart.append((other_kinds, others))
            else:
                kinds |= other_kinds
                group = [*others, *group]
        groups = [*apart, (kinds, sorted(group))]
    return [group for _, group in groups]


def _fill(art: list[int], cards: list[Open], first: int) -> tuple[int, tuple[int, ...]]:
    """The best that the cards from `first` on add to the loose art, over every way to share it out."""
    if first == len(cards):
        return 0, ()
    best, levels = _fill(art, cards, first + 1)
    levels = (0, *levels)
    card = cards[first]
    gained = taken = 0
    for kind, step in zip(card.needs, card.steps, strict=True):
        if not art[kind]:
            break
        art[kind] -= 1
        taken += 1
        gained += step - LOOSE[kind]
        rest, others = _fill(art, cards, first + 1)
        if gained + rest > best:
            best, levels = gained + rest, (taken, *others)
    for kind in card.needs[:taken]:
        art[kind] += 1
    return best, levels


class Collector:
    """Somebody's art and open collections, and what more would add.

    `chances` says how likely one more token of each kind will come this way before the game ends; a collection is worth
    what it may still become.
    """

    def __init__(self, art: Sequence[int], cards: Sequence[Open], chances: Sequence[float], edition: Edition) -> None:
        self.art = tuple(art)
        self.cards = tuple(cards)
        self.chances = tuple(chances)
        self.edition = edition
        self.worth = self._worth(self.art, self.cards)
        self._gains: dict[Item, float] = {}

    @classmethod
    def of(
        cls, art: Iterable[str], collections: Mapping[str, int], chances: Sequence[float], edition: Edition
    ) -> "Collector":
        counts = [0] * len(ART)
        for kind in art:
            counts[KIND[kind]] += 1
        return cls(counts, [_open(edition, card, filled) for card, filled in collections.items()], chances, edition)

    def gain(self, item: Item) -> float:
        """What one more token of art, or the content of one card slot, would add."""
        gain = self._gains.get(item)
        if gain is None:
            art, cards, points = self._with(item)
            gain = self._gains[item] = points + self._worth(art, cards) - self.worth
        return gain

    def gain_of_draw(self, left: Mapping[str, int]) -> float:
        """What one token from a bag with this content would add, on average."""
        number = sum(left.values())
        return sum(self.gain(kind) * count for kind, count in left.items()) / number if number else 0.0

    def having(self, item: Item) -> "Collector":
        """The same collector with this item besides; points that nobody can lose any more are not counted."""
        art, cards, _ = self._with(item)
        return Collector(art, cards, self.chances, self.edition)

    def _with(self, item: Item) -> tuple[tuple[int, ...], tuple[Open, ...], int]:
        if isinstance(item, str):
            more = list(self.art)
            more[KIND[item]] += 1
            return tuple(more), self.cards, 0
        found = [self.edition.card[card] for card in item]
        opened = [open_collection(card, 0) for card in found if isinstance(card, Collection)]
        points = EMPTY_COLLECTION_POINTS * len(opened) + UNIQUE_POINTS * (len(found) - len(opened))
        return self.art, (*self.cards, *opened), points

    def _worth(self, art: Sequence[int], cards: Sequence[Open]) -> float:
        """About the points of this at the end; what is placed already is left out."""
        points, filling = best_filling(art, cards)
        hope = 0.0
        claims = list(self.chances)
        for card, filled in zip(cards, filling, strict=True):
            reached = 1.0
            for kind, step in zip(card.needs[filled:], card.steps[filled:], strict=True):
                reached *= claims[kind]
                claims[kind] *= _CLAIMED
                hope += reached * (step - LOOSE[kind])
        return points + hope


def _open(edition: Edition, card: str, filled: int) -> Open:
    found = edition.card[card]
    assert isinstance(found, Collection)
    return open_collection(found, filled)
