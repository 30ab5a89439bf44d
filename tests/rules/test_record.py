"""A record goes out and comes in again, says what RECORD.md says it does, and a broken file gets a sentence."""

import json
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from games.rules import chance, edition, events, record, terms
from games.rules.documents import MOST_BYTES, MOST_DIGITS
from games.rules.judge import LATEST_MS, Fault, judge
from games.rules.record import RecordError, as_json, make_record, read_record, write_record
from games.rules.rulings import refusal
from games.rules.state import Reason

from .keep_records import sealed
from .random_play import Luck, random_game, terms_for

PAGE = Path(record.__file__).with_name("RECORD.md").read_text()


@cache
def a_record() -> record.Record:
    return random_game(terms_for(21, "fr", 4), 21, Luck(crash=1)).record()


@cache
def a_sealed_record() -> record.Record:
    return sealed(a_record())[0]


def row(name: str) -> str:
    """The second cell of the row of the page that begins with this name."""
    (found,) = re.findall(rf"^\| `{name}` +\| (.*) \|$", PAGE, re.MULTILINE)
    return str(found)


def names(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# Out and in.


def test_what_is_written_is_read_as_it_was() -> None:
    assert read_record(write_record(a_record())) == a_record()
    assert read_record(write_record(a_sealed_record())) == a_sealed_record()


def test_the_same_record_is_always_the_same_bytes_on_one_line() -> None:
    line = write_record(a_record())
    assert write_record(read_record(line)) == line
    assert line.isascii()
    assert "\n" not in line


def test_a_game_that_runs_has_no_record() -> None:
    game = random_game(terms_for(1), 1)
    with pytest.raises(ValueError, match="still runs"):
        make_record("id", "2026-01-31T20:00:00Z", game.terms, ["a", "b"], game.log[:-1])


def test_names_of_later_versions_are_left_alone_everywhere() -> None:
    data = json.loads(write_record(a_record()))
    later = {"later": {"deep": [1.5, None, 1738353600123456789]}}
    for part in (data, data["limits"], data["edition"], data["seats"][0], data["events"][0], data["result"]):
        part |= later
    data["events"][0]["markets"][0] |= later
    data["result"]["scores"][0] |= later
    assert judge(json.dumps(data)) == []
    assert read_record(json.dumps(data)) == a_record()


# The page.


def test_the_page_names_the_format() -> None:
    assert PAGE.startswith(f"# `{record.FORMAT}`")
    assert names(row("format")) == [record.FORMAT]


def test_the_page_lists_every_field_of_a_record() -> None:
    section = PAGE[: PAGE.index("## Events")]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(as_json(a_sealed_record()))


def test_the_page_lists_every_field_of_every_event() -> None:
    kinds = get_args(events.Event)
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*?)\|$", PAGE[PAGE.index("## Events") :], re.MULTILINE))
    for kind in kinds:
        own = [field.name for field in fields(kind) if field.name not in ("seq", "at")]
        assert names(listed[kind.type]) == own, kind
    described = set(listed) - {"markets", "deck", "bag", *edition.PLACES}  # of chance
    assert described == {kind.type for kind in kinds}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("rulebook", terms.RULEBOOKS),
        ("pace", terms.PACES),
        ("markets_by", terms.MARKETS_BY),
        ("limits", record.LIMITS + record.COUNTS),
        ("edition", ("name", "art", "cards", "markets", "editions/")),
        ("seats", ("seat", "name", "kind", "character", "nonce", "share")),
        ("line", ("number", "day", "head")),
        ("result", ("reason", "ranking", "scores")),
    ],
)
def test_the_page_lists_what_a_field_may_say(field: str, said: tuple[str, ...]) -> None:
    assert names(row(field)) == list(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Places: ", edition.PLACES),
        ("Loot: ", edition.LOOT),
        ("Art: ", edition.ART),
        ("Each `character` is taken once: ", terms.CHARACTERS),
        ("`kind` is ", terms.KINDS),
        ("`face` is ", events.FACES),
        ("`source` is ", events.SOURCES),
        ("in points:\n  ", ("seat", *record.POINTS, "total")),
    ],
)
def test_the_page_lists_all_names(words: str, said: tuple[str, ...]) -> None:
    sentence = PAGE.split(words, 1)[1]
    assert re.match(r"(?:`[^`]+`\s*)+", sentence)
    assert names(re.split(r"(?<=`)[.;( ]*[.;(]", sentence, maxsplit=1)[0]) == list(said)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("returned", events.RETURNED_BY),
        ("escaped", events.ESCAPED_BY),
        ("passed", events.PASSED_BY),
        ("abandoned", events.ABANDONED_BY),
        ("game_ended", (*get_args(Reason), *events.VOID_BY)),
    ],
)
def test_the_page_says_every_reason_and_by(event: str, said: tuple[str, ...]) -> None:
    (text,) = re.findall(rf"^- `{event}`: (.*?)(?=^- |^#)", PAGE, re.MULTILINE | re.DOTALL)
    assert set(said) <= set(names(text))


