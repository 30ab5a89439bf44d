"""Careers: each game counts once for everybody who played it, whatever runs twice, late, at once or is killed."""

from datetime import timedelta
from functools import partial
from importlib import import_module
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command

from accounts.models import User
from games import archive, careers, ladder, troubles
from games.models import Career, Game, Opponent, RatingEvent, Seat
from games.tasks import count_finished, recount_careers
from tests.games import power
from tests.games.finished import finished
from tests.games.finishes import finish, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def cast() -> list[User]:
    return people("Alice", "Bob", "Charlie", "Dora")


def everything() -> list[dict[str, Any]]:
    return [*Career.objects.order_by("pk").values(), *Opponent.objects.order_by("user", "opponent").values()]


def met(person: User) -> dict[str, tuple[int, int, int]]:
    rows = Opponent.objects.filter(user=person).select_related("opponent")
    return {row.opponent.name: (row.games, row.ahead, row.behind) for row in rows}


def test_a_result_counts_for_everybody_who_has_an_account(cast: list[User]) -> None:
    alice, bob, charlie, _ = cast
    finish([alice, bob, charlie])
    finish([bob, alice], ranked=False, finish_seq=None)
    finish([alice, None, charlie], ranked=False, finish_seq=None)
    assert careers.count_finished() == 3
    row = Career.objects.get(pk=alice.pk)
    assert (row.games, row.won, row.most_points, row.finished) == (3, 2, 39, 3)
    assert met(alice) == {"Bob": (2, 1, 1), "Charlie": (2, 2, 0)}
    assert met(charlie) == {"Alice": (2, 0, 2), "Bob": (1, 0, 1)}


def test_a_walkover_of_no_round_is_no_result(cast: list[User]) -> None:
    alice, bob, *_ = cast
    finish([alice, bob], rounds=0)
    count_finished()
    row = Career.objects.get(pk=alice.pk)
    assert (row.games, row.won, row.most_points, row.finished) == (0, 0, 0, 1)
    assert met(alice) == {}
    assert careers.recount() == 0


def test_a_game_counts_once_and_not_before_its_end(cast: list[User]) -> None:
    game = finish(cast)
    running = finish(cast)
    Game.objects.filter(pk=running.pk).update(ended=None)
    count_finished()
    before = everything()
    count_finished()
    assert not careers.count(game.pk)
    assert not careers.count(running.pk)
    assert everything() == before
    assert Career.objects.get(pk=cast[0].pk).games == 1


@pytest.mark.parametrize("name", ["fr-4-bag-opened-empty", "es-2-resumed-and-left", "fr-2-void-by-staff"])
def test_figures_count_whether_the_record_or_the_result_comes_first(name: str) -> None:
    both = [people(*names) for names in (("Alice", "Bob"), ("Charlie", "Dora"))]
    games = [finished(name, some) for some in both]
    archive.archive(games[0].pk)
    count_finished()
    archive.archive(games[1].pk)
    archive.archive(games[1].pk)
    rows = [[Career.objects.filter(pk=one.pk).values(*careers.COLUMNS[1:]).get() for one in some] for some in both]
    assert rows[0] == rows[1]
    for seat in Seat.objects.filter(game=games[0], user__isnull=False).select_related("figures"):
        row = Career.objects.get(pk=seat.user_id)
        placed = seat.place is not None
        assert row.completed == (seat.figures.completed if placed else 0)
        assert 3 * row.uniques == (seat.figures.uniques if placed else 0)
        assert not seat.figures.plan or getattr(row, seat.figures.plan) == 1
        assert getattr(row, seat.conduct) == 1
    assert careers.recount() == 0


