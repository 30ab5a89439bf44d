"""The public record of a finished game, out and in. RECORD.md says what stands in it and what it promises.

Reading finds out whether a document *is* a record; whether the game in it was played by the rules, the judge says.
"""

import json
import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from . import events
from .chance import NONCE_BYTES, SEED_BYTES
from .documents import Misread, choice, items, member, members, parse, shown, text, truth, whole
from .edition import EditionError, read_edition
from .events import MOST, REASONS, Event
from .fairness import HASH_BYTES, Place
from .play import replay
from .scoring import Result, Score, result
from .terms import CHARACTERS, KINDS, MARKETS_BY, PACES, PLAYERS, RULEBOOKS, Limits, MarketsBy, Seat, Terms, TermsError

FORMAT = "midnight-record/1"
LIMITS = ("hold_ms", "hand_ms", "search_ms", "turn_ms", "ready_ms", "countdown_ms")
# Games from before these two have neither.
COUNTS = ("events", "readies")
POINTS = ("silver", "gold", "uniques", "collections")
MOST_POINTS = 10_000

_MOST_ID = 100
_MOST_PERSON = 200
_MOST_FACE = 40
_CREATED = re.compile(
    r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII
)
_DAY = re.compile(r"\d{4}-(0[1-9]|1[0-2])-\d\d", re.ASCII)
_HEX = re.compile(r"[0-9a-f]*")

# The rule behind each code of `TermsError`.
TERMS_RULES = {
    "players": "R1.1",
    "characters": "R1.1",
    "faces": "R2.2",
    "seed": "R8.11",
    "nonce": "R8.11",
    "limit_range": "R8.9",
    "count_range": "R8.12",
    "ranked": "R8.9",
}


