"""`verify` judges files of records and says what is wrong on standard output, fault by fault."""

import io
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from games.management.commands import verify
from games.rules.documents import MOST_BYTES
from games.rules.record import write_record
from tests.rules.random_play import random_game, terms_for

ROOT = Path(__file__).resolve().parents[3]
GOOD = write_record(random_game(terms_for(1, "fr", 4), 1).record())


def bent() -> str:
    """The same game; seat 0 is ready twice, and then nobody can know."""
    data = json.loads(GOOD)
    data["events"].insert(2, {**data["events"][1], "seq": 3})
    for seq, event in enumerate(data["events"], 1):
        event["seq"] = seq
    return json.dumps(data)


BENT = bent()
BENT_SAYS = r"seq 3: R8\.7: seat \d is ready, but this player is ready already"


def run(*files: str | Path, code: int | None = None) -> list[str]:
    """What the command prints, line by line; `code` is the exit status that it must have."""
    out = io.StringIO()
    if code is None:
        call_command("verify", *map(str, files), stdout=out, stderr=io.StringIO())
    else:
        with pytest.raises(CommandError) as error:
            call_command("verify", *map(str, files), stdout=out, stderr=io.StringIO())
        assert error.value.returncode == code
    return out.getvalue().splitlines()


def write(path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + end for line in lines))
    return path


def test_records_without_fault_are_silent(tmp_path: Path) -> None:
    assert run(write(tmp_path / "games.jsonl", GOOD, GOOD)) == []


def test_a_fault_is_said_with_its_line_its_event_and_its_rule(tmp_path: Path) -> None:
    (said,) = run(write(tmp_path / "games.jsonl", GOOD, "", BENT, GOOD), code=1)
    assert re.fullmatch(rf"line 3: {BENT_SAYS}", said)


def test_several_files_are_named(tmp_path: Path) -> None:
    good, wrong = write(tmp_path / "a.jsonl", GOOD), write(tmp_path / "b.jsonl", BENT)
    (said,) = run(good, wrong, code=1)
    assert re.fullmatch(rf"{re.escape(str(wrong))}: line 1: {BENT_SAYS}", said)


def test_one_record_may_be_spread_over_lines(tmp_path: Path) -> None:
    for indent in (0, 1, "\t"):
        assert run(write(tmp_path / "game.json", json.dumps(json.loads(GOOD), indent=indent))) == []
    (said,) = run(write(tmp_path / "game.json", "", json.dumps(json.loads(BENT), indent=2)), code=1)
    assert re.fullmatch(f"line 2: {BENT_SAYS}", said)


def one_event_a_line(record: str) -> str:
    """The head on the first line, then a line for each event, and the result on the last."""
    return record.replace('{"seq":', '\n{"seq":')


def test_one_record_may_have_a_line_for_each_event(tmp_path: Path) -> None:
    assert len(one_event_a_line(GOOD).splitlines()) > 100
    assert run(write(tmp_path / "game.json", one_event_a_line(GOOD))) == []
    bent = json.dumps(json.loads(BENT), separators=(",", ":"))
    (said,) = run(write(tmp_path / "game.json", one_event_a_line(bent)), code=1)
    assert re.fullmatch(f"line 1: {BENT_SAYS}", said)


def test_a_list_of_records_is_no_record_however_it_is_written(tmp_path: Path) -> None:
    for indent in (None, 1):
        (said,) = run(write(tmp_path / "games.json", json.dumps([json.loads(GOOD)] * 2, indent=indent)), code=1)
        assert said == "line 1: the record is a list, it must be an object"


@pytest.mark.slow
def test_after_a_broken_first_line_each_line_is_judged_under_its_own_number(tmp_path: Path) -> None:
    many = [GOOD] * (MOST_BYTES // len(GOOD) + 1)
    said = run(write(tmp_path / "games.jsonl", "what?", "", *many, BENT, GOOD, BENT), code=1)
    assert [line.split(": ")[0] for line in said] == ["line 1", f"line {3 + len(many)}", f"line {5 + len(many)}"]


def test_records_come_through_a_pipe_as_well(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        written = pool.submit(write, pipe, GOOD, BENT)
        (said,) = run(pipe, code=1)
        written.result()
    assert re.fullmatch(f"line 2: {BENT_SAYS}", said)


def test_what_a_record_calls_things_is_shown_on_the_line_of_its_fault_and_never_as_it_stands(tmp_path: Path) -> None:
    record = json.loads(GOOD)
    face = "x\nline 9: seq 1: R1.1: a lie\x1b[2Jé"
    record["markets"] = [face, *record["markets"][1:]]
    said = run(write(tmp_path / "game.json", json.dumps(record)), code=1)
    assert len(said) == 1
    assert said[0].isascii()
    assert said[0].isprintable()
    assert r"x\nline 9" in said[0]


def test_a_last_line_needs_no_end(tmp_path: Path) -> None:
    assert run(write(tmp_path / "game.json", GOOD, end=b"")) == []


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    assert run(write(tmp_path / "games.jsonl", GOOD, GOOD, end=b"\r\n")) == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([b""], ["line 1: this is not JSON: Expecting value, line 1, column 1"]),
        (["{", '"format": 1', "}"], ["line 1: the format is 1, it must be midnight-record/1"]),
        (["{", '"format"', "}"], ["line 1: this is not JSON: Expecting ':' delimiter, line 3, column 1"]),
        ([GOOD, "what?", GOOD], ["line 2: this is not JSON: Expecting value, line 1, column 1"]),
        (["what?", GOOD], ["line 1: this is not JSON: Expecting value, line 1, column 1"]),
        ([b"\xff\xff", GOOD], ["line 1: this is not text in UTF-8"]),
        ([GOOD, "[" * 100_000, GOOD], ["line 2: this is nested too deeply"]),
        ([GOOD, b" " * (3 * MOST_BYTES) + b"x", "{}"], [
            f"line 2: this is larger than {MOST_BYTES:,} bytes",
            'line 3: the record has no "format"',
        ]),
        ([b"x", b"y" * (2 * MOST_BYTES)], [f"line 1: this is larger than {MOST_BYTES:,} bytes"]),
    ],
)  # fmt: skip
def test_a_broken_file_is_a_sentence(tmp_path: Path, lines: list[str | bytes], said: list[str]) -> None:
    assert run(write(tmp_path / "broken", *lines), code=1) == said


def test_a_file_that_is_not_there_is_wrong_usage_and_nothing_is_judged(tmp_path: Path) -> None:
    assert run(write(tmp_path / "bent", BENT), tmp_path / "missing", code=verify.WRONG_USAGE) == []
    assert run(tmp_path, code=verify.WRONG_USAGE) == []


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "verify", *arguments],
        cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_line_reads_standard_input_and_tells_by_its_exit_status() -> None:
    good = command("-", stdin=GOOD + "\n" + GOOD)
    assert (good.returncode, good.stdout, good.stderr) == (0, "", "2 records, no fault.\n")
    wrong = command("-", stdin=GOOD + "\n" + BENT)
    assert wrong.returncode == 1
    assert re.fullmatch(f"line 2: {BENT_SAYS}\n", wrong.stdout)
    assert wrong.stderr == "CommandError: 1 of 2 records have faults.\n"
    assert command().returncode == 2
