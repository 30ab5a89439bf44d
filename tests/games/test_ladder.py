"""The ladders: in the order of the ends, once, only what counts; taken out again; and proved by a recount."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO

import pytest
import redis
from celery import current_app
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection

from accounts.models import User
from games import ladder, tasks
from games.models import Game, Generation, Ladder, Rating, RatingEvent, Seat
from games.rating import Standing
from tests.games.finishes import FIRST_END, finish, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def ratings(*players: User, pace: str = "live") -> list[str]:
    found = ladder.standings([player.pk for player in players], pace)
    return [str(found[player.pk].rating) for player in players]


def outcome(game: Game) -> str:
    game.refresh_from_db()
    return game.rated


def lines() -> list[tuple[int, str, str, str, int, int]]:
    found = RatingEvent.objects.order_by("finish_seq", "player")
    return [
        (line.finish_seq, *map(str, (line.before, line.delta, line.after)), line.k, line.games_before) for line in found
    ]


def agrees(pace: str = "live") -> bool:
    return ladder.recount(pace).differences == []


def test_a_finished_game_is_rated_and_its_ledger_says_why() -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob])
    ladder.rate_game(game.pk)
    assert ratings(alice, bob) == ["1530.00", "1470.00"]
    assert lines() == [
        (1, "1500.00", "30.00", "1530.00", 60, 0),
        (1, "1500.00", "-30.00", "1470.00", 60, 0),
    ]
    assert outcome(game) == "rated"
    assert ladder.standing(alice.pk, "live") == Standing(Decimal("1530.00"), 1)
    assert ladder.standing(alice.pk, "relaxed") == Standing()
    assert agrees()


def test_a_second_run_does_nothing() -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob])
    for again in (ladder.rate_game, tasks.rate_game, tasks.rate_game):
        again(game.pk)
    tasks.rate_finished()
    assert len(lines()) == 2
    assert ratings(alice, bob) == ["1530.00", "1470.00"]


def test_games_are_rated_in_the_order_of_their_ends_whatever_is_asked_for() -> None:
    alice, bob, charlie = people("Alice", "Bob", "Charlie")
    games = [finish(players) for players in ([alice, bob], [bob, charlie], [charlie, alice])]
    ladder.rate_game(games[1].pk)
    assert [outcome(game) for game in games] == ["rated", "rated", ""]
    assert ladder.unrated("live") == 1
    assert ladder.rate_finished() == 1
    assert [line[0] for line in lines()] == [1, 1, 2, 2, 3, 3]
    assert ladder.unrated("live") == 0
    assert agrees()


def test_live_and_relaxed_games_have_a_ladder_each() -> None:
    alice, bob = people("Alice", "Bob")
    finish([alice, bob])
    finish([bob, alice], pace="relaxed")
    ladder.rate_finished()
    assert ratings(alice, bob) == ratings(bob, alice, pace="relaxed") == ["1530.00", "1470.00"]


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("void", {"reason": "void"}),
        ("short", {"reason": "abandoned", "rounds": 0}),
        ("fault", {"lost_ms": 60_001}),
    ],
)
def test_what_is_nobodys_doing_is_not_rated(why: str, fields: dict[str, object]) -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob], **fields)
    ladder.rate_game(game.pk)
    assert outcome(game) == why
    assert lines() == []
    assert agrees()


def test_a_minute_of_the_servers_absence_is_none_too_many_and_a_relaxed_game_bears_more() -> None:
    alice, bob = people("Alice", "Bob")
    finish([alice, bob], lost_ms=60_000)
    finish([alice, bob], lost_ms=3_600_000, pace="relaxed")
    ladder.rate_finished()
    assert len(lines()) == 4


def test_bots_and_guests_are_never_rated_and_a_guest_who_stays_changes_no_old_game() -> None:
    [alice] = people("Alice")
    guest = User.objects.create_guest()
    games = [finish([alice, None]), finish([guest, alice])]
    ladder.rate_finished()
    assert [outcome(game) for game in games] == ["company", "company"]
    User.objects.filter(pk=guest.pk).update(is_guest=False)
    assert lines() == []
    assert agrees()


def test_a_game_that_does_not_fit_is_parked_with_an_alarm_and_blocks_nobody(caplog: pytest.LogCaptureFixture) -> None:
    alice, bob = people("Alice", "Bob")
    broken, fine = finish([alice, bob], places=[1, 1]), finish([alice, bob])
    with caplog.at_level(logging.ERROR):
        ladder.rate_finished()
    assert [outcome(broken), outcome(fine)] == ["parked", "rated"]
    assert f"Game {broken.pk} cannot be rated" in caplog.text
    assert ladder.unrated("live") == 0
    assert agrees()


def test_a_parked_game_that_was_put_right_is_rated_by_a_replay() -> None:
    alice, bob = people("Alice", "Bob")
    broken, _ = finish([alice, bob], places=[1, 1]), finish([alice, bob])
    ladder.rate_finished()
    Seat.objects.filter(game=broken, user=bob).update(place=2)
    assert ladder.replay_from(broken.pk)
    assert ladder.replay() == 1
    assert outcome(broken) == "rated"
    assert ladder.standing(alice.pk, "live").games == 2
    assert agrees()


def test_a_game_that_the_database_refuses_is_parked_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = people("Alice", "Bob")
    refused, fine = finish([alice, bob]), finish([alice, bob])

    def refuse(*_: object) -> None:
        raise IntegrityError("it is there already")

    monkeypatch.setattr(RatingEvent.objects, "bulk_create", refuse)
    ladder.rate_game(refused.pk)
    monkeypatch.undo()
    ladder.rate_game(fine.pk)
    assert [outcome(refused), outcome(fine)] == ["parked", "rated"]
    assert "cannot be rated" in caplog.text
    assert len(lines()) == 2


def test_a_database_that_is_away_parks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob])

    def away(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(RatingEvent.objects, "bulk_create", away)
    with pytest.raises(OperationalError):
        ladder.rate_game(game.pk)
    monkeypatch.undo()
    assert outcome(game) == ""
    tasks.rate_finished()
    assert outcome(game) == "rated"


def test_a_killed_rater_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob])

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(Rating.objects, "bulk_create", killed)
    with pytest.raises(Killed):
        ladder.rate_game(game.pk)
    monkeypatch.undo()
    assert (lines(), outcome(game), ladder.unrated("live")) == ([], "", 1)
    tasks.rate_finished()
    assert outcome(game) == "rated"
    assert agrees()


def season_of_games(players: list[User], count: int = 30) -> list[Game]:
    """So many games between these people, everybody winning now and then."""
    games = []
    for number in range(count):
        table = [players[(number * step + seat) % len(players)] for step, seat in ((1, 0), (2, 1), (3, 2))]
        games.append(finish(list(dict.fromkeys(table)) if len(set(table)) > 1 else players[:3]))
    return games


def test_a_voided_game_counts_no_more_and_everything_after_it_is_replayed() -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    games = season_of_games(players)
    ladder.rate_finished()
    before = ratings(*players)
    assert ladder.void_game(games[10].pk, players[0].pk)
    assert ratings(*players) == before
    assert ladder.replay() == 1
    assert ratings(*players) != before
    assert agrees()
    # The old lines are there for whoever wants to look, and the new ones begin where they must.
    assert RatingEvent.objects.filter(game=games[10]).count() == 3
    assert not RatingEvent.objects.filter(generation=1, finish_seq__lte=11).exists()
    assert set(Rating.objects.values_list("generation", flat=True)) == {1}
    games[10].refresh_from_db()
    assert games[10].voided_by == players[0]
    assert not ladder.void_game(games[10].pk, None)

    assert ladder.restore_game(games[10].pk)
    ladder.replay()
    assert ratings(*players) == before
    assert agrees()


def test_several_games_are_voided_one_after_the_other_or_at_once() -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    games = season_of_games(players)
    ladder.rate_finished()
    for later, earlier in ((20, 5), (8, 25)):
        ladder.void_game(games[later].pk, None)
        ladder.void_game(games[earlier].pk, None)
        tasks.replay_ladders()
        assert agrees()
    assert Generation.objects.filter(state="building").count() == 0
    ladder.void_game(games[0].pk, None)
    ladder.replay()
    assert agrees()
    for game in games:
        ladder.void_game(game.pk, None)
    ladder.replay()
    assert Rating.objects.count() == 0
    assert agrees()


def test_games_that_end_during_a_replay_follow_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    games = season_of_games(players)
    ladder.rate_finished()
    ladder.void_game(games[3].pk, None)
    more = iter([[players[0], players[2]], [players[3], players[1]]])
    wait = ladder.replay.__globals__["_follow"]

    def while_it_works(generation: Generation, rated_to: int) -> bool:
        if table := next(more, None):
            finish(table)
            ladder.rate_finished()
        return bool(wait(generation, rated_to))

    monkeypatch.setitem(ladder.replay.__globals__, "_follow", while_it_works)
    assert ladder.replay() == 1
    assert Ladder.objects.get(pk="live").rated_to == len(games) + 2
    assert agrees()


def test_a_game_is_voided_before_it_was_rated() -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob])
    assert ladder.void_game(game.pk, None)
    ladder.rate_finished()
    assert (lines(), ladder.replay()) == ([], 0)
    assert agrees()


def test_casual_and_running_games_are_not_voided() -> None:
    alice, bob = people("Alice", "Bob")
    game = finish([alice, bob], finish_seq=None, ranked=False)
    assert not ladder.void_game(game.pk, None)
    assert not ladder.void_game(game.pk + 1_000, None)


@pytest.mark.parametrize(
    "harm",
    [
        lambda: Rating.objects.filter(user__name="Alice").update(rating=Decimal("1530.01")),
        lambda: Rating.objects.filter(user__name="Alice").update(games=2),
        lambda: Rating.objects.filter(user__name="Alice").delete(),
        lambda: RatingEvent.objects.filter(player__name="Bob").update(delta=Decimal("-29.99")),
        lambda: RatingEvent.objects.filter(player__name="Bob").delete(),
        lambda: (
            Seat.objects.filter(user__name="Bob").update(place=1)
            and Seat.objects.filter(user__name="Alice").update(place=2)
        ),
    ],
)
def test_the_nightly_recount_sees_a_cent(harm: Callable[[], object], caplog: pytest.LogCaptureFixture) -> None:
    alice, bob = people("Alice", "Bob")
    finish([alice, bob])
    ladder.rate_finished()
    tasks.recount_ladders()
    assert caplog.text == ""
    harm()
    tasks.recount_ladders()
    assert "The recount differs: live" in caplog.text


def test_the_command_proves_the_ratings_with_a_bar_on_the_error_stream(capsys: pytest.CaptureFixture[str]) -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    season_of_games(players, 5)
    ladder.rate_finished()
    out, errors = StringIO(), StringIO()
    call_command("ratings", "--recount", stdout=out, stderr=errors)
    assert "Every rating is what the games say." in out.getvalue()
    assert "] 5 of 5" in capsys.readouterr().err
    Rating.objects.filter(user=players[0]).update(rating=1)
    with pytest.raises(CommandError, match="not what the games say"):
        call_command("ratings", "--recount", stdout=out, stderr=errors)
    assert f"player {players[0].pk}" in errors.getvalue()


def test_the_explanation_of_a_game_adds_up_to_the_change() -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    games = season_of_games(players)
    ladder.rate_finished()
    for game in games:
        game.refresh_from_db()
        for player in ladder.explain(game).players:
            assert sum(pair.points for pair in player.pairs) == player.delta
            assert player.after.rating == player.before.rating + player.delta
            assert len(player.pairs) == game.seats.count() - 1
    found = ladder.explain(games[0])
    assert [player.name for player in found.players] == ["Alice", "Bob", "Charlie"]
    assert [(pair.opponent, pair.percent, str(pair.points)) for pair in found.players[0].pairs] == [
        ("Bob", 50, "20.00"),
        ("Charlie", 50, "20.00"),
    ]


def test_the_explanation_says_why_nothing_changed_and_follows_a_replay() -> None:
    alice, bob = people("Alice", "Bob")
    first, second = finish([alice, bob]), finish([bob, alice])
    short = finish([alice, bob], rounds=0)
    assert ladder.explain(first).pending
    ladder.rate_finished()
    short.refresh_from_db()
    assert "not one full round" in ladder.explain(short).why_not
    ladder.void_game(first.pk, None)
    ladder.replay()
    for game in (first, second):
        game.refresh_from_db()
    assert ladder.explain(first).voided
    assert str(ladder.explain(second).players[0].before) == "1500?"


def test_a_board_shows_who_played_enough_and_lately() -> None:
    alice, bob, charlie = people("Alice", "Bob", "Charlie")
    for _ in range(10):
        finish([alice, bob])
    finish([charlie, alice])
    ladder.rate_finished()
    page = ladder.board("live", "all", FIRST_END, None, bob.pk)
    assert [row.user.name for row in page.rows] == ["Alice", "Bob"]
    assert (page.first, page.own_place, page.total, page.next) == (1, 2, 2, None)
    assert ladder.board("live", "all", FIRST_END, None, charlie.pk).own_place is None
    much_later = FIRST_END + timedelta(days=91)
    assert ladder.board("live", "all", much_later, None, None).rows == []
    assert ladder.board("live", "season", FIRST_END, None, None).total == 2
    assert ladder.board("live", "season", datetime(2027, 1, 1, tzinfo=UTC), None, None).rows == []
    assert ladder.board("relaxed", "all", FIRST_END, None, None).rows == []


def test_a_season_counts_what_was_won_in_it() -> None:
    alice, bob = people("Alice", "Bob")
    for _ in range(10):
        finish([alice, bob])
    finish([bob, alice], ended=datetime(2027, 1, 1, tzinfo=UTC))
    ladder.rate_finished()
    gains = dict(Rating.objects.values_list("user__name", "season_gain"))
    last = {line.player_id: line.delta for line in RatingEvent.objects.filter(finish_seq=11)}
    assert gains == {"Alice": last[alice.pk], "Bob": last[bob.pk]}
    assert agrees()


def test_a_board_is_leafed_through_without_gaps_or_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ladder.board.__globals__, "PAGE", 3)
    players = people(*(f"Player {letter}" for letter in "ABCDEFGH"))
    Ladder.objects.create(pk="live")
    for number, player in enumerate(players):
        Rating.objects.create(
            user=player,
            pace="live",
            generation=0,
            rating=Decimal(1500 + number // 3),
            games=12,
            last_played=FIRST_END,
            season="2026-10-01",
        )
    seen, firsts, key = [], [], None
    while True:
        page = ladder.board("live", "all", FIRST_END, key, players[0].pk)
        seen += [row.user.name for row in page.rows]
        firsts.append(page.first)
        key = page.next
        if key is None:
            break
    assert seen == [f"Player {letter}" for letter in "GHDEFABC"]
    assert firsts == [1, 4, 7]
    assert page.own_place == 6


def test_rating_a_game_takes_the_same_number_of_questions_however_long_the_ledger_is() -> None:
    players = people("Alice", "Bob", "Charlie", "Dora")
    counts = []
    for _ in range(3):
        game = finish(players)
        with connection.execute_wrapper(lambda run, *rest: counts[-1].append(rest[0]) or run(*rest)):
            counts.append([])
            ladder.rate_game(game.pk)
    assert len(counts[1]) == len(counts[2]) <= 16


def test_a_void_game_has_a_worker_asked_and_a_queue_that_is_away_stops_nobody(
    valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = people("Alice", "Bob")
    games = [finish([alice, bob]), finish([bob, alice])]
    ladder.rate_finished()
    valkey.flushall()
    ladder.void_game(games[0].pk, None)
    assert b"games.tasks.replay_ladders" in valkey.lindex("celery", 0)

    def away(*_: object, **__: object) -> None:
        raise OperationalError("no queue")

    monkeypatch.setattr(current_app, "send_task", away)
    ladder.ask_for_rating(games[0].pk)
    assert ladder.void_game(games[1].pk, None)
    assert ladder.replay() == 1