def test_the_page_says_the_numbers_of_the_code() -> None:
    assert f"no more than {LATEST_MS} ms after it" in PAGE
    assert f"a number of more than {MOST_DIGITS:,} digits" in PAGE
    assert f"server_seed` | what was kept secret until the last move: {chance.SEED_BYTES} bytes" in PAGE
    assert f"A `nonce` has {chance.NONCE_BYTES} bytes" in PAGE
    assert f"`tiles` has {len(edition.TILES)} pairs" in PAGE


def test_the_test_vector_of_the_page_is_what_the_code_gives() -> None:
    section = PAGE[PAGE.index("### Test vector") :]
    seed, *nonces = re.findall(r"`((?:[0-9a-f]{2})+)`", section[: section.index("|")])
    game_seed = chance.game_seed(bytes.fromhex(seed), [bytes.fromhex(nonce) for nonce in nonces])
    said = dict(re.findall(r"^\| `?([\w/]+)`? \| (.*?)(?: …)? \|$", section, re.MULTILINE))
    house = edition.load_edition()
    tiles = [" ".join(tile) for tile in chance.shuffle(game_seed, "tiles/1", edition.TILES)]
    deck = chance.shuffle(game_seed, "deck", [card.id for card in house.cards])
    assert names(said["commitment"]) == [chance.commitment(bytes.fromhex(seed))]
    assert names(said["game_seed"]) == [game_seed.hex()]
    assert names(said["markets"]) == chance.draw_markets(game_seed, 3)
    assert names(said["tiles/1"]) == tiles[:4]
    assert names(said["bag"]) == chance.shuffle(game_seed, "bag", house.art_tokens)[:4]
    assert names(said["deck"]) == deck[:6]


def test_the_page_shows_a_fault_as_the_command_prints_it() -> None:
    bought = events.Bought(214, 0, 1, 0, 0, None, (5,), ("watch",))
    rule, message = refusal("wrong_price", bought)
    assert f"    line 3: {Fault(214, rule, message)}\n" in PAGE


# Broken files.


def changed(**top: object) -> str:
    return json.dumps(as_json(a_record()) | top)


def with_event(number: int, **said: object) -> str:
    data = as_json(a_record())
    log = [dict(event) for event in data["events"]]  # type: ignore[attr-defined]
    log[number - 1] |= said
    return json.dumps(data | {"events": log})


def with_seat(number: int, **said: object) -> str:
    seats = json.loads(write_record(a_record()))["seats"]
    seats[number] |= said
    return changed(seats=seats)


def with_seats(share: object, **top: object) -> str:
    """Every seat with this share, and more beside the seats."""
    seats = json.loads(write_record(a_record()))["seats"]
    return changed(seats=[seat | {"share": share} for seat in seats], **top)