def test_a_game_that_cannot_be_counted_keeps_no_other_from_it_and_staff_finds_it(
    cast: list[User], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, *_ = [finish(cast[:2], ranked=False, finish_seq=None, kept_as="record") for _ in range(3)]
    add = careers._add_result

    def refuse(seat: Seat) -> None:
        if seat.game_id == bad.pk:
            raise ZeroDivisionError
        add(seat)

    monkeypatch.setattr(careers, "_add_result", refuse)
    assert careers.count_finished() == 2
    assert Career.objects.get(pk=cast[0].pk).games == 2
    assert caplog.text.count(f"Game {bad.pk} could not be seen to") == 1
    (found,) = [finding for finding in troubles.look() if finding.games]
    assert (found.what, found.games) == ("Finished games that no career counts yet", [bad.code])
    monkeypatch.setattr(careers, "_add_result", add)
    assert careers.count_finished() == 1


def test_a_void_game_counts_for_conduct_alone(cast: list[User]) -> None:
    finish(cast[:2], reason="void", ranked=False, finish_seq=None)
    count_finished()
    row = Career.objects.get(pk=cast[0].pk)
    assert (row.games, row.won, row.most_points, row.finished) == (0, 0, 0, 1)
    assert not Opponent.objects.exists()


def test_a_game_that_is_taken_out_of_the_ratings_keeps_its_result(cast: list[User]) -> None:
    game = finish(cast[:2])
    count_finished()
    before = everything()
    ladder.void_game(game.pk, None)
    ladder.replay()
    assert careers.recount() == 0
    assert everything() == before


def test_an_account_that_is_gone_whole_is_nobodys_opponent(cast: list[User]) -> None:
    finish(cast[:3], ranked=False, finish_seq=None)
    count_finished()
    cast[1].delete()
    assert met(cast[0]) == {"Charlie": (1, 1, 0)}
    assert careers.recount() == 0


def test_a_recount_puts_right_whatever_is_wrong_with_an_alarm(
    cast: list[User], caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        finish([*cast[number:], *cast[:number]])
    archive.archive(finished("fr-2", cast[:2]).pk)
    count_finished()
    before = everything()
    out = StringIO()
    call_command("careers", stdout=out, stderr=StringIO())
    assert "Every career is what the games say." in out.getvalue()
    Career.objects.filter(pk=cast[0].pk).update(won=44)
    Career.objects.filter(pk=cast[1].pk).delete()
    Opponent.objects.filter(user=cast[0], opponent=cast[1]).update(games=9)
    Opponent.objects.filter(user=cast[2]).delete()
    Opponent.objects.create(user=cast[3], opponent=cast[3], games=2)
    recount_careers()
    assert everything() == before
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    recount_careers()
    assert len(caplog.records) == 1


def test_lines_of_the_ledger_that_were_written_without_it_are_told_who_was_beaten(cast: list[User]) -> None:
    finish(cast, listed=False)
    for number in range(4):
        finish(cast[number:] + cast[:number])
    ladder.void_game(Game.objects.order_by("pk")[1].pk, None)
    ladder.rate_finished()
    ladder.replay()
    before = list(RatingEvent.objects.order_by("pk").values_list("pk", "beaten"))
    assert {best is None for _, best in before} == {True, False}
    RatingEvent.objects.update(beaten=None)
    import_module("games.migrations.0015_careers").say_who_was_beaten(apps, None)
    assert list(RatingEvent.objects.order_by("pk").values_list("pk", "beaten")) == before


# What may happen on the way -------------------------------------------------------------------------------------------


def count_and_archive(game_id: int) -> None:
    careers.count(game_id)
    archive.archive(game_id)


@pytest.mark.slow
def test_killed_at_any_step_each_game_still_counts_once(cast: list[User]) -> None:
    game = finished("fr-2", cast[:2])
    steps = 0
    while not power.survives(partial(count_and_archive, game.pk), steps):
        assert careers.recount() == 0
        steps += 1
    assert steps > 3
    row = Career.objects.get(pk=cast[0].pk)
    assert (row.games, row.finished) == (1, 1)
    assert row.garage + row.office + row.safe + row.bags == 1
    power.hang_up()


def count_all() -> None:
    careers.count_finished()
    archive.archive_finished()


@pytest.mark.slow
def test_several_at_once_and_a_recount_between_count_each_game_once(cast: list[User]) -> None:
    for number in range(12):
        finished("fr-3-ranked", [cast[number % 4], cast[(number + 1) % 4]], ago=timedelta(hours=number + 1))
        finish(cast, ranked=False, finish_seq=None)
    power.at_once(count_all, count_all, count_all, careers.recount)
    assert careers.recount() == 0
    assert sum(Career.objects.values_list("finished", flat=True)) == 12 * 2 + 12 * 4
    assert not Game.objects.filter(counted=False).exists()
    power.hang_up()
