"""RECORD.md alone is enough to check the chance of a game, and it says what the code does."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from games.rules import fairness
from games.rules.edition import TILES
from games.rules.judge import judge, judge_place
from games.rules.record import read_record

from . import stranger
from .keep_records import FOLDER

PAGE = stranger.PAGE.read_text()
NAMES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
SEALED = "fr-3-sealed"
LIST = (FOLDER / f"{SEALED}.txt").read_text()
Json = dict[str, Any]


def document(name: str = SEALED) -> Json:
    found: Json = json.loads((FOLDER / f"{name}.jsonl").read_text())
    return found


def test_the_page_has_the_table_of_all_tiles() -> None:
    assert stranger.tile_table(PAGE) == [list(tile) for tile in TILES]


@pytest.mark.parametrize("name", NAMES)
def test_a_stranger_finds_the_chance_of_every_kept_record_true(name: str) -> None:
    assert stranger.faults_of_chance(document(name), PAGE) == set()


def test_a_stranger_finds_a_record_in_its_list() -> None:
    record = document()
    assert stranger.faults_of_place(record, LIST) == set()
    own = read_record(json.dumps(record)).head
    assert own.shares is not None
    assert stranger.digest_of(record) == fairness.digest(own.id, own.terms, own.shares)
    assert judge_place(json.dumps(record), {line.number: line for line in fairness.read_list(LIST)}) == []


def another_seed(record: Json) -> None:
    record["server_seed"] = "ab" * 32


def another_commitment(record: Json) -> None:
    record["server_seed"] = "ab" * 32
    record["commitment"] = stranger.sha256("ab" * 32)


def ignored_nonce(record: Json) -> None:
    record["seats"][1]["nonce"] = "ab" * 16


def ignored_nonce_and_share(record: Json) -> None:
    record["seats"][1] |= {"nonce": "ab" * 16, "share": stranger.sha256("ab" * 16)}


def uncommitted(record: Json) -> None:
    record["seats"][1]["share"] = None


def withheld(record: Json) -> None:
    record["seats"][1]["nonce"] = stranger.ZEROS


def another_rulebook(record: Json) -> None:
    record["rulebook"] = "it"


TAMPERED: list[tuple[Callable[[Json], None], set[str], set[str]]] = [
    (another_seed, {"seed", "tiles", "bag", "deck", "markets"}, set()),
    (another_commitment, {"tiles", "bag", "deck", "markets"}, {"place"}),
    (ignored_nonce, {"share", "tiles", "bag", "deck", "markets"}, set()),
    (ignored_nonce_and_share, {"tiles", "bag", "deck", "markets"}, {"place"}),
    (uncommitted, {"share"}, {"place"}),
    (withheld, {"tiles", "bag", "deck", "markets"}, set()),
    (another_rulebook, set(), {"place"}),
]


@pytest.mark.parametrize(("tamper", "of_chance", "of_place"), TAMPERED, ids=lambda one: getattr(one, "__name__", ""))
def test_a_stranger_and_the_judge_find_what_was_touched(
    tamper: Callable[[Json], None], of_chance: set[str], of_place: set[str]
) -> None:
    record = document()
    tamper(record)
    # A record of three players may by chance keep a market or two.
    assert stranger.faults_of_chance(record, PAGE) | {"markets"} == of_chance | {"markets"}
    assert stranger.faults_of_place(record, LIST) == of_place
    said = json.dumps(record)
    kept = {line.number: line for line in fairness.read_list(LIST)}
    assert bool(judge(said)) == bool(of_chance) or tamper is another_rulebook
    # A judge works the commitment out from the seed.
    assert bool(judge_place(said, kept)) == bool(of_place) or tamper is another_seed


def test_a_list_from_which_a_line_was_taken_is_found_out() -> None:
    first, one, _, last = LIST.splitlines()
    assert "chain" in stranger.faults_of_place(document(), f"{first}\n{one}\n{last}\n")
    with pytest.raises(fairness.ListError):
        list(fairness.read_list(f"{first}\n{one}\n{last}\n"))


def test_the_test_vector_of_the_list_is_what_the_code_makes() -> None:
    section = PAGE.split("## The public list")[1].split("### Test vector")[1]
    said = dict(re.findall(r"^\| ([^|]+?) \| `([^`]+)` \|$", section, re.MULTILINE))
    digests = [stranger.sha256(f"{n:02x}") for n in range(1, 5)]
    heads = [fairness.FIRST_HEAD]
    for digest in digests:
        heads.append(fairness.head_after(heads[-1], digest))
    assert said["share of the nonce 16 × `01`"] == fairness.share_of(b"\1" * 16)
    assert said["share of 16 zero bytes"] == fairness.share_of(bytes(16))
    assert said["digest of line 1"] == digests[0]
    assert (said["head after line 1"], said["head after line 4"]) == (heads[1], heads[4])
    value = {"b": [1, None], "a": {"d": True, "c": "x"}}
    assert stranger.canonical(value) == fairness.canonical(value).decode()
    assert f"`{stranger.canonical(value)}`" in section


def test_a_withheld_share_is_told_from_a_wrong_nonce() -> None:
    record = document()
    withheld(record)
    faults = [str(fault) for fault in judge(json.dumps(record))]
    assert not any("seat 1" in fault and "nonce" in fault for fault in faults)
    ignored_nonce(record)
    assert "seq 0: R8.11: the nonce of seat 1 is not the one it committed to" in map(str, judge(json.dumps(record)))
