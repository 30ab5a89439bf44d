"""What is promised before a game begins, and the public list that keeps the promise. RECORD.md says it in words.

Nothing here may ever change: every line of every list hangs on it.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .chance import NO_NONCE
from .terms import Terms

LIST_FORMAT = "midnight-list/1"
HASH_BYTES = 32
# The head of the list before its first line.
FIRST_HEAD = bytes(HASH_BYTES).hex()

_HEADING = re.compile(rf"{re.escape(LIST_FORMAT)} (?P<name>\S+) (?P<number>\d{{1,15}}) (?P<head>[0-9a-f]{{64}})")
_LINE = re.compile(r"(?P<number>\d{1,15}) (?P<digest>[0-9a-f]{64}) (?P<head>[0-9a-f]{64})")


class ListError(ValueError):
    """The text is no list, or not one that was left as it was; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a game stands in the public list: its line's number, the day whose file has it, the head after it."""

    number: int
    day: str
    head: str


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    digest: str
    head: str

    def __str__(self) -> str:
        return f"{self.number} {self.digest} {self.head}"


def share_of(nonce: bytes) -> str:
    """What a player commits to before any nonce is known."""
    return hashlib.sha256(nonce).hexdigest()


def matches(share: str | None, nonce: bytes) -> bool:
    """Whether this is the nonce that its seat had committed to."""
    return share is not None and share == share_of(nonce)


def is_withheld(share: str | None, nonce: bytes) -> bool:
    """Whether the seat committed to a nonce and then did not open it in time."""
    return share is not None and nonce == NO_NONCE and not matches(share, nonce)


def digest(game_id: str, terms: Terms, shares: Sequence[str | None]) -> str:
    """The hash of all that is agreed on when the shares are fixed: the game's line in the public list."""
    return hashlib.sha256(canonical(agreement(game_id, terms, shares))).hexdigest()


def agreement(game_id: str, terms: Terms, shares: Sequence[str | None]) -> dict[str, object]:
    """What is agreed on, by the names that a record has for it."""
    agreed: dict[str, object] = {
        "id": game_id,
        "rulebook": terms.rulebook,
        "ranked": terms.ranked,
        "pace": terms.pace,
        "markets_by": terms.markets_by,
        "limits": terms.limits.as_json(),
        "edition": terms.edition.as_json(),
        "seats": [
            {"seat": number, "kind": seat.kind, "character": seat.character, "share": share}
            for number, (seat, share) in enumerate(zip(terms.seats, shares, strict=True))
        ],
        "commitment": terms.commitment,
    }
    if terms.faces:
        agreed["markets"] = list(terms.faces)
    return agreed


def canonical(value: object) -> bytes:
    """The same bytes for the same value: names in order, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def head_after(head: str, digest: str) -> str:
    """The head of the list once this line stands in it."""
    return hashlib.sha256(bytes.fromhex(head) + bytes.fromhex(digest)).hexdigest()


def heading(name: str, number: int, head: str) -> str:
    """The first line of a file: what it is of, and where the list was before it."""
    return f"{LIST_FORMAT} {name} {number} {head}"


def read_list(text: str) -> Iterator[Line]:
    """The lines of a file of the list, each checked against those before it; `ListError` at the first that is not."""
    first, *rest = text.splitlines() or [""]
    found = _HEADING.fullmatch(first)
    if found is None:
        raise ListError(f"the first line is not that of a {LIST_FORMAT}")
    number, head = int(found["number"]), found["head"]
    for written in rest:
        said = _LINE.fullmatch(written)
        if said is None:
            raise ListError(f"what follows line {number} of the list cannot be read")
        number, head = number + 1, head_after(head, said["digest"])
        if int(said["number"]) != number:
            raise ListError(f"line {number} of the list calls itself {said['number']}")
        if said["head"] != head:
            raise ListError(f"the head in line {number} of the list is not the hash of what stands before it")
        yield Line(number, said["digest"], head)
