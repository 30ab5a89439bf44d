"""Replaying a ladder in pieces: killed between any two of them, and by two workers at once, it comes out the same."""

import threading
from importlib import import_module

import pytest
from django.db import connection

from accounts.models import User
from games import ladder, tasks
from games.models import Game, Generation, Ladder, Rating, RatingEvent
from tests.games.finishes import finish, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

# The package has a function of this name too.
replay = import_module("games.ladder.replay")
GAMES = 12
VOIDED = 3


class Killed(BaseException):
    """What ends a worker without a word."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "GAMES_A_PIECE", 2)
    monkeypatch.setattr(replay, "PLAYERS_A_PIECE", 2)


@pytest.fixture
def games() -> list[Game]:
    """Rated games of four people, one of them voided since: a replay is under way from there."""
    players: list[User] = people("Alice", "Bob", "Charlie", "Dora")
    played = [finish([players[number % 4], players[(number + 1 + number % 3) % 4]]) for number in range(GAMES)]
    ladder.rate_finished()
    assert ladder.void_game(played[VOIDED].pk, None)
    return played


def is_replayed_once() -> bool:
    """Whether the new generation is in force, holds each later game once, and a recount agrees."""
    assert list(Generation.objects.values_list("number", "state")) == [(1, Generation.State.CURRENT)]
    assert Ladder.objects.get(pk="live").generation == 1
    assert set(Rating.objects.values_list("generation", flat=True)) == {1}
    assert RatingEvent.objects.filter(generation=1).count() == 2 * (GAMES - VOIDED - 1)
    return ladder.recount("live").differences == []


def test_a_replay_killed_between_any_two_pieces_is_finished_by_the_next_run(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    held, kills, pieces = replay._held, 0, 0

    def killed_at_the_second(pk: int) -> Generation | None:
        nonlocal pieces
        pieces += 1
        if pieces % 2 == 0:
            raise Killed
        return held(pk)

    monkeypatch.setattr(replay, "_held", killed_at_the_second)
    before = -1
    while Generation.objects.filter(state=Generation.State.BUILDING).exists() and kills < 3 * GAMES:
        # As long as nothing is in force, everybody reads the old ratings.
        assert Ladder.objects.get(pk="live").generation == 0
        with pytest.raises(Killed):
            tasks.replay_ladders()
        kills += 1
        rated_to = Generation.objects.get(number=1).rated_to
        assert rated_to >= before
        before = rated_to
        if rated_to == GAMES:
            break
    assert kills > 3
    monkeypatch.setattr(replay, "_held", held)
    tasks.replay_ladders()
    assert is_replayed_once()


def test_a_replay_killed_within_a_piece_leaves_nothing_of_it(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = replay.write

    def write_and_die(*args: object) -> None:
        write(*args)  # type: ignore[arg-type]
        raise Killed

    monkeypatch.setattr(replay, "write", write_and_die)
    for _ in range(2):
        with pytest.raises(Killed):
            tasks.replay_ladders()
        assert not RatingEvent.objects.filter(generation=1).exists()
    monkeypatch.setattr(replay, "write", write)
    tasks.replay_ladders()
    assert is_replayed_once()


def test_two_workers_who_replay_at_once_write_each_game_once(games: list[Game]) -> None:
    start, faults = threading.Barrier(2), list[BaseException]()

    def work() -> None:
        try:
            start.wait(10)
            tasks.replay_ladders()
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert not faults
    assert is_replayed_once()


def test_a_second_run_after_a_replay_changes_nothing(games: list[Game]) -> None:
    tasks.replay_ladders()
    lines = list(RatingEvent.objects.order_by("pk").values_list("pk", "after"))
    tasks.replay_ladders()
    assert list(RatingEvent.objects.order_by("pk").values_list("pk", "after")) == lines
    assert is_replayed_once()
