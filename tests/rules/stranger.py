"""The check of a game's chance, from the words of RECORD.md and with nothing of ours: JSON and SHA-256.

Whatever is written here must be written there; a stranger's own program is like this one.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "games/rules/RECORD.md"
ZEROS = "0" * 32
Json = dict[str, Any]


def sha256(digits: str) -> str:
    return hashlib.sha256(bytes.fromhex(digits)).hexdigest()


def tile_table(page: str) -> list[list[str]]:
    """The 54 tiles, in the order in which the table of the page has them."""
    tiles = []
    for place, row in re.findall(r"^\| `(garage|office|safe)` \| (.*) \|$", page, re.MULTILINE):
        for number, loot in re.findall(r"(\d) `(\w+)`", row):
            tiles += [[place, loot]] * int(number)
    return tiles


def numbers(seed: bytes, label: str) -> Iterator[int]:
    for n in range(1_000_000):
        block = hmac.new(seed, f"{label}:{n}".encode("ascii"), hashlib.sha256).digest()
        for first in range(0, 32, 4):
            yield int.from_bytes(block[first : first + 4], "big")


def below(stream: Iterator[int], k: int) -> int:
    while (x := next(stream)) >= 2**32 - 2**32 % k:
        pass
    return x % k


def shuffle(stream: Iterator[int], items: list[Any]) -> list[Any]:
    shuffled = list(items)
    for i in range(len(shuffled) - 1, 0, -1):
        j = below(stream, i + 1)
        shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
    return shuffled


def canonical(value: Any) -> str:
    """JSON with the names in order and without any space."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{canonical(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value)


def digest_of(record: Json) -> str:
    names = "id rulebook ranked pace markets_by limits edition commitment".split()
    agreed = {name: record[name] for name in names}
    agreed["seats"] = [
        {name: seat[name] for name in ("seat", "kind", "character", "share")} for seat in record["seats"]
    ]
    if record["markets_by"] == "owner":
        agreed["markets"] = record["markets"]
    return hashlib.sha256(canonical(agreed).encode("ascii")).hexdigest()


def faults_of_chance(record: Json, page: str) -> set[str]:
    """What in a record is not as the seed and the nonces have it."""
    found = set()
    nonces = [seat["nonce"] for seat in record["seats"]]
    if sha256(record["server_seed"]) != record["commitment"]:
        found.add("seed")
    for seat in record["seats"]:
        has_share = seat.get("share") is not None
        if "share" in seat and seat["nonce"] != ZEROS and not (has_share and sha256(seat["nonce"]) == seat["share"]):
            found.add("share")
    seed = bytes.fromhex(sha256(record["server_seed"] + "".join(nonces)))
    rounds = [event for event in record["events"] if event["type"] == "round_started"]
    for event in rounds:
        if event["tiles"] != shuffle(numbers(seed, f"tiles/{event['round']}"), tile_table(page)):
            found.add("tiles")
    art, cards = taken(record["events"])
    bag = shuffle(numbers(seed, "bag"), [kind for kind, number in record["edition"]["art"] for _ in range(number)])
    deck = shuffle(numbers(seed, "deck"), [card["id"] for card in record["edition"]["cards"]])
    found |= {
        name for name, all_of_it, out in (("bag", bag, art), ("deck", deck, cards)) if all_of_it[: len(out)] != out
    }
    if record["markets_by"] == "draw":
        stream = numbers(seed, "markets")
        boards = shuffle(stream, list("1234"))[: len(nonces)]
        if record["markets"] != [board + "AB"[below(stream, 2)] for board in boards]:
            found.add("markets")
    return found


def taken(events: list[Json]) -> tuple[list[str], list[str]]:
    """What came out of the bag and off the deck, in order: for empty slots of the markets, and for leather bags."""
    art: list[str] = []
    cards: list[str] = []
    sold: set[tuple[int, str, int]] | None = None
    for event in events:
        if event["type"] == "round_started":
            for market, offer in enumerate(event["markets"]):
                art += [kind for slot, kind in enumerate(offer["art"]) if sold is None or (market, "art", slot) in sold]
                for slot, ids in enumerate(offer["cards"]):
                    cards += ids if sold is None or (market, "cards", slot) in sold else []
            sold = set()
        elif event["type"] == "bought":
            assert sold is not None
            what = "art" if "art" in event else "cards"
            sold.add((event["market"], what, event[what]))
        elif event["type"] == "bag_opened" and event["got"]:
            art.append(event["got"])
    return art, cards


def faults_of_place(record: Json, text: str) -> set[str]:
    """What in a file of the public list is not as the record has it, or not as the list itself must be."""
    first, *lines = text.splitlines()
    form, _, number, head = first.split(" ")
    found = set() if form == "midnight-list/1" else {"form"}
    place = None
    for said in lines:
        own, digest, after = said.split(" ")
        number, head = str(int(number) + 1), sha256(head + digest)
        if (own, after) != (number, head):
            found.add("chain")
        if int(own) == record["line"]["number"]:
            place = (digest, after)
    if place != (digest_of(record), record["line"]["head"]):
        found.add("place")
    return found
