"""The staff page of what is wrong: it says what is, and shows it to staff only."""

import time

import pytest
import redis
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from games import clock, gauges, ladder, tasks, troubles
from games.models import Career, Game, Nudge, Proof, Rating, Server
from games.models.play import MOST_STALLED_MS
from games.rules import terms
from midnight import health
from tests.games.finishes import finish, people
from tests.games.night_watch import client_of, moderator

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.both_databases,
    pytest.mark.usefixtures("no_other_process"),
]


def wrong() -> list[str]:
    return [finding.what for finding in troubles.look() if finding.wrong]


@pytest.fixture
def all_well() -> None:
    health.beat()
    Server.objects.create(name="web:1", seen=clock.database_now())


@pytest.mark.usefixtures("all_well")
def test_where_all_is_well_nothing_is_wrong() -> None:
    assert wrong() == []


def test_the_key_of_the_heartbeat_is_the_one_that_the_worker_writes() -> None:
    assert troubles.HEARTBEAT == health.HEARTBEAT
    assert troubles.OLD_HEARTBEAT_SECONDS == health.OLDEST_HEARTBEAT


def test_games_that_nobody_looks_after_are_wrong_from_the_first_line() -> None:
    finish(people("Alice", "Bob"), ended=None, finish_seq=None)
    assert wrong() == ["Web processes, and when they were last heard of", "Last heartbeat of the worker"]


@pytest.mark.usefixtures("all_well")
def test_a_filled_game_and_a_stalled_one_are_shown_for_a_week() -> None:
    alice, bob = people("Alice", "Bob")
    filled = finish([alice, bob], ended=timezone.now(), reason="void", head=terms.MOST_EVENTS)
    stalled = finish([alice, bob], ended=timezone.now(), stalled_ms=MOST_STALLED_MS + 1)
    finish([alice, bob], ended=timezone.now(), reason="void", head=200)
    finish([alice, bob], ended=timezone.now(), stalled_ms=MOST_STALLED_MS)
    shown = {
        "Games that ended at their greatest length": [filled.code],
        "Rated games whose server stood still for more than a minute": [stalled.code],
    }
    assert {one.what: list(one.games) for one in troubles.look() if one.what in shown and one.wrong} == shown
    Game.objects.update(ended=timezone.now() - 2 * troubles.LOOKED_AT)
    assert not any(one.wrong for one in troubles.look() if one.what in shown)


@pytest.mark.usefixtures("all_well")
def test_each_trouble_is_named_with_the_games_to_look_at(valkey: redis.Redis) -> None:
    alice, bob = people("Alice", "Bob")
    parked = finish([alice, bob], places=[1, 1])
    ladder.rate_finished()
    unrated = finish([alice, bob])
    unrecorded = finish([alice, bob], ended=timezone.now(), kept_as="parked")
    late = finish([alice, bob], ended=None, finish_seq=None, wake_at=clock.database_now() - 61_000, pace="relaxed")
    Server.objects.create(name="web:2", seen=clock.database_now() - 5_000)
    valkey.set(health.HEARTBEAT, time.time() - 60)
    for queue in (gauges.QUEUE, settings.LETTERS_QUEUE):
        valkey.lpush(queue, *range(troubles.MOST_JOBS + 1))
    assert set(wrong()) == {
        "Web processes, and when they were last heard of",
        "Last heartbeat of the worker",
        "Jobs that wait",
        "Letters that wait",
        "Finished games without a rating: live",
        "Tables whose time passed more than a minute ago",
        "Games that cannot be rated",
        "Games that make no record",
        "Finished games that are no records yet",
        "Finished games that no career counts yet",
    }
    named = {code for finding in troubles.look() for code in finding.games}
    assert named == {parked.code, unrated.code, late.code, unrecorded.code}


@pytest.mark.usefixtures("all_well")
def test_a_heartbeat_of_the_future_is_wrong(valkey: redis.Redis) -> None:
    valkey.set(health.HEARTBEAT, time.time() + 3_600)
    assert wrong() == ["Last heartbeat of the worker"]


