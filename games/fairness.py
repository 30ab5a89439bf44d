"""The public list: one line for each game, written when its shares are fixed, each line hashed with those before it.

Who locks what: `lock` holds the list until its caller's transaction ends.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime

from django.db import connection

from games import clock
from games.models import FairnessLine
from games.rules.fairness import FIRST_HEAD, Line, head_after, heading

# Any number that no other code of this site locks.
LOCK = 20_261_119
# So many lines are read at once.
AT_ONCE = 2_000


def lock() -> None:
    """Be the only writer of the list; SQLite's transactions are that anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def append(digest: str) -> FairnessLine:
    """Write this game's line, under `lock` and in the transaction that fixes what the line stands for."""
    before = last_line()
    now = datetime.fromtimestamp(clock.database_now() / 1000, UTC)
    return FairnessLine.objects.create(
        number=before.number + 1 if before else 1,
        at=now,
        # A file that is complete stays complete, even when the clock is set back.
        day=max(before.day, now.date()) if before else now.date(),
        digest=digest,
        head=head_after(before.head if before else FIRST_HEAD, digest),
    )


def last_line() -> FairnessLine | None:
    return FairnessLine.objects.order_by("-number").first()


def first_line() -> FairnessLine | None:
    return FairnessLine.objects.order_by("number").first()


def has_line(number: int) -> bool:
    return FairnessLine.objects.filter(number=number).exists()


def day_as_text(day: date) -> Iterator[str]:
    """The file of a day in pieces: a heading, then a line for each game; of a day without a game the heading alone."""
    of_day = FairnessLine.objects.filter(day=day).order_by("number")
    first = of_day.values_list("number", flat=True).first()
    before = FairnessLine.objects.filter(day__lt=day).order_by("-day", "-number").first() if first is None else None
    number = (before.number if before else 0) if first is None else first - 1
    yield _heading(str(day), number)
    while rows := list(of_day.filter(number__gt=number)[:AT_ONCE]):
        number = rows[-1].number
        yield _text(rows)


def lines_as_text(first: int, most: int) -> str:
    """So many lines from that number on, in the form of a file."""
    rows = FairnessLine.objects.filter(number__gte=first).order_by("number")[:most]
    return _heading(f"from-{first}", first - 1) + _text(list(rows))


def _heading(name: str, number: int) -> str:
    """What a file begins with: where the list was before it."""
    head = FairnessLine.objects.filter(number=number).values_list("head", flat=True).first() or FIRST_HEAD
    return heading(name, number, head) + "\n"


def _text(rows: list[FairnessLine]) -> str:
    return "".join(f"{Line(row.number, row.digest, row.head)}\n" for row in rows)
