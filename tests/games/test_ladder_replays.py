"""Replaying a ladder in pieces: killed between any two of them, and by two workers at once, it comes out the same."""

import threading
from collections.abc import Callable
from importlib import import_module

import pytest
from django.db import DataError, connection
from django.db.models import QuerySet

from accounts.models import User
from games import ladder, tasks
from games.models import Game, Generation, Ladder, Rating, RatingEvent
from tests.games.finishes import finish, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

# The package has a function of this name too.
replay = import_module("games.ladder.replay")
rate = import_module("games.ladder.rate")
GAMES = 12
VOIDED = 3


class Killed(BaseException):
    """What ends a worker without a word."""


def killed(*args: object) -> None:
    raise Killed


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


class Worker(threading.Thread):
    """Does one thing on a connection of its own, and keeps what went wrong."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__()
        self.fault: BaseException | None = None
        self._work = work
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except BaseException as fault:
            self.fault = fault
        finally:
            connection.close()


class Hold:
    """Stops whoever comes to this function first after it, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        done = getattr(module, name)

        def held(*args: object, **options: object) -> object:
            answer = done(*args, **options)
            if not self.reached.is_set():
                self.reached.set()
                self.go_on.wait(20)
            return answer

        monkeypatch.setattr(module, name, held)


def beside(hold: Hold, first: Callable[[], object], second: Callable[[], object]) -> list[BaseException | None]:
    """Do the second thing while the first is held; what went wrong with each."""
    workers = [Worker(first)]
    assert hold.reached.wait(20)
    workers.append(Worker(second))
    # It waits for the first one, or it does not, and then it is done by now.
    workers[1].join(1)
    hold.go_on.set()
    for worker in workers:
        worker.join(30)
    return [worker.fault for worker in workers]


def test_two_workers_who_replay_at_once_write_each_game_once(games: list[Game]) -> None:
    workers = [Worker(tasks.replay_ladders) for _ in range(2)]
    for worker in workers:
        worker.join(30)
    assert [worker.fault for worker in workers] == [None, None]
    assert is_replayed_once()


def test_what_is_put_in_force_between_two_pieces_of_clearing_out_keeps_its_ratings(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as trouble:
        trouble.setattr(replay, "_put_in_force", killed)
        with pytest.raises(Killed):
            tasks.replay_ladders()
    # The first replay has worked out everything, and is given up for a second one.
    assert ladder.void_game(games[0].pk, None)
    forget, pieces = replay._forget_some, 0

    def forget_beside_another_worker(over: QuerySet[Rating]) -> int:
        nonlocal pieces
        pieces += 1
        if pieces == 2:
            tasks.replay_ladders()
        return int(forget(over))

    monkeypatch.setattr(replay, "_forget_some", forget_beside_another_worker)
    replay._clear_out()
    assert pieces > 2
    assert Ladder.objects.get(pk="live").generation == 2
    assert set(Rating.objects.values_list("generation", flat=True)) == {2}
    assert ladder.recount("live").differences == []


def test_a_game_taken_out_while_a_replay_is_about_to_count_it_does_not_count(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Hold(monkeypatch, replay, "finished")
    out = games[VOIDED + 1].pk
    assert beside(hold, tasks.replay_ladders, lambda: ladder.void_game(out, None)) == [None, None]
    tasks.replay_ladders()
    assert Ladder.objects.get(pk="live").rated_to == GAMES
    assert ladder.recount("live").differences == []


def test_a_game_put_back_while_a_replay_is_about_to_leave_it_out_counts(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    back = games[VOIDED + 1].pk
    assert ladder.void_game(back, None)
    hold = Hold(monkeypatch, replay, "finished")
    assert beside(hold, tasks.replay_ladders, lambda: ladder.restore_game(back)) == [None, None]
    tasks.replay_ladders()
    assert ladder.recount("live").differences == []


def test_a_game_may_be_taken_out_in_the_moment_in_which_it_is_rated(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.replay_ladders()
    last = finish([seat.user for seat in games[-1].seats.order_by("number")])
    hold = Hold(monkeypatch, rate, "finished")
    assert beside(hold, ladder.rate_finished, lambda: ladder.void_game(last.pk, None)) == [None, None]
    tasks.replay_ladders()
    assert ladder.unrated("live") == 0
    assert ladder.recount("live").differences == []


def test_a_game_that_no_replay_can_rate_is_parked_and_blocks_neither_the_rest_nor_a_recount(
    games: list[Game], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write, bad = replay.write, games[VOIDED + 2]

    def refuse(pace: str, generation: int, games: list[replay.Finished]) -> None:
        write(pace, generation, games)
        if bad.pk in [game.game_id for game in games]:
            raise DataError("numeric field overflow")

    monkeypatch.setattr(replay, "write", refuse)
    tasks.replay_ladders()
    assert Ladder.objects.get(pk="live").generation == 1
    assert RatingEvent.objects.filter(generation=1).count() == 2 * (GAMES - VOIDED - 2)
    bad.refresh_from_db()
    assert bad.rated == Game.Rated.PARKED
    assert f"Game {bad.pk} cannot be rated again" in caplog.text
    [said, *_] = ladder.recount("live").differences
    assert said.startswith(f"live: game {bad.finish_seq}: ")


def test_a_game_that_cannot_be_worked_out_at_all_stops_neither_a_replay_nor_a_recount(
    games: list[Game], monkeypatch: pytest.MonkeyPatch
) -> None:
    play, bad = rate.play, games[VOIDED + 2]

    def refuse(held: dict[int, object], game: replay.Finished) -> object:
        if game.game_id == bad.pk:
            raise ArithmeticError("it has no number")
        return play(held, game)

    monkeypatch.setattr(rate, "play", refuse)
    monkeypatch.setattr(import_module("games.ladder.recount"), "play", refuse)
    tasks.replay_ladders()
    bad.refresh_from_db()
    assert bad.rated == Game.Rated.PARKED
    assert ladder.recount("live").differences == []


def test_a_second_run_after_a_replay_changes_nothing(games: list[Game]) -> None:
    tasks.replay_ladders()
    lines = list(RatingEvent.objects.order_by("pk").values_list("pk", "after"))
    tasks.replay_ladders()
    assert list(RatingEvent.objects.order_by("pk").values_list("pk", "after")) == lines
    assert is_replayed_once()