@pytest.mark.usefixtures("all_well")
@pytest.mark.parametrize("skew", [-3_600_000, 3_600_000])
def test_a_clock_that_was_set_is_wrong_until_the_two_agree_again(skew: int) -> None:
    now = clock.database_now()
    Server.objects.update(seen=now, clock=now + skew, skew=skew)
    assert wrong() == ["The clock of the games is ahead of the database's by"]
    Server.objects.update(clock=now, skew=0)
    assert wrong() == []


@pytest.mark.usefixtures("all_well")
def test_a_sign_of_life_of_the_future_is_wrong() -> None:
    Server.objects.create(name="web:2", seen=clock.database_now() + 3_600_000)
    assert wrong() == ["Web processes, and when they were last heard of"]


@pytest.mark.usefixtures("all_well")
def test_what_recounts_find_is_wrong_until_one_finds_nothing() -> None:
    alice, bob = people("Alice", "Bob")
    finish([alice, bob], kept_as="record")
    tasks.rate_finished()
    tasks.count_finished()

    def recounted() -> list[str]:
        tasks.recount_ladders()
        tasks.recount_careers()
        return wrong()

    assert recounted() == []
    Rating.objects.filter(user=alice).update(rating=1900)
    Career.objects.filter(user=bob).update(won=7)
    found = ["Differences in the last recount: ratings of live games", "Differences in the last recount: careers"]
    assert recounted() == found
    # Careers are put right by their recount.
    assert recounted() == found[:1]
    Rating.objects.filter(user=alice).update(rating=1530)
    assert recounted() == []
    Proof.objects.filter(of="relaxed").update(at=timezone.now() - 2 * troubles.UNPROVED)
    assert wrong() == ["Differences in the last recount: ratings of relaxed games"]


@pytest.mark.usefixtures("all_well")
def test_a_redis_that_is_away_is_the_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "unix:///nowhere/valkey.sock")
    assert wrong() == ["Redis"]


def test_only_staff_may_look() -> None:
    client = Client()
    assert client.get("/moderation/wrong/").status_code == 302
    [alice] = people("Alice")
    client.force_login(alice, settings.AUTHENTICATION_BACKENDS[0])
    assert client.get("/moderation/wrong/").status_code == 403


def test_the_page_asks_the_database_equally_often_however_much_is_wrong() -> None:
    alice, bob = people("Alice", "Bob")
    counts = []
    for number in (1, 10):
        for _ in range(number):
            finish([alice, bob], places=[1, 1])
        Game.objects.update(rated="parked")
        with CaptureQueriesContext(connection) as asked:
            troubles.look()
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 26


def test_staff_sees_what_is_wrong_and_the_page_looks_again_by_itself() -> None:
    office = client_of(moderator())
    page = office.get("/moderation/wrong/").content.decode()
    assert "Last heartbeat of the worker" in page
    assert 'hx-get="/moderation/wrong/" hx-trigger="every 5s"' in page
    piece = office.get("/moderation/wrong/", headers={"HX-Request": "true"}).content.decode()
    assert "Last heartbeat of the worker" in piece
    assert "<html" not in piece


@pytest.mark.usefixtures("all_well")
def test_letters_that_do_not_go_out_are_wrong_as_long_as_somebody_is_waited_for() -> None:
    game = finish(people("Alice", "Bob"), ended=None, finish_seq=None, pace="relaxed", awaits=0b11)
    Nudge.objects.create(seat=game.seats.get(number=0), tried=timezone.now())
    assert wrong() == []
    Nudge.objects.update(tried=timezone.now() - 2 * troubles.UNSENT)
    (finding,) = [one for one in troubles.look() if one.wrong]
    assert (finding.what, finding.now, finding.games) == ("Letters that do not go out", "1", [game.code])
    Game.objects.update(awaits=0b10)
    assert wrong() == []
    Game.objects.update(awaits=0b11)
    Nudge.objects.update(tried=timezone.now() - 2 * troubles.NOT_NEEDED)
    assert wrong() == []
