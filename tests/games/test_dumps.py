"""No month of records is lost, none lacks a game that was mended, and no file names anybody."""

import gzip
import json
import os
import stat
from datetime import UTC, date, datetime, time, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from accounts import closing
from accounts.models import User
from games import archive, dumps, packing
from games.models import Game, Record, Seat
from games.tasks import dump_records
from tests.games.finished import finished

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.DUMPS = tmp_path
    return tmp_path


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_user(name) for name in ("Irma Vep", "Arsène")]


def month_ago(months: int) -> date:
    day = datetime.now(UTC).date()
    for _ in range(months):
        day = day.replace(day=1) - timedelta(days=1)
    return day.replace(day=1)


def played(people: list[User], months: int, name: str = "fr-2") -> Game:
    ended = datetime.combine(month_ago(months) + timedelta(days=9), time(), UTC)
    return finished(name, people, ago=datetime.now(UTC) - ended)


def months() -> list[str]:
    return [dump.month for dump in dumps.all_dumps()]


def games_in(month: date) -> set[str]:
    return {json.loads(line)["id"] for line in gzip.decompress(_path(month).read_bytes()).splitlines()}


def _path(month: date) -> Path:
    dump = dumps.find(f"midnight-{month:%Y-%m}.jsonl.gz")
    assert dump is not None
    return dump.path


def test_months_without_a_worker_are_made_up_for_some_in_each_run(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "MOST", 2)
    dump_records()
    assert months() == []
    for ago in (0, 1, 2, 4, 5):
        played(people, ago)
    archive.archive_finished()
    dump_records()
    assert months() == [f"{month_ago(ago):%Y-%m}" for ago in (1, 2)]
    dump_records()
    assert months() == [f"{month_ago(ago):%Y-%m}" for ago in (1, 2, 4, 5)]
    assert dumps.dump_due(datetime.now(UTC).date()) == []


def test_a_dump_is_for_everybody_whatever_else_is_made(people: list[User], settings: LazySettings) -> None:
    settings.DUMPS = settings.DUMPS / "dumps"
    archive.archive(played(people, 1).pk)
    before = os.umask(0o077)
    try:
        dump_records()
    finally:
        os.umask(before)
    assert stat.S_IMODE(settings.DUMPS.stat().st_mode) == 0o755
    assert stat.S_IMODE(_path(month_ago(1)).stat().st_mode) == 0o644


def test_a_month_that_is_not_archived_holds_no_other_up(people: list[User]) -> None:
    late = played(people, 1)
    archive.archive(played(people, 2).pk)
    dump_records()
    assert months() == [f"{month_ago(2):%Y-%m}"]
    archive.archive(late.pk)
    dump_records()
    assert months() == [f"{month_ago(ago):%Y-%m}" for ago in (1, 2)]


def test_a_month_is_written_again_once_its_parked_game_was_mended(people: list[User]) -> None:
    good, parked, other = played(people, 2), played(people, 2), played(people, 1)
    points = parked.seats.get(number=0).points
    Seat.objects.filter(game=parked, number=0).update(points=99)
    archive.archive_finished()
    dump_records()
    assert games_in(month_ago(2)) == {good.code}
    untouched = _path(month_ago(1)).stat().st_mtime_ns
    Seat.objects.filter(game=parked, number=0).update(points=points)
    call_command("archive", parked.code, stderr=StringIO())
    dump_records()
    assert games_in(month_ago(2)) == {good.code, parked.code}
    assert games_in(month_ago(1)) == {other.code}
    assert _path(month_ago(1)).stat().st_mtime_ns == untouched
    assert dumps.dump_due(datetime.now(UTC).date()) == []


def test_what_is_archived_while_a_file_grows_is_in_the_next(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = played(people, 1)
    archive.archive(game.pk)
    unpack = packing.unpack

    def slow(packed: bytes, code: str, names: list[str]) -> dict[str, Any]:
        Record.objects.filter(game=game).update(at=datetime.now(UTC))
        return unpack(packed, code, names)

    with monkeypatch.context() as busy:
        busy.setattr(packing, "unpack", slow)
        assert dumps.dump_month(month_ago(1)) is not None
    assert dumps.dump_month(month_ago(1)) is not None
    assert dumps.dump_month(month_ago(1)) is None


def test_a_dump_made_after_a_deletion_names_nobody_and_says_what_one_made_before_it_said(people: list[User]) -> None:
    archive.archive(played(people, 1).pk)
    path = _made(month_ago(1))
    before = gzip.decompress(path.read_bytes())
    path.unlink()
    closing.delete(people[0])
    after = gzip.decompress(_made(month_ago(1)).read_bytes())
    people[0].refresh_from_db()
    for name in ("Irma Vep", people[0].name, "Arsène"):
        assert name not in after.decode("unicode_escape")
    assert after == before


def _made(month: date) -> Path:
    dump_records()
    return _path(month)
