"""`manage.py seed` fills an empty database with what a busy site has: every game of it is a real one."""

import json
from io import StringIO

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from games import archive
from games.bench import pages
from games.models import Figures, Game, RatingEvent, Record, Seat
from games.rules.judge import judge
from tests.games.finished import finished

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def seed(games: int = 60, people: int = 12) -> None:
    call_command("seed", "--games", str(games), "--people", str(people), "--real", "5")


def test_as_many_games_and_people_as_were_asked_for_with_all_that_belongs_to_them(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    seed()
    assert (Game.objects.count(), User.objects.count(), Record.objects.count()) == (60, 12, 60)
    assert Seat.objects.count() == Figures.objects.count()
    assert "60 of 60" in capsys.readouterr().err
    for game in Game.objects.order_by("?")[:5]:
        record = archive.record_of(game)
        assert record is not None
        assert judge(json.dumps(record)) == []
        assert record["id"] == game.code
        assert [score["total"] for score in record["result"]["scores"]] == [
            seat.points for seat in game.seats.order_by("number")
        ]
        assert client.get(f"/games/{game.code}/story/").status_code == 200
    assert client.get("/history/").status_code == 200


def test_every_rating_is_what_the_games_say() -> None:
    seed()
    assert RatingEvent.objects.count() > 60
    call_command("ratings", "--recount", stdout=StringIO(), stderr=StringIO())


def test_who_comes_next_gets_an_id_that_nobody_has() -> None:
    seed()
    person = User.objects.create_user("Alice")
    assert person.pk > 12
    assert finished("fr-2", [person]).pk > 60
    assert (User.objects.count(), Game.objects.count()) == (13, 61)


def test_a_database_that_is_not_empty_stays_as_it_is() -> None:
    finished("fr-2")
    with pytest.raises(CommandError, match="not empty"):
        seed()
    assert Game.objects.count() == 1


def test_pages_are_measured_with_how_the_database_answers(capsys: pytest.CaptureFixture[str]) -> None:
    seed()
    out = StringIO()
    call_command("bench", "pages", "--sample", "4", "--plans", stdout=out, stderr=StringIO())
    figures = json.loads(out.getvalue())
    assert figures["history_queries"] <= 5
    assert all(figures[name] > 0 for name in pages.AIMS)
    assert not Session.objects.exists()
    said = capsys.readouterr().err
    assert "slowest" in said
    assert "SELECT" in said
