"""One record as bytes, for its row: compressed, and without what the game's own rows say when it is given out.

That is its id, and the names of those who sat there: they are joined, so that whoever is deleted is gone at once.
"""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LEVEL = 9

_compact = json.JSONEncoder(separators=(",", ":")).encode


def pack(record: Mapping[str, Any]) -> bytes:
    """The record without its id and the names in its seats."""
    seats = [{**seat, "name": ""} for seat in record["seats"]]
    return zlib.compress(_compact({**record, "id": "", "seats": seats}).encode(), LEVEL)


def unpack(packed: bytes, id: str, names: Sequence[str]) -> dict[str, Any]:
    """The record that was packed, as that of this game with these people in its seats."""
    record = _unpack(packed)
    record["id"] = id
    for seat, name in zip(record["seats"], names, strict=True):
        seat["name"] = name
    return record


def _unpack(packed: bytes) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(zlib.decompress(packed))
    return record


def lines(packed: bytes) -> Iterator[tuple[int, int, str]]:
    """The events as the log keeps them: number, moment, and the rest of it as JSON."""
    for event in _unpack(packed)["events"]:
        yield event.pop("seq"), event.pop("at"), _compact(event)
