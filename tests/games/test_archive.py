"""Finished games become records: once, whole, without names, and never where a replay finds a fault."""

import json
import zlib
from datetime import timedelta
from functools import partial
from io import StringIO

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections

from accounts import closing
from accounts.models import User
from games import archive, log, rules, tables, troubles
from games.figures import figures_of
from games.models import Event, Figures, Game, Record, Seat
from games.rules.judge import judge
from games.tasks import archive_finished
from tests.games import power
from tests.games.finished import NAMES, RECORDS, finished, kept

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

SOON = timedelta(minutes=1)


def given_out(game: Game) -> dict[str, object]:
    game.refresh_from_db()
    record = archive.record_of(game)
    assert record is not None
    return record


@pytest.mark.parametrize("name", NAMES)
def test_a_finished_game_becomes_a_record_without_fault_and_its_rows_go(name: str) -> None:
    game = finished(name)
    before = log.since(game.pk, 0)
    assert archive.archive_finished() == 1
    assert not Event.objects.filter(game=game).exists()
    after = log.since(game.pk, 0)
    assert [(line.seq, line.at, json.loads(line.body)) for line in after.lines] == [
        (line.seq, line.at, json.loads(line.body)) for line in before.lines
    ]
    assert log.since(game.pk, 20).lines == after.lines[20:]
    assert log.since(game.pk, len(after.lines)).lines == []
    record = given_out(game)
    assert judge(json.dumps(record)) == []
    assert record["id"] == game.code
    assert record["result"] == json.loads((RECORDS / f"{name}.jsonl").read_text())["result"]


@pytest.mark.parametrize("name", ["fr-2", "es-3", "fr-4-bag-opened-empty", "es-2-resumed-and-left"])
def test_the_figures_in_columns_are_those_of_the_games_events(name: str) -> None:
    game, record = finished(name), kept(name)
    archive.archive(game.pk)
    counted = figures_of(record.head.terms, record.events)
    rows = Figures.objects.filter(seat__game=game).order_by("seat__number").values()
    assert len(rows) == len(counted.seats)
    for number, row in enumerate(rows):
        del row["seat_id"]
        assert row == counted.seats[number].columns(rules.score(number, counted.state.players[number]))


def test_the_same_record_is_given_out_before_and_after() -> None:
    game = finished("es-3")
    before = given_out(game)
    archive.archive(game.pk)
    assert given_out(game) == before


def test_a_second_run_does_nothing() -> None:
    game = finished("fr-2")
    archive_finished()
    packed = bytes(Record.objects.get().packed)
    archive_finished()
    assert not archive.archive(game.pk)
    assert bytes(Record.objects.get().packed) == packed
    assert Figures.objects.count() == 2


def test_a_game_that_runs_or_has_just_ended_is_left_alone() -> None:
    running, fresh = finished("fr-2"), finished("fr-2", ago=SOON)
    Game.objects.filter(pk=running.pk).update(ended=None)
    assert archive.archive_finished() == 0
    assert not archive.archive(running.pk)
    running.refresh_from_db()
    assert archive.record_of(running) is None
    assert judge(json.dumps(given_out(fresh))) == []


def test_a_game_whose_replay_fails_is_parked_with_an_alarm_and_keeps_its_rows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    game, other = finished("fr-2"), finished("es-3")
    rows = Event.objects.filter(game=game)
    rows.filter(body__contains='"lifted"').order_by("seq").first().delete()  # type: ignore[union-attr]
    count = rows.count()
    assert archive.archive_finished() == 1
    assert rows.count() == count
    game.refresh_from_db()
    other.refresh_from_db()
    assert (game.kept_as, other.kept_as) == ("parked", "record")
    assert game.record.faults
    assert archive.record_of(game) is None
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert archive.archive_finished() == 0
    assert len(caplog.records) == 1


