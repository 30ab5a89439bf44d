"""The sweep: the clock of a game goes on when no web process looks after it, once, and never early."""

import json
from itertools import count

import pytest

from accounts.models import User
from games import chance_secrets, clock, intervention, log, opening, rules, servers, steps, sweep, troubles
from games.models import Event, Game, Server
from games.opening import NewSeat, open_game
from games.tasks import wake_overdue

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("no_other_process"),
]
READY_MS = 48 * 60 * 60 * 1_000
LIVE_READY_MS = 30_000


def new_game(pace: str = "relaxed") -> Game:
    people = [User.objects.create_guest() for _ in range(2)]
    return open_game([NewSeat("violet", people[0].pk), NewSeat("amber", people[1].pk)], pace=pace)


def begun(game: Game) -> Game:
    Game.objects.filter(pk=game.pk).update(wake_at=clock.database_now())
    assert sweep.wake_overdue() == 1
    game.refresh_from_db()
    return game


def no_wait(_seconds: float) -> None:
    """What is not heard of by then has nothing to say."""


def so_much_later(game: Game, ms: int) -> None:
    game.refresh_from_db()
    Game.objects.filter(pk=game.pk).update(started_ms=game.started_ms - ms, wake_at=game.wake_at - ms)


def log_of(game: Game) -> list[str]:
    return [line.body.partition('"type":"')[2].partition('"')[0] for line in log.since(game.pk, 0).lines]


def test_a_game_whose_pages_never_came_begins_without_their_nonces() -> None:
    game = begun(new_game())
    assert log_of(game) == ["round_started"]
    assert chance_secrets.of_game(game.pk).nonces == (bytes(16),) * 2
    assert game.wake_at == game.started_ms + READY_MS


def test_nothing_happens_before_its_time() -> None:
    game = new_game()
    assert not sweep.wake(game.pk)
    begun(game)
    so_much_later(game, READY_MS - 5_000)
    assert sweep.wake_overdue() == 0
    assert log_of(game) == ["round_started"]


def test_a_limit_acts_when_its_time_has_come_and_only_once() -> None:
    game = begun(new_game())
    so_much_later(game, READY_MS)
    wake_overdue()
    wake_overdue()
    assert log_of(game) == ["round_started", "countdown_started"]
    game.refresh_from_db()
    assert game.kept_by is None


def test_a_game_that_cannot_be_woken_keeps_no_other_from_its_time_and_staff_finds_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, *others = [begun(new_game()) for _ in range(3)]
    for game in (broken, *others):
        so_much_later(game, READY_MS + servers.GONE_MS + 1_000)
    Event.objects.filter(game=broken).update(body="{")
    assert sweep.wake_overdue() == 2
    assert [log_of(game)[1] for game in others] == ["resumed", "resumed"]
    assert caplog.text.count(f"Game {broken.pk} could not be seen to") == 1
    (named,) = [finding.games for finding in troubles.look() if finding.games]
    assert named == [broken.code]


def test_a_limit_that_passed_while_nobody_looked_moves_first() -> None:
    game = begun(new_game())
    so_much_later(game, READY_MS + 60_000)
    assert sweep.wake_overdue() == 1
    assert log_of(game)[1] == "resumed"


def test_a_live_game_waits_a_minute_for_its_web_process() -> None:
    now = clock.database_now()
    game = begun(new_game("live"))
    keeper = Server.objects.create(name="gone", seen=now - 10_000)
    Game.objects.filter(pk=game.pk).update(kept_by=keeper, wake_at=now - 1)
    assert servers.Onlooker().overdue(no_wait) == []
    Server.objects.filter(pk=keeper.pk).update(seen=now - servers.GONE_MS - 1)
    assert servers.Onlooker().overdue(no_wait) == [game.pk]


def test_a_game_that_a_living_process_keeps_is_left_to_it() -> None:
    now = clock.database_now()
    game = begun(new_game())
    keeper = Server.objects.create(name="here", seen=now)
    Game.objects.filter(pk=game.pk).update(kept_by=keeper, wake_at=now - 1)
    assert servers.Onlooker().overdue(no_wait) == []


def test_a_look_waits_only_where_there_was_none_before() -> None:
    now, waits = clock.database_now(), list[float]()
    monotonic = 0.0
    onlooker = servers.Onlooker(lambda: monotonic)
    game = begun(new_game())
    keeper = Server.objects.create(name="here", seen=now - 60_000)
    Game.objects.filter(pk=game.pk).update(kept_by=keeper, wake_at=now - 1)
    assert onlooker.overdue(waits.append) == [game.pk]
    assert len(waits) == 1
    for seconds, waited in ((2.0, 1), (2.0, 1), (0.5, 2), (servers.GONE_MS / 1000 + 1, 3), (2.0, 3)):
        monotonic += seconds
        assert onlooker.overdue(waits.append) == [game.pk]
        assert len(waits) == waited


