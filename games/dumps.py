"""All public records of a month as one file of compressed JSON lines, for people who study the game.

A file that was given out cannot be called back, so it has pseudonyms where a record has names: the same one for the
same account in every file, worked out with SECRET_KEY, so that with another key they are others. No file names anybody.
It hides nobody who is here, though: a line keeps its game's id, and the read API says who played that. Of a deleted
account the API has a pseudonym too.
"""

import base64
import contextlib
import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db.models import Min, Q
from django.utils.crypto import salted_hmac

from games import packing
from games.models import Game, Record, Seat

UNFINISHED = ".unfinished-"
NAME = re.compile(r"midnight-(\d{4}-\d{2})\.jsonl\.gz")
# So many records are held in memory at once.
AT_ONCE = 200
# So many files are written in one run.
MOST = 3
# A file that has been growing for so long has nobody who writes it.
GIVEN_UP = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Dump:
    """A file that is there."""

    month: str
    path: Path
    size: int
    made: datetime

    @property
    def name(self) -> str:
        return self.path.name

    @classmethod
    def at(cls, path: Path) -> Self | None:
        """The whole dump at this place, if there is one."""
        found = NAME.fullmatch(path.name)
        try:
            known = path.stat()
        except OSError:
            return None
        return cls(found[1], path, known.st_size, datetime.fromtimestamp(known.st_mtime, UTC)) if found else None


def all_dumps() -> list[Dump]:
    """Every month that is there, the latest first."""
    folder = Path(settings.DUMPS)
    found = (Dump.at(path) for path in (folder.iterdir() if folder.is_dir() else ()))
    return sorted((dump for dump in found if dump), key=lambda dump: dump.month, reverse=True)


def find(name: str) -> Dump | None:
    return Dump.at(Path(settings.DUMPS) / name) if NAME.fullmatch(name) else None


def dump_due(today: date) -> list[Dump]:
    """Write some of the files that are due: of every month before this day's with a game in it, the latest first.

    The latest month comes first because it is the one that is asked for: an old one that breaks holds nothing new up.
    """
    _clear_out()
    first = Game.objects.filter(listed=True).aggregate(first=Min("ended"))["first"]
    made: list[Dump] = []
    month = _before(today)
    while first and month >= first.date().replace(day=1) and len(made) < MOST:
        dump = dump_month(month)
        made += [dump] if dump else []
        month = _before(month)
    return made


def dump_month(month: date) -> Dump | None:
    """Write this month's records; None where nothing is to do, or not all of them are archived yet.

    A file that is there is written again where a record of its month was made later. Two at once write the same file,
    each beside it first: it is never half there.
    """
    path = Path(settings.DUMPS) / f"midnight-{month:%Y-%m}.jsonl.gz"
    games = _games_of(month)
    if _is_whole(Dump.at(path), games) or not games.exists() or games.filter(kept_as=Game.Kept.LOG).exists():
        return None
    if not path.parent.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        # For nginx, which gives the files out: they are public, unlike the other files of this process.
        path.parent.chmod(0o755)
    began = datetime.now(UTC).timestamp()
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
    try:
        with os.fdopen(handle, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
            for record in _records(games):
                packed.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
        Path(unfinished).chmod(0o644)
        # What is archived while the file grows may be missing in it.
        os.utime(unfinished, (began, began))
        Path(unfinished).replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
    return Dump.at(path)


def _clear_out() -> None:
    """Throw away what workers left half written when they were killed."""
    oldest = (datetime.now(UTC) - GIVEN_UP).timestamp()
    for path in Path(settings.DUMPS).glob(f"{UNFINISHED}*"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def _is_whole(dump: Dump | None, games: Any) -> bool:
    """Whether the file is there and none of these games became a record after it: a parked one that was mended."""
    if dump is None:
        return False
    return not Record.objects.filter(game__in=games, at__gt=dump.made).exclude(packed=None).exists()


def _before(day: date) -> date:
    """The first day of the month before this day's."""
    return (day.replace(day=1) - timedelta(days=1)).replace(day=1)


def _games_of(month: date) -> Any:
    following = month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)
    start, end = (datetime.combine(day, time(), UTC) for day in (month, following))
    return Game.objects.filter(listed=True, ended__gte=start, ended__lt=end)


def _records(games: Any) -> Iterator[dict[str, Any]]:
    """The records in the order of the games' ends."""
    archived = games.filter(kept_as=Game.Kept.RECORD).order_by("ended", "pk")
    place: tuple[datetime, int] | None = None
    while True:
        rest = archived
        if place:
            rest = archived.filter(Q(ended__gt=place[0]) | Q(pk__gt=place[1]), ended__gte=place[0])
        keys = list(rest.values_list("ended", "pk", "code")[:AT_ONCE])
        if not keys:
            return
        place = keys[-1][:2]
        ids = {pk: code for _, pk, code in keys}
        records = Record.objects.filter(game__in=ids).exclude(packed=None)
        packed = {pk: bytes(content or b"") for pk, content in records.values_list("game", "packed")}
        names: dict[int, list[str]] = {pk: [] for pk in ids}
        for seat in Seat.objects.filter(game__in=ids).order_by("game", "number"):
            names[seat.game_id].append(pseudonym(seat))
        yield from (packing.unpack(packed[pk], code, names[pk]) for pk, code in ids.items())


def pseudonym(seat: Seat) -> str:
    """What stands for whoever sat here: a bot's strength, or the account's mark."""
    if seat.kind == Seat.Kind.BOT:
        return seat.strength
    if seat.user_id is None:
        return "guest"
    mark = salted_hmac("games.dumps", str(seat.user_id), algorithm="sha256").digest()
    return "player-" + base64.b32encode(mark[:10]).decode().lower()
