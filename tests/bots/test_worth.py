"""What art and cards are worth to somebody: exact where it can be, hopeful where it must be."""

from itertools import product
from random import Random
from typing import Any

import pytest

from games.bots import worth
from games.bots.worth import KIND, LOOSE, Collector, Open, best_filling, open_collection
from games.rules.edition import ART, Collection, load_edition

HOUSE = load_edition()
COLLECTIONS = [card for card in HOUSE.cards if isinstance(card, Collection)]
NO_HOPE = (0.0,) * len(ART)


def counts(*kinds: str) -> list[int]:
    return [kinds.count(kind) for kind in ART]


def by_trying_all(art: list[int], cards: list[Open]) -> int:
    """The most points of every way to fill so many slots of each card."""
    best = 0
    for levels in product(*(range(len(card.needs) + 1) for card in cards)):
        left = list(art)
        points = 0
        for card, level in zip(cards, levels, strict=True):
            points += sum(card.steps[:level])
            for kind in card.needs[:level]:
                left[kind] -= 1
        if min(left) >= 0:
            best = max(best, points + sum(number * loose for number, loose in zip(left, LOOSE, strict=True)))
    return best


@pytest.mark.parametrize("number", range(40))
def test_the_best_filling_is_the_best_of_all(number: int) -> None:
    rng = Random(number)
    art = [rng.randint(0, 2) for _ in ART]
    cards = [
        open_collection(card, rng.randrange(len(card.needs))) for card in rng.sample(COLLECTIONS, rng.randint(0, 5))
    ]
    points, filling = best_filling(art, cards)
    assert points == by_trying_all(art, cards)
    assert all(level <= len(card.needs) for card, level in zip(cards, filling, strict=True))


def test_who_hoards_every_card_and_much_art_makes_nobody_think_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Master judges its rivals' cards too, between the moves of a live table."""
    steps = 0
    fill = worth._fill

    def counted(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        return fill(*arguments)

    monkeypatch.setattr(worth, "_fill", counted)
    points, _ = best_filling([10] * len(ART), [open_collection(card, 0) for card in COLLECTIONS])
    needs = sum(len(card.needs) for card in COLLECTIONS)
    assert points > sum(card.worth[-1] - 2 for card in COLLECTIONS) > needs
    assert steps < 50_000


def test_loose_art_counts_as_on_the_score_sheet() -> None:
    assert best_filling(counts("chalice", "watch"), [])[0] == 1 + 2


def test_the_gain_of_a_token_is_what_it_adds_to_what_is_there() -> None:
    collector = Collector.of((), {"chalice-2": 1}, NO_HOPE, HOUSE)
    assert collector.gain("chalice") == 7 - 4
    assert collector.gain("manuscript") == 1
    assert collector.having("chalice").gain("chalice") == 1


def test_the_gain_of_cards_is_theirs_and_what_the_art_on_the_board_makes_of_them() -> None:
    collector = Collector.of(("watch", "painting"), {}, NO_HOPE, HOUSE)
    assert collector.gain(("pharaoh",)) == 3
    assert collector.gain(("chalice-3",)) == 2
    assert collector.gain(("watch-1",)) == 5 - 2
    assert collector.gain(("showcase-2",)) == 9 - 2 - 2
    assert collector.gain(("pharaoh", "chalice-3")) == 5


def test_hope_makes_a_collection_worth_more_and_never_more_than_all_of_it() -> None:
    for card in COLLECTIONS:
        plain, hopeful, sure = (
            Collector.of((), {}, (chance,) * len(ART), HOUSE).gain((card.id,)) for chance in (0.0, 0.5, 1.0)
        )
        assert plain == 2
        assert plain < hopeful < sure <= card.worth[-1] - sum(LOOSE[KIND[kind]] for kind in card.needs)


def test_a_draw_is_worth_the_average_of_what_may_be_in_the_bag() -> None:
    collector = Collector.of((), {}, NO_HOPE, HOUSE)
    assert collector.gain_of_draw({"chalice": 1, "watch": 3}) == pytest.approx((1 + 3 * 2) / 4)
    assert collector.gain_of_draw({}) == 0