@pytest.mark.parametrize("breaks", ["judge", "as_json", "figures_of"])
def test_whatever_breaks_over_one_game_parks_it_and_keeps_no_other_from_its_record(
    breaks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, other = finished("fr-2", ago=timedelta(hours=2)), finished("es-3")
    work = getattr(archive, breaks)

    def fail_once(*args: object) -> object:
        monkeypatch.setattr(archive, breaks, work)
        raise ZeroDivisionError

    monkeypatch.setattr(archive, breaks, fail_once)
    assert archive.archive_finished() == 1
    game.refresh_from_db()
    other.refresh_from_db()
    assert (game.kept_as, other.kept_as) == ("parked", "record")
    assert "ZeroDivisionError" in game.record.faults


def test_a_database_that_fails_over_one_game_parks_nothing_and_the_next_run_finds_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    game, _other = finished("fr-2", ago=timedelta(hours=2)), finished("es-3")
    find = archive._wrong_rows

    def fail(asked: Game, result: rules.Result) -> list[str]:
        if asked == game:
            raise OperationalError
        return find(asked, result)

    monkeypatch.setattr(archive, "_wrong_rows", fail)
    assert archive.archive_finished() == 1
    game.refresh_from_db()
    assert game.kept_as == "log"
    assert caplog.text.count(f"Game {game.pk} could not be seen to") == 1
    (found,) = [one for one in troubles.look() if one.what == "Finished games that are no records yet"]
    assert (found.wrong, found.games) == (True, [game.code])
    monkeypatch.setattr(archive, "_wrong_rows", find)
    assert archive.archive_finished() == 1


def test_a_parked_game_is_archived_when_somebody_asks_after_it_was_mended() -> None:
    game = finished("fr-2")
    line = Event.objects.filter(game=game, body__contains='"lifted"').order_by("seq").first()
    assert line is not None
    kept_line = {"game": game, "seq": line.seq, "at": line.at, "body": line.body}
    line.delete()
    archive.archive_finished()
    Event.objects.create(**kept_line)
    assert archive.archive(game.pk)
    assert judge(json.dumps(given_out(game))) == []


def test_a_game_whose_rows_say_something_else_than_its_replay_is_parked() -> None:
    game, other = finished("fr-2"), finished("es-3")
    Seat.objects.filter(game=game, number=0).update(points=99)
    Game.objects.filter(pk=other.pk).update(reason="abandoned")
    assert archive.archive_finished() == 0
    assert "99" in game.record.faults
    assert "abandoned" in other.record.faults


def test_parked_games_are_named_and_tried_again_at_the_command_line() -> None:
    game = finished("fr-2")
    points = game.seats.get(number=0).points
    Seat.objects.filter(game=game, number=0).update(points=99)
    archive.archive_finished()
    out = StringIO()
    for codes in ([], [game.code]):
        with pytest.raises(CommandError, match="1 games make no record"):
            call_command("archive", *codes, stdout=out)
    assert out.getvalue().count(f"{game.code}: Seat 0") == 2
    Seat.objects.filter(game=game, number=0).update(points=points)
    call_command("archive", game.code, stderr=StringIO())
    assert judge(json.dumps(given_out(game))) == []
    with pytest.raises(CommandError, match="no game nosuchgame"):
        call_command("archive", "nosuchgame")


def test_a_record_is_kept_without_names_and_given_out_with_those_of_today() -> None:
    people = [User.objects.create_user(name) for name in ("Alice", "Bob")]
    game = finished("fr-2", people)
    archive.archive_finished()
    assert b'"name":""' in zlib.decompress(game.record.packed)
    assert b"Alice" not in zlib.decompress(game.record.packed)
    assert [seat["name"] for seat in given_out(game)["seats"]] == ["Alice", "Bob"]  # type: ignore[attr-defined]
    closing.delete(people[0])
    former, bob = (seat["name"] for seat in given_out(game)["seats"])  # type: ignore[attr-defined]
    assert former.startswith("Former ")
    assert bob == "Bob"
    people[1].delete()
    assert given_out(game)["seats"][1]["name"] == "Former guest"  # type: ignore[index]


async def test_a_late_page_finds_an_archived_game_as_it_ended() -> None:
    game = await sync_to_async(finished)("fr-2")
    await sync_to_async(archive.archive_finished)()
    table = await (await tables.here()).table(game.code)
    assert table is not None
    state = await table.look()
    await tables.stop_here()
    # This thread is another one: nobody else would end its line.
    await sync_to_async(connections.close_all)()
    assert state is not None
    assert state.phase == "over"
    assert state.seq == len(kept("fr-2").events)


@pytest.mark.slow
def test_killed_at_any_step_it_loses_nothing() -> None:
    game = finished("fr-2")
    before = [line.seq for line in log.since(game.pk, 0).lines]
    steps = 0
    while not power.survives(partial(archive.archive, game.pk), steps):
        assert [line.seq for line in log.since(game.pk, 0).lines] == before
        whole = (Record.objects.count(), Figures.objects.count(), Event.objects.count())
        assert whole in [(0, 0, len(before)), (1, 2, 0)]
        steps += 1
    assert steps > 3
    assert (Record.objects.count(), Figures.objects.count(), Event.objects.count()) == (1, 2, 0)
    power.hang_up()


@pytest.mark.slow
def test_several_at_once_archive_each_game_once() -> None:
    games = [finished(name) for name in NAMES[:12]]
    power.at_once(*[archive.archive_finished] * 4)
    assert Record.objects.exclude(packed=None).count() == len(games)
    assert not Event.objects.exists()
    assert Figures.objects.count() == sum(game.seats.count() for game in games)
    power.hang_up()
