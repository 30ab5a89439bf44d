"""`verify` finds no fault in any record that the site gives out, of whatever game, by whatever way."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client

from accounts.models import User
from games import archive, dumps, packing
from games.management import telling
from games.models import Game, Seat
from games.rules.record import Record, read_record
from tests.games.finished import played
from tests.games.finishes import people
from tests.games.taking import whole

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

RULEBOOKS = ("fr", "es", "pt")
# How many of a hundred are ranked, and how many of the others have bots.
COMPANY = {"ranked": (100, 0), "casual": (0, 0), "bots": (0, 100)}


def game(number: int, mishap: str, rulebook: str, company: str) -> Record:
    """A game of this kind, of two to four players, live or relaxed by its number."""
    ranked, with_bots = COMPANY[company]
    with pytest.MonkeyPatch.context() as only:
        only.setattr(telling, "MISHAPS", ((mishap, 1),))
        only.setattr(telling, "RULEBOOKS", ((rulebook, 1),))
        only.setattr(telling, "PLAYERS", ((2 + number % 3, 1),))
        only.setattr(telling, "RELAXED", 100 * (number % 2))
        only.setattr(telling, "RANKED", ranked)
        only.setattr(telling, "WITH_BOTS", with_bots)
        told = telling.play(number)
    names = [""] * len(told.terms.seats)
    return read_record(json.dumps(packing.unpack(told.packed, "abcdefghjk", names)).encode())


@pytest.fixture
def games() -> list[Game]:
    """Some of every kind, in the log of last month's games; people, guests who have gone and bots sit there."""
    cast = people("Alice", "Bob", "Charlie", "Dora")
    month = datetime.now(UTC).replace(day=1, hour=12) - timedelta(days=15)
    kinds = product((mishap for mishap, _ in telling.MISHAPS), RULEBOOKS, COMPANY)
    found = []
    for number, (mishap, rulebook, company) in enumerate(kinds):
        record = game(number + number // 6, mishap, rulebook, company)
        humans = sum(seat.kind == "human" for seat in record.head.terms.seats)
        sitting: list[User] = [] if number % 5 == 4 else cast[:humans]
        found.append(played(record, sitting, ago=datetime.now(UTC) - month - timedelta(minutes=number)))
    return found


def assert_verified(folder: Path, records: list[bytes]) -> None:
    """All of them, by the command itself."""
    path = folder / "records.jsonl"
    path.write_bytes(b"\n".join(records))
    said = StringIO()
    call_command("verify", str(path), stderr=said)
    assert said.getvalue() == f"{len(records)} records, no fault.\n"


def test_of_every_kind_of_game_by_every_way(
    client: Client, games: list[Game], tmp_path: Path, settings: LazySettings
) -> None:
    settings.DUMPS = tmp_path / "dumps"
    settings.API_LIMIT = 1_000
    assert {(one.rulebook, one.pace, one.seats.count()) for one in games} >= set(
        product(RULEBOOKS, ("live", "relaxed"), (2, 3, 4))
    )
    assert {one.reason for one in games} >= {"deck_short", "abandoned", "void"}
    assert {one.ranked for one in games} == {one.markets_by == "draw" for one in games} == {True, False}
    assert {*Seat.objects.values_list("conduct", flat=True)} == {"finished", "left", "missed", "removed"}
    assert Seat.objects.filter(kind="bot").exists()
    ways = ("/games/{}/record.json", "/api/1/games/{}/record/")
    before = [client.get(way.format(one.code)).content for way in ways for one in games]
    assert_verified(tmp_path, before)
    assert archive.archive_finished() == len(games)
    after = [client.get(way.format(one.code)).content for way in ways for one in games]
    assert after == before
    (dump,) = dumps.dump_due(datetime.now(UTC).date())
    lines = gzip.decompress(whole(client.get(f"/data/{dump.name}"))).splitlines()
    assert len(lines) == len(games)
    assert_verified(tmp_path, lines)
