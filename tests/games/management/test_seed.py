"""`manage.py seed` fills an empty database with what a busy site has: every game of it is a real one."""

import json
from io import StringIO

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from games import archive, careers, packing, troubles
from games.bench import pages
from games.management import seeding, telling
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
    # Nothing was compared with anything yet: there is nothing wrong.
    assert not [one.what for one in troubles.look() if one.wrong and one.what.startswith("Differences")]
    assert careers.recount() == 0
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


@pytest.mark.slow
def test_what_happens_at_a_busy_site_happens_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of two to four, live, relaxed, ranked, with bots; leavers, void games, guests, people who are gone."""
    monkeypatch.setattr(telling, "MISHAPS", (("", 2), ("leaves", 1), ("void", 1), ("away", 1)))
    monkeypatch.setattr(telling, "RANKED", 60)
    monkeypatch.setattr(seeding, "GONE", 3)
    monkeypatch.setattr(seeding, "VOIDED", 100)
    call_command("seed", "--games", "200", "--people", "20", "--real", "30")
    seats = Seat.objects.values_list
    assert {*seats("kind", "strength")} == {("human", ""), ("bot", "apprentice")}
    assert {*seats("conduct", flat=True)} == {"finished", "left"}
    assert {*seats("number", flat=True)} == {0, 1, 2, 3}
    games = Game.objects.values_list
    assert {*games("reason", flat=True)} >= {"deck_short", "void"}
    assert {*games("pace", flat=True)} == {"live", "relaxed"}
    assert {*games("listed", flat=True)} == {True, False}
    assert {*games("markets_by", flat=True)} == {"draw", "owner"}
    assert {*games("rated", flat=True)} >= {"", "rated", "void", "fault"}
    assert Game.objects.filter(lost_ms__gt=0).exists()
    assert Game.objects.exclude(voided=None).exists()
    guests, gone = User.objects.filter(is_guest=True), User.objects.exclude(deleted_at=None)
    assert Seat.objects.filter(user__in=guests).exists()
    assert not Seat.objects.filter(user__in=guests, game__ranked=True).exists()
    assert Seat.objects.filter(user__in=gone).exists()
    call_command("ratings", "--recount", stdout=StringIO(), stderr=StringIO())
    assert careers.recount() == 0
    for game in Game.objects.all():
        record = archive.record_of(game)
        assert record is not None
        kinds = game.seats.order_by("number").values_list("kind", flat=True)
        assert [seat["kind"] for seat in record["seats"]] == list(kinds)


@pytest.mark.parametrize("mishap", [mishap for mishap, _ in telling.MISHAPS])
def test_every_game_that_is_told_again_was_really_played(mishap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "MISHAPS", ((mishap, 1),))
    for number in range(3):
        told = telling.play(number)
        people = ["Alice"] * len(told.standings)
        assert judge(json.dumps(packing.unpack(told.packed, "abcdefghjk", people))) == []
        assert (told.lost_ms > 0) == (mishap == "away" and told.terms.pace == "live")
        if mishap != "away":
            first = {"leaves": "left", "stays_away": "missed", "removed": "removed"}.get(mishap, "finished")
            assert list(told.conduct) == [first] + ["finished"] * (len(people) - 1)
        assert (told.reason == "void") == (mishap == "void")


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
    with pytest.raises(CommandError, match="Fewer than 8 people"):
        seed(people=3)
    assert Game.objects.count() == 1


class Slowing(pages.Visit):
    """Somebody who waits long once in three visits."""

    def ms(self) -> float:
        self.get()
        return float(next(self.times))

    times = iter((500, 5, 5, 7, 7, 700))


def test_every_visit_to_a_page_counts_however_fast_the_others_were() -> None:
    visits: list[pages.Visit] = [Slowing(Client(), "/about/") for _ in range(2)]
    measured = pages._measure(visits)
    assert measured.ms == [500, 5, 5, 7, 7, 700]
    assert measured.slowest == (700, visits[1])
    assert pages._figures("about", measured, explain=False)["about_p95_ms"] > 500


@pytest.mark.slow
def test_pages_are_measured_with_how_the_database_answers(capsys: pytest.CaptureFixture[str]) -> None:
    seed()
    out = StringIO()
    call_command("bench", "pages", "--sample", "4", "--plans", stdout=out, stderr=StringIO())
    figures = json.loads(out.getvalue())
    assert figures["history_queries"] <= 5
    assert figures["replay_p95_ms"] > 0
    assert all(figures[name] > 0 for name in pages.AIMS)
    assert not Session.objects.exists()
    said = capsys.readouterr().err
    assert "visits" in said
    assert "slowest" in said
    assert "SELECT" in said