class RecordError(ValueError):
    """The document is no record: the message is a sentence, the code is for programs, `rule` is a rule it breaks."""

    def __init__(self, code: str, message: str, rule: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Head:
    """What a record says before its events; `markets` and `commitment` are as claimed, not as the terms have them.

    `shares` has what each seat committed to, None in a record from before there were any; `place` is the game's line in
    the public list.
    """

    id: str
    created: str
    terms: Terms
    names: tuple[str, ...]
    markets: tuple[str, ...]
    commitment: str
    shares: tuple[str | None, ...] | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Record:
    head: Head
    events: tuple[Event, ...]
    result: Result


def make_record(
    id: str,
    created: str,
    terms: Terms,
    names: Sequence[str],
    happened: Iterable[Event],
    shares: Sequence[str | None] | None = None,
    place: Place | None = None,
) -> Record:
    """The record of a game that is over; `created` is in UTC, such as 2026-01-31T20:00:00Z."""
    log = tuple(happened)
    outcome = result(replay(terms, log))
    if outcome is None:
        raise ValueError("a game that still runs has no record")
    committed = None if shares is None else tuple(shares)
    head = Head(id, created, terms, tuple(names), terms.markets, terms.commitment, committed, place)
    return Record(head, log, outcome)


def write_record(record: Record) -> str:
    """The record as one line of JSON, the same bytes for the same record."""
    return json.dumps(as_json(record), separators=(",", ":"))


def as_json(record: Record) -> dict[str, object]:
    head, terms = record.head, record.head.terms
    return {
        "format": FORMAT,
        "id": head.id,
        "created": head.created,
        "rulebook": terms.rulebook,
        "ranked": terms.ranked,
        "pace": terms.pace,
        "markets_by": terms.markets_by,
        "limits": terms.limits.as_json(),
        "edition": terms.edition.as_json(),
        "seats": [
            {
                "seat": number,
                "name": name,
                "kind": seat.kind,
                "character": seat.character,
                "nonce": seat.nonce.hex(),
                **({} if head.shares is None else {"share": head.shares[number]}),
            }
            for number, (seat, name) in enumerate(zip(terms.seats, head.names, strict=True))
        ],
        "markets": list(head.markets),
        "commitment": head.commitment,
        **({} if head.place is None else {"line": asdict(head.place)}),
        "server_seed": terms.server_seed.hex(),
        "events": [events.write(event) for event in record.events],
        "result": {
            "reason": record.result.reason,
            "ranking": list(record.result.ranking),
            "scores": [score.as_json() for score in record.result.scores],
        },
    }


def read_record(document: str | bytes) -> Record:
    """The record that the document holds, read as strictly as RECORD.md says, or `RecordError`."""
    source = read_document(document)
    head = read_head(source)
    return Record(head, tuple(read_events(source)), read_result(source, len(head.terms.seats)))


def read_document(document: str | bytes) -> dict[str, object]:
    """The fields of a document that says it is a record of this version."""
    try:
        source = members(parse(document), "the record")
        claimed = member(source, "format", "the record")
    except Misread as wrong:
        raise RecordError(wrong.code, str(wrong)) from None
    if claimed != FORMAT:
        raise RecordError("format", f"the format is {shown(claimed)}, it must be {FORMAT}")
    return source


def read_head(source: dict[str, object]) -> Head:
    try:
        return _head(source)
    except Misread as wrong:
        raise RecordError(wrong.code, str(wrong)) from None
    except EditionError as wrong:
        raise RecordError(wrong.code, str(wrong), "R1.4") from None
    except TermsError as wrong:
        raise RecordError(wrong.code, str(wrong), TERMS_RULES[wrong.code]) from None


def read_events(source: dict[str, object]) -> Iterable[Event]:
    """The events one by one, up to the first that cannot be read."""
    try:
        for data in items(member(source, "events", "the record"), "the list of events"):
            yield events.read(data)
    except Misread as wrong:
        raise RecordError(wrong.code, str(wrong)) from None


def read_result(source: dict[str, object], players: int) -> Result:
    """The result that is claimed, or `RecordError`; a row whose total is not its sum claims nothing."""
    try:
        said = members(member(source, "result", "the record"), "the result")
        ranked = items(member(said, "ranking", "the result"), "the ranking")
        if len(ranked) > players:
            raise Misread("ranking", f"the ranking has {len(ranked)} places for {players} seats")
        ranking = tuple(whole(seat, "a seat in the ranking", 0, players - 1) for seat in ranked)
        rows = items(member(said, "scores", "the result"), "the scores")
        if len(rows) != players:
            raise Misread("scores", f"there are {len(rows)} rows of scores for {players} seats")
        scores = tuple(_score(row, seat) for seat, row in enumerate(rows))
        return Result(choice(member(said, "reason", "the result"), "the reason", REASONS), ranking, scores)
    except Misread as wrong:
        raise RecordError(wrong.code, str(wrong), "R7.3" if wrong.code == "wrong_sum" else None) from None


def _head(source: dict[str, object]) -> Head:
    def field(name: str) -> object:
        return member(source, name, "the record")

    said_seats = items(field("seats"), "the list of seats")
    seats = [_seat(seat, number) for number, seat in enumerate(said_seats)]
    shares = _shares(said_seats)
    faces = items(field("markets"), "the markets")
    if len(faces) > max(PLAYERS):
        raise Misread("faces", f"{len(faces)} markets are in play, {max(PLAYERS)} is the most")
    markets = tuple(text(face, "a market", _MOST_FACE) for face in faces)
    markets_by: MarketsBy = choice(field("markets_by"), '"markets_by"', MARKETS_BY)
    limits = members(field("limits"), "the limits")
    terms = Terms(
        rulebook=choice(field("rulebook"), "the rulebook", RULEBOOKS),
        pace=choice(field("pace"), "the pace", PACES),
        ranked=truth(field("ranked"), '"ranked"'),
        limits=Limits(
            *(whole(member(limits, name, "the limits"), name, 0, MOST) for name in LIMITS),
            **{name: whole(limits[name], name, 0, MOST) for name in COUNTS if name in limits},
        ),
        edition=read_edition(field("edition")),
        seats=tuple(seat for seat, _ in seats),
        server_seed=_bytes(field("server_seed"), "the server seed", SEED_BYTES),
        faces=markets if markets_by == "owner" else (),
    )
    if markets_by == "owner" and not markets:
        raise TermsError("faces", "the owner chose no market (R2.2)")
    created = text(field("created"), '"created"', _MOST_ID)
    if not _is_moment(created):
        raise Misread("wrong_time", f'"created" is {shown(created)}, it must be like 2026-01-31T20:00:00Z')
    return Head(
        _id(field("id")),
        created,
        terms,
        tuple(name for _, name in seats),
        markets,
        _bytes(field("commitment"), "the commitment", SEED_BYTES).hex(),
        shares,
        _place(source["line"]) if shares is not None and "line" in source else None,
    )


def _id(value: object) -> str:
    name = text(value, "the id", _MOST_ID)
    if not name:
        raise Misread("no_id", "the id is empty, it must name the game")
    return name


def _shares(seats: Sequence[object]) -> tuple[str | None, ...] | None:
    """What each seat committed to, None for one that did not; nothing at all where no seat speaks of it."""
    said = [members(seat, f"seat {number}") for number, seat in enumerate(seats)]
    if not any("share" in seat for seat in said):
        return None
    return tuple(
        None
        if (value := member(seat, "share", f"seat {number}")) is None
        else _bytes(value, f"the share of seat {number}", HASH_BYTES).hex()
        for number, seat in enumerate(said)
    )


def _place(value: object) -> Place:
    said = members(value, "the line")
    day = text(member(said, "day", "the line"), "the day of the line", _MOST_ID)
    if not _DAY.fullmatch(day):
        raise Misread("wrong_time", f"the day of the line is {shown(day)}, it must be like 2026-01-31")
    return Place(
        number=whole(member(said, "number", "the line"), "the number of the line", 1, MOST),
        day=day,
        head=_bytes(member(said, "head", "the line"), "the head of the line", HASH_BYTES).hex(),
    )


def _seat(value: object, number: int) -> tuple[Seat, str]:
    where = f"seat {number}"
    said = members(value, where)
    if whole(member(said, "seat", where), f'"seat" of {where}', 0, MOST) != number:
        raise Misread("seat_order", f"the seats are not in order: {where} calls itself {said['seat']}")
    seat = Seat(
        kind=choice(member(said, "kind", where), f"the kind of {where}", KINDS),
        character=choice(member(said, "character", where), f"the character of {where}", CHARACTERS),
        nonce=_bytes(member(said, "nonce", where), f"the nonce of {where}", NONCE_BYTES),
    )
    return seat, text(member(said, "name", where), f"the name of {where}", _MOST_PERSON)


def _is_moment(created: str) -> bool:
    """Whether it is written as a moment, of a day that the calendar has."""
    found = _CREATED.fullmatch(created)
    return found is not None and 1 <= int(found["day"]) <= monthrange(int(found["year"]), int(found["month"]))[1]


def _bytes(value: object, where: str, number: int) -> bytes:
    digits = text(value, where, 2 * SEED_BYTES)
    if len(digits) != 2 * number or not _HEX.fullmatch(digits):
        raise Misread("not_hex", f"{where} must be {number} bytes in hexadecimal with small letters")
    return bytes.fromhex(digits)


def _score(value: object, seat: int) -> Score:
    where = f"the score of seat {seat}"
    said = members(value, where)
    if whole(member(said, "seat", where), f'"seat" of {where}', 0, MOST) != seat:
        raise Misread("seat_order", f"the scores are not in the order of the seats: {where} is of {said['seat']}")
    points = [whole(member(said, name, where), f"{name} in {where}", 0, MOST_POINTS) for name in POINTS]
    total = whole(member(said, "total", where), f"total in {where}", 0, MOST)
    if total != sum(points):
        raise Misread("wrong_sum", f"{where} has a total of {total}, but its parts make {sum(points)}")
    return Score(seat, *points)
