"""One record as bytes, for its row: compressed, and without names, which are joined when it is given out."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LEVEL = 9

_compact = json.JSONEncoder(separators=(",", ":")).encode


def pack(record: Mapping[str, Any]) -> bytes:
    """The record without the names in its seats."""
    seats = [{**seat, "name": ""} for seat in record["seats"]]
    return zlib.compress(_compact({**record, "seats": seats}).encode(), LEVEL)


def unpack(packed: bytes, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The record that was packed, with these names in its seats."""
    record: dict[str, Any] = json.loads(zlib.decompress(packed))
    for seat, name in zip(record["seats"], names or (), strict=names is not None):
        seat["name"] = name
    return record


def lines(packed: bytes) -> Iterator[tuple[int, int, str]]:
    """The events as the log keeps them: number, moment, and the rest of it as JSON."""
    for event in unpack(packed)["events"]:
        yield event.pop("seq"), event.pop("at"), _compact(event)
