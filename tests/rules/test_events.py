"""Events as JSON, both ways, read strictly."""

import json
from typing import get_args

import pytest

from games.rules import events
from games.rules.documents import Misread
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    CountdownStarted,
    Escaped,
    Event,
    ExchangeStarted,
    GameEnded,
    Lifted,
    Passed,
    Placed,
    Ready,
    Resumed,
    Returned,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.state import Offer, Tile

ROUND = (
    '{"seq": 1, "at": 0, "type": "round_started", "round": 1, "tiles": [["garage", "cash"], ["safe", "gold"]], '
    '"markets": [{"face": "4A", "art": ["watch", "chalice"], "cards": [["tiara"], ["grail", "watch-1"]]}], '
    '"bag": 50, "deck": 20}'
)
ONE_OF_EACH: dict[str, Event] = {
    ROUND: RoundStarted(
        1,
        0,
        1,
        (Tile("garage", "cash"), Tile("safe", "gold")),
        (Offer("4A", ("watch", "chalice"), (("tiara",), ("grail", "watch-1"))),),
        50,
        20,
    ),
    '{"seq": 2, "at": 5, "type": "ready", "seat": 0, "on": false}': Ready(2, 5, 0, False),
    '{"seq": 3, "at": 5, "type": "countdown_started"}': CountdownStarted(3, 5),
    '{"seq": 4, "at": 5, "type": "search_started"}': SearchStarted(4, 5),
    '{"seq": 5, "at": 5, "type": "lifted", "seat": 3, "tile": 53}': Lifted(5, 5, 3, 53),
    '{"seq": 6, "at": 5, "type": "stashed", "seat": 3, "tile": 0}': Stashed(6, 5, 3, 0),
    '{"seq": 7, "at": 5, "type": "returned", "seat": 1, "tile": 8, "face": "up", "source": "hand", "by": "player"}': (
        Returned(7, 5, 1, 8, "up", "hand", "player")
    ),
    '{"seq": 8, "at": 5, "type": "escaped", "seat": 1, "token": 4, "by": "last"}': Escaped(8, 5, 1, 4, "last"),
    '{"seq": 9, "at": 5, "type": "exchange_started", "order": [1, 0]}': ExchangeStarted(9, 5, (1, 0)),
    '{"seq": 9, "at": 5, "type": "bought", "seat": 0, "market": 1, "art": 0, "paid": [3, 4], "got": ["watch"]}': (
        Bought(9, 5, 0, 1, 0, None, (3, 4), ("watch",))
    ),
    '{"seq": 9, "at": 5, "type": "bought", "seat": 0, "market": 1, "cards": 2, "paid": [3], "got": ["tiara"]}': (
        Bought(9, 5, 0, 1, None, 2, (3,), ("tiara",))
    ),
    '{"seq": 11, "at": 5, "type": "bag_opened", "seat": 0, "tile": 9, "got": "watch"}': BagOpened(11, 5, 0, 9, "watch"),
    '{"seq": 11, "at": 5, "type": "bag_opened", "seat": 0, "tile": 9, "got": null}': BagOpened(11, 5, 0, 9, None),
    '{"seq": 12, "at": 5, "type": "placed", "seat": 0, "art": "watch", "card": "watch-2", "worth": 9}': Placed(
        12, 5, 0, "watch", "watch-2", 9
    ),
    '{"seq": 13, "at": 5, "type": "passed", "seat": 0, "by": "auto"}': Passed(13, 5, 0, "auto"),
    '{"seq": 14, "at": 5, "type": "abandoned", "seat": 0, "by": "staff"}': Abandoned(14, 5, 0, "staff"),
    '{"seq": 15, "at": 9000, "type": "resumed", "lost_ms": 2001}': Resumed(15, 9000, 2001),
    '{"seq": 15, "at": 9000, "type": "resumed", "lost_ms": 2001, "stalled": true}': Resumed(
        15, 9000, 2001, stalled=True
    ),
    '{"seq": 16, "at": 9000, "type": "game_ended", "reason": "bag_empty"}': GameEnded(16, 9000, "bag_empty"),
    '{"seq": 16, "at": 9000, "type": "game_ended", "reason": "void", "by": "rules"}': (
        GameEnded(16, 9000, "void", "rules")
    ),
}


@pytest.mark.parametrize("text", ONE_OF_EACH)
def test_an_event_is_what_its_json_says_and_the_other_way_round(text: str) -> None:
    event = ONE_OF_EACH[text]
    assert events.read(json.loads(text)) == event
    assert json.dumps(events.write(event)) == text


def test_every_type_of_event_has_its_example() -> None:
    assert {type(event) for event in ONE_OF_EACH.values()} == set(get_args(Event))


@pytest.mark.parametrize("text", ONE_OF_EACH)
def test_no_field_may_be_missing_and_unknown_ones_are_left_alone(text: str) -> None:
    said = json.loads(text)
    assert events.read(said | {"later": {"version": 2}}) == ONE_OF_EACH[text]
    for name in said.keys() - {"stalled"}:  # which is there only if so
        with pytest.raises(Misread):
            events.read({other: value for other, value in said.items() if other != name})


@pytest.mark.parametrize("wrong", [None, True, 1.5, "x", -1, 10**15, [], {}, [[]], {"a": 1}])
@pytest.mark.parametrize("text", ONE_OF_EACH)
def test_no_field_may_be_of_another_kind(text: str, wrong: object) -> None:
    for name, right in json.loads(text).items():
        if wrong is None and name == "got":
            continue
        if isinstance(wrong, str) and name in ("card", "face"):
            continue  # any text may be a name here
        if wrong is True and isinstance(right, bool):
            continue
        if wrong == [] and isinstance(right, list):
            continue  # how many there must be is for the rules to say
        with pytest.raises(Misread):
            events.read(json.loads(text) | {name: wrong})


def test_unknown_types_reasons_and_causes_are_refused() -> None:
    for text in (
        '{"seq": 1, "at": 0, "type": "jumped"}',
        '{"seq": 1, "at": 0, "type": "game_ended", "reason": "boredom"}',
        '{"seq": 1, "at": 0, "type": "game_ended", "reason": "void", "by": "chance"}',
        '{"seq": 1, "at": 0, "type": "game_ended", "reason": "bag_empty", "by": "rules"}',
        '{"seq": 1, "at": 0, "type": "passed", "seat": 0, "by": "staff"}',
        '{"seq": 1, "at": 0, "type": "bought", "seat": 0, "market": 0, "art": 0, "cards": 0, "paid": [], "got": []}',
    ):
        with pytest.raises(Misread):
            events.read(json.loads(text))