def with_text(old: str, new: str) -> str:
    line = write_record(a_record())
    assert old in line
    return line.replace(old, new, 1)


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "an empty file": ("", "this is not JSON"),
    "half a record": (write_record(a_record())[:5000], "this is not JSON"),
    "two records on one line": (2 * write_record(a_record()), "this is not JSON"),
    "bytes that are no text": (b"\xff\xfe{}", "this is not text in UTF-8"),
    "a record in UTF-16": (write_record(a_record()).encode("utf-16"), "this is not text in UTF-8"),
    "a file without end": (b"[" + b" " * MOST_BYTES, "this is larger than"),
    "a well": ("[" * 200_000, "this is nested too deeply"),
    "a well of objects": ('{"a":' * 200_000, "this is nested too deeply"),
    "a well inside a record": (with_text('"id":"test"', '"id":' + "[" * 900 + "]" * 900), "the id is a list"),
    "NaN": (with_text('"round":1', '"round":NaN'), "NaN is not JSON"),
    "Infinity": (with_text('"at":0', '"at":Infinity'), "Infinity is not JSON"),
    "minus Infinity": (with_text('"at":0', '"at":-Infinity'), "-Infinity is not JSON"),
    "an infinite float": (with_text('"at":0', '"at":1e400'), "a number is too big"),
    "a number of 5,000 digits": (with_text('"at":0', f'"at":{"9" * 5000}'), "more than 4000 digits"),
    "a moment of 4,000 digits": (with_text('"at":0', f'"at":{"9" * 4000}'), "999 …, it must be 0 to"),
    "more places than seats": (
        changed(result={"reason": "void", "ranking": [0] * 4_000, "scores": []}),
        "the ranking has 4000 places",
    ),
    "more markets than seats": (changed(markets=["1A"] * 4_000), "4000 markets are in play"),
    "a name twice": (with_text('"at":0', '"at":0,"at":0'), 'the name "at" stands twice'),
    "the format twice": (with_text('"id":', '"format":"midnight-record/1","id":'), 'the name "format" stands twice'),
    "half a character": (with_text("Player 0", "\\ud800"), "half a character"),
    "half a character in a name": (with_text('"id":', '"\\udfff":1,"id":'), "half a character"),
    "a list": ("[]", "the record is a list"),
    "a number": ("17", "the record is 17"),
    "nothing": ("null", "the record is null"),
    "an empty object": ("{}", 'the record has no "format"'),
    "another format": (changed(format="midnight-record/2"), 'the format is "midnight-record/2"'),
    "a format that is a list": (changed(format=["midnight-record/1"]), "the format is a list"),
    "an id that is a number": (changed(id=5), "the id is 5, it must be a text"),
    "an empty id": (changed(id=""), "the id is empty, it must name the game"),
    "half of the shares": (with_seat(1, share="ab" * 32), 'seat 0 has no "share"'),
    "a short share": (with_seats(share="ab"), "the share of seat 0 must be 32 bytes in hexadecimal"),
    "a line that is a word": (with_seats(share=None, line="first"), 'the line is "first", it must be an object'),
    "a line of no day": (
        with_seats(share=None, line={"number": 1, "day": "today", "head": "ab" * 32}),
        'the day of the line is "today", it must be like 2026-01-31',
    ),
    "a line 0": (
        with_seats(share=None, line={"number": 0, "day": "2026-01-31", "head": "ab" * 32}),
        "the number of the line is 0, it must be 1 to",
    ),
    "a line with a short head": (
        with_seats(share=None, line={"number": 1, "day": "2026-01-31", "head": "ab"}),
        "the head of the line must be 32 bytes in hexadecimal",
    ),
    "a date like another": (changed(created="31 January 2026"), '"created" is "31 January 2026"'),
    "a day that no calendar has": (changed(created="2026-02-31T20:00:00Z"), '"created" is "2026-02-31T20:00:00Z"'),
    "an hour that no day has": (changed(created="2026-01-31T24:00:00Z"), '"created" is "2026-01-31T24:00:00Z"'),
    "a date in other digits": (changed(created="٢٠٢٦-01-31T20:00:00Z"), "it must be like 2026-01-31T20:00:00Z"),
    "an unknown rulebook": (changed(rulebook="en"), 'the rulebook is "en", it must be one of'),
    "ranked that is 1": (changed(ranked=1), '"ranked" is 1, it must be true or false'),
    "limits without a limit": (changed(limits={"hold_ms": 500}), 'the limits has no "hand_ms"'),
    "limits of halves": (changed(limits={"hold_ms": 500.5}), "hold_ms is 500.5, it must be a whole number"),
    "seats that are a word": (changed(seats="four"), 'the list of seats is "four"'),
    "a seat that is null": (changed(seats=[None, None]), "seat 0 is null"),
    "seats in another order": (with_text('"seat":1,"name"', '"seat":2,"name"'), "the seats are not in order"),
    "a seed of capitals": (changed(server_seed="AB" * 32), "must be 32 bytes in hexadecimal"),
    "a seed of other digits": (changed(server_seed="٠" * 64), "must be 32 bytes in hexadecimal"),
    "a short commitment": (changed(commitment="ab"), "must be 32 bytes in hexadecimal"),
    "markets that are numbers": (changed(markets=[1, 2, 3, 4]), "a market is 1"),
    "a card that is null": (changed(edition={"name": "x", "art": [], "cards": [None]}), "card 1 is null"),
    "events that are an object": (changed(events={}), "seq 1: the list of events is an object"),
    "no events": (changed(events=[]), "seq 1: R2.1: the record ends"),
    "an event that is a number": (changed(events=[7]), "seq 1: an event is 7"),
    "an unknown event": (with_event(3, type="stole"), 'seq 3: the type of an event is "stole"'),
    "an event of no type": (with_event(3, type=None), "seq 3: the type of an event is null"),
    "an event whose type is a list": (with_event(3, type=[]), "seq 3: the type of an event is a list"),
    "an event at true": (with_event(3, at=True), 'seq 3: "at" is true'),
    "an event before time": (with_event(3, at=-1), 'seq 3: "at" is -1'),
    "a tile of three": (with_event(1, tiles=[["garage", "cash", "x"]]), "seq 1: a tile must be a place and a loot"),
    "a thousand tiles": (with_event(1, tiles=[["garage", "cash"]] * 1000), 'seq 1: "tiles" has 1000 entries'),
    "an unknown by": (with_event(3, type="passed", by="luck"), 'seq 3: "by" is "luck"'),
    "an unknown reason": (with_event(3, type="game_ended", reason="fire"), 'seq 3: "reason" is "fire"'),
    "a result that is a word": (changed(result="won"), 'the result is "won"'),
    "a seat 7 in the ranking": (
        changed(result={"ranking": [7], "scores": []}),
        "a seat in the ranking is 7, it must be 0 to 3",
    ),
    "too few scores": (changed(result={"ranking": [], "scores": []}), "0 rows of scores for 4 seats"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_a_sentence_and_never_a_traceback(name: str) -> None:
    document, sentence = BROKEN[name]
    faults = judge(document)
    assert len(faults) == 1
    assert sentence in str(faults[0])
    assert "\n" not in str(faults[0])
    assert len(str(faults[0])) < 300


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "no events"])
def test_a_broken_file_is_not_read_as_a_record(name: str) -> None:
    with pytest.raises(RecordError):
        read_record(BROKEN[name][0])


@pytest.mark.slow
def test_any_value_in_the_place_of_any_other_is_a_sentence() -> None:
    data = json.loads(write_record(random_game(terms_for(3, "es", 2), 3, Luck(leave=10)).record()))
    wrong: list[object] = [None, True, -1, 1.5, 10**14, "", "x" * 5000, [], {}, [[]], {"a": {}}]
    for holder, key in list(_places(data)):
        was = holder[key]  # type: ignore[index]
        for value in wrong:
            holder[key] = value  # type: ignore[index]
            for fault in judge(json.dumps(data)):
                assert str(fault)
        holder[key] = was  # type: ignore[index]


def _places(value: object, depth: int = 0) -> list[tuple[object, str | int]]:
    """Every place in a document that holds a value; of a long list only the first few and the last."""
    if depth > 5:
        return []
    keys: list[str | int]
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = [*range(len(value))][:3] + [*range(len(value))][3:][-1:]
    else:
        return []
    found: list[tuple[object, str | int]] = [(value, key) for key in keys]
    for key in keys:
        found += _places(value[key], depth + 1)
    return found
