"""The log: all or nothing, in one order, and one bad append hurts nobody else."""

import asyncio
import json

import pytest
from channels.db import database_sync_to_async
from django.db import OperationalError, connection

from games import log
from games.models import Event, Game
from games.pulse import pulse
from tests.table.conftest import NewMatch

pytestmark = [pytest.mark.both_databases]


def append(game: Game, head: int = 0, count: int = 1, **changes: object) -> log.Append:
    lines = [log.Line(head + number, 0, json.dumps({"type": "x"})) for number in range(1, count + 1)]
    fields = {"lines": lines, "kept_by": None, "wake_at": None, "started_ms": 1_000, "ended_ms": None} | changes
    return log.Append(game_id=game.pk, head=head, **fields)  # type: ignore[arg-type]


async def written(game: Game) -> list[int]:
    def read() -> list[int]:
        return [line.seq for line in log.since(game.pk, 0).lines]

    return await database_sync_to_async(read)()


@pytest.fixture
async def games(new_match: NewMatch) -> list[Game]:
    """Never due: what is written to them here is nothing that a web process could read."""
    games = [(await new_match()).game for _ in range(3)]
    await Game.objects.filter(pk__in=[game.pk for game in games]).aupdate(wake_at=None)
    return games


async def test_what_is_appended_is_read_back_with_what_the_games_row_says(games: list[Game]) -> None:
    pen = log.Pen()
    await pen.append(append(games[0], count=2))
    await pen.append(append(games[0], head=2, started_ms=9_999))
    pen.close()
    tail = await database_sync_to_async(log.since)(games[0].pk, 1)
    assert [line.seq for line in tail.lines] == [2, 3]
    # The last append says when the game began: its time goes on from its last event, whatever became of the clock.
    assert (tail.started_ms, tail.kept_by) == (9_999, None)
    assert await database_sync_to_async(log.heads)([game.pk for game in games]) == {
        games[0].pk: 3,
        games[1].pk: 0,
        games[2].pk: 0,
    }


async def test_a_writer_that_is_behind_writes_nothing(games: list[Game]) -> None:
    pen = log.Pen()
    await pen.append(append(games[0]))
    for head in (0, 2):
        with pytest.raises(log.Behind):
            await pen.append(append(games[0], head=head))
    pen.close()
    assert await written(games[0]) == [1]


async def test_nothing_is_appended_to_a_game_that_has_ended_or_is_gone(games: list[Game]) -> None:
    pen = log.Pen()
    await pen.append(append(games[0], ended_ms=2_000))
    with pytest.raises(log.Behind):
        await pen.append(append(games[0], head=1))
    gone = Game(pk=games[1].pk)
    await games[1].adelete()
    with pytest.raises(log.Behind):
        await pen.append(append(gone))
    with pytest.raises(log.Gone):
        await database_sync_to_async(log.since)(gone.pk, 0)
    pen.close()


async def test_of_two_writers_in_one_moment_exactly_one_writes(games: list[Game]) -> None:
    pens = [log.Pen(), log.Pen()]
    for head in range(30):
        answers = await asyncio.gather(
            *(pen.append(append(games[0], head=head)) for pen in pens), return_exceptions=True
        )
        assert sorted(str(type(answer)) for answer in answers) == sorted([str(type(None)), str(log.Behind)])
    for pen in pens:
        pen.close()
    assert await written(games[0]) == list(range(1, 31))


async def test_an_append_that_does_not_fit_takes_no_other_with_it(games: list[Game]) -> None:
    await database_sync_to_async(Event.objects.create)(game=games[1], seq=1, at=0, body="{}")
    pen = log.Pen()
    answers = await asyncio.gather(*(pen.append(append(game)) for game in games), return_exceptions=True)
    pen.close()
    assert answers[0] is answers[2] is None
    assert isinstance(answers[1], log.Unwritten)
    assert await written(games[0]) == await written(games[2]) == [1]


async def test_a_command_id_of_one_seat_is_kept_once(games: list[Game]) -> None:
    pen = log.Pen()
    first = [log.Line(1, 0, "{}", 0, "once")]
    await pen.append(append(games[0], lines=first))
    with pytest.raises(log.Unwritten):
        await pen.append(append(games[0], head=1, lines=[log.Line(2, 0, "{}", 0, "once")]))
    await pen.append(append(games[0], head=1, lines=[log.Line(2, 0, "{}", 1, "once")]))
    pen.close()
    assert await written(games[0]) == [1, 2]


async def test_the_writer_survives_whatever_goes_wrong(games: list[Game], monkeypatch: pytest.MonkeyPatch) -> None:
    pen, faults = log.Pen(), pulse.faults
    for error in (OperationalError("disk full"), RuntimeError("nobody thought of this")):

        def fail(_: object, error: Exception = error) -> set[int]:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(log, "write", fail)
            with pytest.raises(log.Unwritten):
                await pen.append(append(games[0]))
    await pen.append(append(games[0]))
    pen.close()
    assert await written(games[0]) == [1]
    assert pulse.faults == faults + 2


async def test_what_waits_is_written_before_the_pen_is_put_down(games: list[Game]) -> None:
    pen = log.Pen()
    waiting = [pen.append(append(game)) for game in games]
    await asyncio.to_thread(pen.close)
    await asyncio.gather(*waiting)
    assert [await written(game) for game in games] == [[1], [1], [1]]


@pytest.mark.django_db(transaction=True)
async def test_a_commit_is_on_the_disk_when_it_is_answered() -> None:
    def settings() -> tuple[object, ...]:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SHOW synchronous_commit")
            else:
                cursor.execute("PRAGMA synchronous")
            return tuple(cursor.fetchone())

    # SQLite's 2 is FULL.
    assert await database_sync_to_async(settings)() in [("on",), (2,)]
