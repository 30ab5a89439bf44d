"""The end of a game: its result is stored with its last event, and ranked games are numbered as they end."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection, transaction

from accounts.models import User
from games import clock, log, opening, rules, shares, steps
from games.bots.selfplay import SelfPlay, seated, terms_for_bots
from games.models import Finish, Game, Seat
from games.opening import NewSeat, open_game
from games.rules import State, terms
from games.rules.commands import Leave
from games.rules.events import Event
from games.rules.play import follow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def new_game(players: int = 2, *, ranked: bool = True) -> Game:
    people = [User.objects.create_guest() for _ in range(players)]
    characters = iter(terms.CHARACTERS)
    return open_game([NewSeat(next(characters), person.pk) for person in people], ranked=ranked)


def write(game: Game, after: State, happened: tuple[Event, ...]) -> None:
    assert not log.write([append_of(game, steps.steps_of(after, happened))])


def append_of(game: Game, done: list[steps.Step]) -> log.Append:
    now = clock.database_now()
    began = Game.objects.values_list("started_ms", flat=True).get(pk=game.pk) or now
    return steps.append_of(game.pk, done, steps.lines_of(done), now=now, started_ms=began, kept_by=None)


def begun(game: Game) -> State:
    shares.seal(game.pk)
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    first = steps.first_steps(opened)
    assert not log.write([append_of(game, first)])
    return first[-1].after


def moment(started_ms: int | None, at: int) -> datetime:
    assert started_ms is not None
    return datetime.fromtimestamp((started_ms + at) / 1000, UTC)


def result_of(game: Game) -> list[tuple[int | None, int | None, str]]:
    return list(game.seats.order_by("number").values_list("place", "points", "conduct"))


def test_who_leaves_is_last_and_the_result_says_so() -> None:
    game = new_game(3)
    state = begun(game)
    for seat in (1, 0):
        happened = rules.decide(state, seat, Leave(), 1_000)
        write(game, state, happened)
        state = steps.steps_of(state, happened)[-1].after
    game.refresh_from_db()
    assert (game.reason, game.rounds, game.lost_ms) == ("abandoned", 0, 0)
    assert game.ended is not None
    assert result_of(game) == [(2, 0, "left"), (3, 0, "left"), (1, 0, "finished")]


def test_a_running_game_has_no_result_and_no_number() -> None:
    game = new_game()
    begun(game)
    game.refresh_from_db()
    assert (game.reason, game.finish_seq) == ("", None)
    assert result_of(game) == [(None, None, ""), (None, None, "")]


@pytest.mark.parametrize("leaving", ["player", "staff"])
def test_who_leaves_a_game_that_goes_on_has_left_it_from_then_on(leaving: str) -> None:
    game = new_game(3)
    state, began = begun(game), Game.objects.get(pk=game.pk).started_ms
    happened = rules.decide(state, 1, Leave(), 5_000) if leaving == "player" else rules.remove(state, 1, 5_000)
    write(game, state, happened)
    how = "left" if leaving == "player" else "removed"
    assert result_of(game) == [(None, None, ""), (None, None, how), (None, None, "")]
    seat = game.seats.get(number=1)
    assert (seat.ended, seat.left_at) == (None, moment(began, 5_000))
    state = steps.steps_of(state, happened)[-1].after
    write(game, state, rules.decide(state, 2, Leave(), 8_000))
    assert result_of(game) == [(1, 0, "finished"), (3, 0, how), (2, 0, "left")]
    assert [one.left_at for one in game.seats.order_by("number")] == [None, moment(began, 5_000), moment(began, 8_000)]


def test_who_left_a_game_that_staff_or_a_fault_of_ours_makes_void_is_forgiven() -> None:
    game = new_game(3)
    state = begun(game)
    happened = rules.decide(state, 1, Leave(), 5_000)
    write(game, state, happened)
    assert not game.seats.filter(forgiven=True).exists()
    state = steps.steps_of(state, happened)[-1].after
    write(game, state, rules.void(state, "staff", 6_000))
    assert list(game.seats.order_by("number").values_list("conduct", "forgiven")) == [
        ("finished", False),
        ("left", True),
        ("finished", False),
    ]


def test_who_stayed_away_until_nobody_was_left_is_not_forgiven() -> None:
    game = new_game(3)
    state = begun(game)
    happened = rules.decide(state, 1, Leave(), 5_000)
    write(game, state, happened)
    state = steps.steps_of(state, happened)[-1].after
    write(game, state, rules.void(state, "rules", 6_000))
    assert game.seats.get(number=1).conduct == "left"
    assert not game.seats.filter(forgiven=True).exists()


def test_games_that_were_left_before_it_was_said_at_once_say_so_too() -> None:
    running, over = new_game(3), new_game()
    for game in (running, over):
        state = begun(game)
        write(game, state, rules.decide(state, 1, Leave(), 5_000))
    before = list(Seat.objects.order_by("pk").values_list("conduct", "left_at"))
    Seat.objects.update(left_at=None)
    Seat.objects.filter(game=running).update(conduct="")
    import_module("games.migrations.0026_left_at").say_who_has_left(apps, None)
    after = list(Seat.objects.order_by("pk").values_list("conduct", "left_at"))
    assert after[:3] == before[:3]
    assert after[3:] == [("finished", None), ("left", over.seats.get(number=1).ended)]


def test_staff_removes_and_a_fault_of_the_server_is_counted() -> None:
    game = new_game()
    state = begun(game)
    for lost in (3_000, 4_000):
        happened = rules.resume(state, lost, state.at + lost)
        write(game, state, happened)
        state = steps.steps_of(state, happened)[-1].after
    write(game, state, rules.remove(state, 0, state.at))
    game.refresh_from_db()
    assert game.lost_ms == 7_000
    assert result_of(game) == [(2, 0, "removed"), (1, 0, "finished")]


def test_a_void_game_has_no_places() -> None:
    game = new_game()
    state = begun(game)
    write(game, state, rules.void(state, "staff", 5_000))
    game.refresh_from_db()
    assert game.reason == "void"
    assert result_of(game) == [(None, 0, "finished"), (None, 0, "finished")]


def test_a_whole_game_has_the_result_that_the_rules_find() -> None:
    game = new_game(4)
    shares.seal(game.pk)
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    seed = sha256(b"result").hexdigest()
    play = SelfPlay(opened.terms(), seated(opened.terms(), ["apprentice"] * 4, seed))
    play.play()
    write(game, rules.blank(opened.terms()), tuple(play.log))
    game.refresh_from_db()
    result = rules.result(play.state)
    assert result is not None
    assert (game.reason, game.rounds) == (result.reason, play.state.round)
    places = {seat: place for place, seat in enumerate(result.ranking, start=1)}
    assert result_of(game) == [(places[s.seat], s.total, "finished") for s in result.scores]


def test_a_round_is_full_when_its_exchange_is_over_and_not_before() -> None:
    bots = terms_for_bots("fr", 2, sha256(b"rounds").digest())
    play = SelfPlay(bots, seated(bots, ["apprentice"] * 2, "rounds"))
    play.play()
    state, exchanges_over = rules.blank(bots), 0
    for event in play.log:
        exchanges_over += event.type in ("round_started", "game_ended") and state.round > 0
        state = rules.apply(state, event)
        if follow(state) is None:
            assert rules.full_rounds(state) == exchanges_over
    assert rules.full_rounds(state) == state.round == exchanges_over


def test_ranked_games_are_numbered_as_they_end_and_others_are_not() -> None:
    games = [new_game(), new_game(ranked=False), new_game()]
    for game in reversed(games):
        state = begun(game)
        write(game, state, rules.decide(state, 0, Leave(), 1_000))
        game.refresh_from_db()
    assert [game.finish_seq for game in games] == [2, None, 1]
    assert all(seat.place for seat in Seat.objects.filter(game=games[1]))


def test_an_end_that_was_not_written_takes_no_number() -> None:
    first, second = new_game(), new_game()
    for game, fails in ((first, True), (second, False)):
        state = begun(game)
        with transaction.atomic():
            write(game, state, rules.decide(state, 0, Leave(), 1_000))
            transaction.set_rollback(fails)
    second.refresh_from_db()
    assert second.finish_seq == 1
    assert result_of(first) == [(None, None, ""), (None, None, "")]


def test_games_that_end_at_once_in_several_processes_have_numbers_without_gaps() -> None:
    games = [new_game() for _ in range(12)]
    states = [begun(game) for game in games]

    def end(part: int) -> None:
        try:
            pairs = [(games[n], states[n]) for n in (part, part + 4, part + 8)]
            ends = [append_of(game, steps.steps_of(s, rules.decide(s, 0, Leave(), 1_000))) for game, s in pairs]
            assert not log.write(ends)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(end, range(4)))
    numbers = sorted(Game.objects.values_list("finish_seq", flat=True))
    assert numbers == list(range(1, 13))
    assert Finish.objects.get().last == 12


def test_a_leaver_written_by_an_older_process_has_not_finished() -> None:
    game = new_game(3)
    state = begun(game)
    gone = rules.decide(state, 1, Leave(), state.at)
    done = steps.steps_of(state, gone)
    assert not log.write([replace(append_of(game, done), departures=(), left=0)])
    state = done[-1].after
    assert game.seats.get(number=1).conduct == ""
    write(game, state, rules.decide(state, 2, Leave(), state.at))
    assert [conduct for _place, _points, conduct in result_of(game)] == ["finished", "left", "left"]
    assert game.seats.get(number=1).left_at is not None