@pytest.mark.parametrize("step", [20_000, -20_000, 3_600_000, -3_600_000])
def test_a_keeper_heard_of_between_two_looks_keeps_its_game_whatever_its_row_says(step: int) -> None:
    monotonic = 0.0
    onlooker = servers.Onlooker(lambda: monotonic)
    game, now = begun(new_game()), clock.database_now()
    keeper = Server.objects.create(name="here", seen=now - step, clock=now - step, skew=0)
    Game.objects.filter(pk=game.pk).update(kept_by=keeper, wake_at=now - abs(step) - 1)

    beats = count(1)

    def beat(_seconds: float = 0) -> None:
        # On a fast machine two beats meet in one millisecond; the real ones are a second apart.
        now = clock.database_now() + next(beats)
        Server.objects.filter(pk=keeper.pk).update(seen=now, clock=now - step, skew=-step)

    assert onlooker.overdue(beat) == []
    for _ in range(3):
        beat()
        monotonic += 2.0
        assert onlooker.overdue() == []
    # It is silent from now on.
    monotonic += 2.0
    assert onlooker.overdue() == [game.pk]


def test_in_the_moment_of_a_step_no_game_is_overdue() -> None:
    """The one process that is heard of has not said yet what the database's new time means."""
    game, now = begun(new_game()), clock.database_now()
    Server.objects.create(name="here", seen=now - 3_600_000, clock=now - 3_600_000, skew=0)
    Game.objects.filter(pk=game.pk).update(kept_by=None, wake_at=now - 1_800_000)

    def beat(_seconds: float) -> None:
        Server.objects.update(seen=now - 3_599_000, clock=now - 3_599_000)

    assert servers.Onlooker().overdue(beat) == []


@pytest.mark.parametrize("pace", ["live", "relaxed"])
def test_a_game_whose_keeper_has_no_row_any_more_is_anybodys(pace: str) -> None:
    now = clock.database_now()
    game, mine = begun(new_game(pace)), Server.objects.create(name="here", seen=now).pk
    Game.objects.filter(pk=game.pk).update(kept_by=mine + 1, wake_at=now - 1)
    assert servers.overdue(now) == [game.pk]
    assert servers.orphans(now, mine, [mine]) == [game.pk]
    assert servers.loss(mine + 1, now).ms > servers.GONE_MS
    assert servers.loss(mine, now) == servers.loss(None, now) == servers.NOTHING_LOST
    # Where nothing is due only a live game needs somebody, and one that nobody has kept yet needs nobody.
    Game.objects.filter(pk=game.pk).update(wake_at=now + 1_000)
    assert servers.overdue(now) == []
    assert servers.orphans(now, mine, [mine]) == ([game.pk] if pace == "live" else [])
    Game.objects.filter(pk=game.pk).update(kept_by=None)
    assert servers.orphans(now, mine, [mine]) == []
    # Or where only bots have something to do: then whoever keeps it looks, too, in case its table broke off.
    Game.objects.filter(pk=game.pk).update(kept_by=mine, awaits=0)
    assert servers.orphans(now, mine, [mine]) == ([game.pk] if pace == "relaxed" else [])


def forsaken(silent_ms: int, overdue_ms: int) -> Game:
    """A live game whose players were to get ready until so long ago, and whose keeper died still earlier."""
    game = begun(new_game("live"))
    so_much_later(game, LIVE_READY_MS + overdue_ms)
    keeper = Server.objects.create(name="gone", seen=clock.database_now() - silent_ms)
    Game.objects.filter(pk=game.pk).update(kept_by=keeper)
    return game


def lost_ms(game: Game) -> int:
    return int(sum(json.loads(line.body).get("lost_ms", 0) for line in log.since(game.pk, 0).lines))


def test_what_a_live_game_lost_counts_from_its_keepers_last_sign_of_life_not_from_the_limit() -> None:
    game = forsaken(silent_ms=65_000, overdue_ms=36_000)
    assert sweep.wake_overdue() == 1
    assert log_of(game) == ["round_started", "resumed"]
    assert 65_000 <= lost_ms(game) < 75_000
    game.refresh_from_db()
    assert game.wake_at == game.started_ms + LIVE_READY_MS + lost_ms(game)


def test_where_staff_steps_in_a_dead_keepers_time_is_given_back_before_any_limit_acts() -> None:
    game = forsaken(silent_ms=65_000, overdue_ms=36_000)
    person = game.seats.get(number=1).user_id
    assert person is not None
    assert intervention.remove(game.pk, person)
    assert log_of(game) == ["round_started", "resumed", "abandoned", "game_ended"]
    game.refresh_from_db()
    assert game.lost_ms == lost_ms(game) >= 65_000


def test_what_was_given_back_once_is_not_given_back_again() -> None:
    game = forsaken(silent_ms=65_000, overdue_ms=1_000)
    assert sweep.wake(game.pk)
    assert not sweep.wake(game.pk)
    assert intervention.void(game.pk)
    assert log_of(game) == ["round_started", "resumed", "game_ended"]


def test_a_limit_that_is_older_than_the_last_event_takes_no_more_time_back_than_there_was_since() -> None:
    game = begun(new_game())
    opened = opening.find_by_id(game.pk)
    assert opened is not None
    state = steps.read(rules.blank(opened.terms()), log.since(game.pk, 0).lines)[-1].after
    late = state._replace(at=READY_MS + 60_000)
    assert [type(step.event).__name__ for step in steps.clock_steps(late, late.at + 10_000, stalled=False)] == [
        "Resumed",
        "CountdownStarted",
    ]
    assert [type(step.event).__name__ for step in steps.clock_steps(late, late.at, stalled=False)] == [
        "CountdownStarted"
    ]
