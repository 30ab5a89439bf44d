"""Records of whole games, kept in the tree: they replay for ever, and say everything that a record can say.

`keep_records.py` played them.
"""

import hashlib
import hmac
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from games.rules import events, terms
from games.rules.judge import judge
from games.rules.record import Record, read_record, write_record

from .keep_records import FOLDER, KEPT

T = TypeVar("T")

FILES = sorted(FOLDER.glob("*.jsonl"))


@cache
def kept(path: Path) -> Record:
    return read_record(path.read_bytes())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_record_replays_without_fault(path: Path) -> None:
    assert judge(path.read_bytes()) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_record_is_written_as_it_was_read(path: Path) -> None:
    assert write_record(kept(path)) + "\n" == path.read_text()


def backwards(value: object) -> object:
    """The same JSON with the names of every object the other way round."""
    if isinstance(value, dict):
        return {name: backwards(value[name]) for name in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_order_of_names_in_an_object_says_nothing(path: Path) -> None:
    data = json.loads(path.read_text())
    assert judge(json.dumps(data, sort_keys=True)) == []
    assert write_record(read_record(json.dumps(backwards(data)))) + "\n" == path.read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shuffle_is_that_of_the_page_read_by_somebody_else(path: Path) -> None:
    data = json.loads(path.read_text())
    seed = hashlib.sha256(bytes.fromhex(data["server_seed"] + "".join(seat["nonce"] for seat in data["seats"])))
    starts = [event for event in data["events"] if event["type"] == "round_started"]
    for event in starts:
        assert event["tiles"] == shuffled(numbers(seed.digest(), f"tiles/{event['round']}"), BOX)
    bag = shuffled(
        numbers(seed.digest(), "bag"), [kind for kind, number in data["edition"]["art"] for _ in range(number)]
    )
    deck = shuffled(numbers(seed.digest(), "deck"), [card["id"] for card in data["edition"]["cards"]])
    for market in starts[0]["markets"]:
        assert market["art"] == [bag.pop(0) for _ in market["art"]]
        assert market["cards"] == [[deck.pop(0) for _ in slot] for slot in market["cards"]]
    if data["markets_by"] == "draw":
        stream = numbers(seed.digest(), "markets")
        boards = shuffled(stream, list("1234"))[: len(data["seats"])]
        assert data["markets"] == [board + "AB"[below(stream, 2)] for board in boards]


# The algorithm once more, from the words of RECORD.md alone.

BOX = [
    [place, loot]
    for place, loots in (
        ("garage", {"jewels": 4, "cash": 4, "bag": 2, "iron_key": 4, "drawer": 4}),
        ("office", {"jewels": 4, "cash": 4, "bag": 2, "brass_key": 4, "gems": 4}),
        ("safe", {"jewels": 4, "cash": 4, "bag": 2, "gems": 4, "gold": 4}),
    )
    for loot, number in loots.items()
    for _ in range(number)
]


def numbers(key: bytes, label: str) -> Iterator[int]:
    for n in range(1000):
        block = hmac.new(key, label.encode() + b":" + str(n).encode(), hashlib.sha256).hexdigest()
        yield from (int(block[i : i + 8], 16) for i in range(0, 64, 8))


def below(stream: Iterator[int], k: int) -> int:
    return next(x for x in stream if x < 2**32 - (2**32 % k)) % k


def shuffled(stream: Iterator[int], items: list[T]) -> list[T]:
    items = list(items)
    for i in reversed(range(1, len(items))):
        j = below(stream, i + 1)
        items[i], items[j] = items[j], items[i]
    return items


# What is kept.


def test_every_kind_of_game_that_is_asked_for_is_kept_and_small() -> None:
    assert {path.stem for path in FILES} == set(KEPT)
    assert max(path.stat().st_size for path in FILES) < 80_000


def test_all_rulebooks_and_numbers_of_players_are_kept() -> None:
    heads = [kept(path).head.terms for path in FILES]
    assert {head.rulebook for head in heads} == set(terms.RULEBOOKS)
    assert {(head.rulebook, len(head.seats)) for head in heads} >= {
        (rulebook, players) for rulebook in ("fr", "es", "pt") for players in terms.PLAYERS
    }
    assert {head.pace for head in heads} == set(terms.PACES)
    assert {head.markets_by for head in heads} == set(terms.MARKETS_BY)
    assert {head.ranked for head in heads} == {True, False}


def test_everything_that_an_event_can_say_is_said_somewhere() -> None:
    said: set[tuple[str, object]] = set()
    for path in FILES:
        for event in kept(path).events:
            said.add((event.type, getattr(event, "by", None)))
            said |= {
                (event.type, getattr(event, name))
                for name in ("face", "source", "reason", "on")
                if hasattr(event, name)
            }
    wanted: dict[type[events.Event], tuple[object, ...]] = {
        events.Returned: (*events.RETURNED_BY, *events.FACES, *events.SOURCES),
        events.Escaped: events.ESCAPED_BY,
        events.Passed: events.PASSED_BY,
        events.Abandoned: events.ABANDONED_BY,
        events.GameEnded: (*events.REASONS, *events.VOID_BY),
        events.Ready: (True, False),
    }
    missing = {(kind.type, one) for kind, ones in wanted.items() for one in ones} - said
    assert not missing
    assert {kind for kind, _ in said} == {kind.type for kind in events.Event.__args__}
