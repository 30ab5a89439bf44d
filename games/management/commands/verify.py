"""`verify FILE…`: is this a game that was really played by the rules?"""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games.rules.documents import MOST_BYTES, Misread, parse
from games.rules.fairness import Line, ListError, read_list
from games.rules.judge import judge, judge_place

STDIN = "-"
FAULTS_FOUND = 1
WRONG_USAGE = 2


class Command(BaseCommand):
    help = "Judges game records: one line on stdout for each fault, exit status 1 if there is any."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="records as JSON lines, or one record as JSON; - is the standard input",
        )
        parser.add_argument(
            "--list",
            action="append",
            default=[],
            metavar="LIST",
            help="a file of the public list that you kept: every record must have its place there; may be given again",
        )

    def handle(self, *args: Any, files: list[str], **options: Any) -> None:
        for name in [*files, *options["list"]]:
            if name != STDIN and (not Path(name).exists() or Path(name).is_dir()):
                raise CommandError(f"there is no file {name}", returncode=WRONG_USAGE)
        kept = _kept_lines(options["list"])
        judged = wrong = 0
        for name in files:
            prefix = f"{name}: " if len(files) > 1 else ""
            for line, document in _documents_of(name):
                faults = judge(document)
                if options["list"] and not faults:
                    faults = judge_place(document, kept)
                for fault in faults:
                    self.stdout.write(f"{prefix}line {line}: {fault}")
                judged += 1
                wrong += bool(faults)
        if wrong:
            raise CommandError(f"{wrong} of {judged} records have faults.", returncode=FAULTS_FOUND)
        self.stderr.write(f"{judged} records, no fault.")


def _kept_lines(names: list[str]) -> dict[int, Line]:
    """The lines of these files of the public list, by their numbers."""
    kept: dict[int, Line] = {}
    for name in names:
        try:
            kept |= {line.number: line for line in read_list(Path(name).read_text("ascii"))}
        except (OSError, UnicodeError, ListError) as error:
            raise CommandError(f"{name} is no list: {error}", returncode=WRONG_USAGE) from None
    return kept


def _documents_of(name: str) -> Iterator[tuple[int, bytes]]:
    if name == STDIN:
        yield from documents(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as stream:
            yield from documents(stream)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}", returncode=WRONG_USAGE) from None


def documents(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every document with the number of the line it begins on: each line is one, or the whole file is a single one.

    No more than a few of the largest records are held in memory, whatever the file.
    """
    lines = _lines(stream)
    first = next(lines, (1, b""))
    second = next(lines, None)
    if second is None:
        yield first
        return
    if _is_json(first[1]):
        yield first
        yield second
        yield from lines
        return
    rest = stream.read(MOST_BYTES)
    parts = (first[1], second[1], rest)
    may_be_one = not second[1].lstrip().startswith(b"{")
    if may_be_one or (sum(map(len, parts)) <= MOST_BYTES and _is_json(b"".join(parts))):
        yield first[0], b"".join(parts)
        return
    yield first
    yield second
    rest += stream.readline(MOST_BYTES)
    yield from _lines(BytesIO(rest), second[0])
    yield from _lines(stream, second[0] + rest.count(b"\n"))


def _lines(stream: BinaryIO, number: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines after that number that are not blank; of one that is too long for a record no more than shows that."""
    while line := stream.readline(MOST_BYTES + 2):
        number += 1
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(MOST_BYTES)
        if line.strip() or len(line) > MOST_BYTES:
            yield number, line


def _is_json(line: bytes) -> bool:
    try:
        parse(line)
    except Misread as wrong:
        return wrong.code != "not_json"
    return True
