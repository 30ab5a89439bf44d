"""Quick match: who fits whom, how the window widens, and that nobody is matched twice or while they are gone."""

import threading
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import User
from games import chat, intervention, ladder, quick, ranked, rooms
from games.models import Game, Room, RoomSeat, Seat, Waiting
from games.opening import NewSeat, open_game
from games.rooms import RoomRefusal
from games.rules import terms
from tests.games.written import Written
from tests.people import established

NOW = timezone.now()


@pytest.fixture(autouse=True)
def it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of ten minutes is over before a whole run of the tests is."""
    monkeypatch.setitem(globals(), "NOW", timezone.now())


def people(number: int) -> list[User]:
    return [established(f"Player {chr(65 + one)}") for one in range(number)]


def waits(person: User, players: int = 2, *, rating: int = 1500, seconds: int = 0) -> Waiting:
    quick.enter(person, players)
    Waiting.objects.filter(user=person).update(rating=Decimal(rating), since=NOW - timedelta(seconds=seconds), seen=NOW)
    return Waiting.objects.get(user=person)


def seconds_later(seconds: int) -> datetime:
    Waiting.objects.update(seen=NOW + timedelta(seconds=seconds))
    return NOW + timedelta(seconds=seconds)


@pytest.mark.django_db
def test_two_who_fit_get_a_ranked_live_game_in_a_room_of_their_own_and_wait_no_more() -> None:
    alice, bob = people(2)
    waits(alice, seconds=20)
    waits(bob)
    assert quick.beat(bob.pk, NOW) is None
    game = Game.objects.get()
    assert (game.ranked, game.pace, {seat.user for seat in game.seats.all()}) == (True, "live", {alice, bob})
    assert Room.objects.get().waited_seconds == 10
    assert not Waiting.objects.exists()
    assert rooms.live_game_of(alice.pk) == game
    assert quick.usual_seconds(2, timezone.now()) == 10


@pytest.mark.django_db
def test_two_strangers_who_were_matched_end_with_the_ratings_of_the_table() -> None:
    alice, bob = people(2)
    for person in (alice, bob):
        waits(person)
    assert quick.beat(alice.pk, NOW) is None
    Written(Game.objects.get()).play()
    assert ladder.rate_finished() == 1
    ended = Game.objects.get()
    for seat in ended.seats.all():
        assert seat.user_id is not None
        expected = Decimal(1530) if seat.place == 1 else Decimal(1470)
        assert ladder.standing(seat.user_id, "live").rating == expected
    quick.enter(alice, 2)
    assert Waiting.objects.get().rating in (Decimal(1530), Decimal(1470))


@pytest.mark.django_db
@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_game_of_each_size_takes_so_many_and_leaves_the_rest_waiting(size: int) -> None:
    for person in people(size + 1):
        waits(person, size)
    assert quick.sweep(NOW) == 1
    assert Game.objects.get().seats.count() == size
    assert Waiting.objects.count() == 1


@pytest.mark.django_db
def test_those_who_want_games_of_other_sizes_do_not_meet() -> None:
    alice, bob = people(2)
    waits(alice, 2)
    waits(bob, 3)
    assert quick.sweep(NOW) == 0


@pytest.mark.django_db
def test_the_window_widens_step_by_step_until_anybody_will_do() -> None:
    alice, bob = people(2)
    waits(alice, rating=1500)
    waits(bob, rating=1710)
    assert quick.match(2, seconds_later(29)) == 0
    assert quick.match(2, seconds_later(30)) == 1


@pytest.mark.django_db
def test_after_three_minutes_of_both_the_distance_does_not_matter_any_more() -> None:
    alice, bob = people(2)
    waits(alice, rating=800, seconds=1_000)
    waits(bob, rating=2800)
    assert quick.match(2, seconds_later(179)) == 0
    assert quick.match(2, seconds_later(180)) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("who_blocks", [0, 1])
def test_whoever_is_blocked_is_never_matched_with_who_blocked_them(who_blocks: int) -> None:
    alice, bob, charlie = people(3)
    both = (alice, bob)
    chat.ignore(both[who_blocks], both[1 - who_blocks], blocked=True)
    waits(alice, seconds=1_000)
    waits(bob, seconds=900)
    assert quick.match(2, NOW) == 0
    waits(charlie, rating=2000, seconds=800)
    assert quick.match(2, NOW) == 1
    assert {seat.user for seat in Game.objects.get().seats.all()} == {alice, charlie}


@pytest.mark.django_db
def test_whoever_is_only_muted_is_matched() -> None:
    alice, bob = people(2)
    chat.ignore(alice, bob)
    waits(alice)
    waits(bob)
    assert quick.match(2, NOW) == 1


@pytest.mark.django_db
def test_whose_page_has_gone_is_not_matched_and_is_forgotten() -> None:
    alice, bob = people(2)
    waits(alice)
    waits(bob)
    Waiting.objects.filter(user=bob).update(seen=NOW - quick.GONE - timedelta(seconds=1))
    assert quick.beat(alice.pk, NOW) is not None
    Waiting.objects.filter(user=bob).update(seen=NOW - 3 * quick.GONE)
    quick.sweep(NOW)
    assert list(Waiting.objects.values_list("user", flat=True)) == [alice.pk]
    assert quick.beat(bob.pk, NOW) is None


@pytest.mark.django_db
def test_the_same_two_meet_ranked_at_most_ten_times_a_day() -> None:
    alice, bob, charlie = people(3)
    for _ in range(ranked.MOST_MEETINGS):
        game = open_game([NewSeat("violet", alice.pk), NewSeat("amber", bob.pk)], ranked=True)
        Game.objects.filter(pk=game.pk).update(ended=NOW)
    now = timezone.now()
    for person in (alice, bob):
        waits(person)
    Waiting.objects.update(seen=now)
    assert quick.match(2, now) == 0
    room = rooms.open_room(alice, ranked=True)
    with pytest.raises(RoomRefusal, match="ten times today"):
        rooms.sit(room, bob)
    waits(alice)
    waits(charlie)
    Waiting.objects.update(seen=now)
    assert quick.match(2, now) == 1
    Seat.objects.filter(game__ended__isnull=False).update(ended=now)
    assert ranked.meetings_today([alice.pk, bob.pk], now) == {frozenset((alice.pk, bob.pk)): ranked.MOST_MEETINGS}
    Game.objects.update(created=now - timedelta(days=1, minutes=1))
    assert ranked.meetings_today([alice.pk, bob.pk], now) == Counter()


@pytest.mark.django_db
def test_guests_the_barred_and_those_who_play_do_not_wait() -> None:
    alice, bob, charlie = people(3)
    with pytest.raises(RoomRefusal, match="Guests"):
        quick.enter(User.objects.create_guest(), 2)
    User.objects.filter(pk=charlie.pk).update(barred_until=timezone.now() + timedelta(hours=1))
    with pytest.raises(RoomRefusal, match="barred"):
        quick.enter(charlie, 2)
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    for person in (alice, bob):
        rooms.agree(room, person)
    with pytest.raises(RoomRefusal, match="another live game"):
        quick.enter(alice, 2)


@pytest.mark.django_db
def test_a_game_against_bots_is_a_live_seat_like_any_other(client: Client) -> None:
    alice, bob = people(2)
    client.force_login(alice)
    waits(alice)
    first = client.post("/play/bots/").headers["Location"]
    assert not Waiting.objects.exists()
    for address, said in (
        ("/play/bots/", {}),
        ("/play/quick/enter/", {"players": "2"}),
        ("/play/anywhere/", {}),
        ("/rooms/", {"size": "2", "pace": "live", "ranked": "no", "public": "yes", "rulebook": "fr"}),
    ):
        assert client.post(address, said).headers["Location"] == first
        assert "another live game" in client.get("/play/").content.decode()
    assert client.get("/play/quick/").headers["Location"] == first
    assert not Waiting.objects.exists()
    refusal = client.post(f"/rooms/{rooms.open_room(bob).code}/sit/").content.decode()
    assert "another live game" in refusal
    assert first in refusal
    assert Game.objects.count() == 1
    assert client.post("/rooms/", {"size": "2", "pace": "relaxed", "ranked": "no", "public": "yes", "rulebook": "fr"})
    assert RoomSeat.objects.filter(user=alice, live=False).exists()
    Game.objects.update(ended=timezone.now())
    assert client.post("/play/bots/").headers["Location"] != first


@pytest.mark.django_db
def test_whoever_plays_against_bots_stands_up_from_their_open_room(client: Client) -> None:
    (alice,) = people(1)
    rooms.open_room(alice)
    client.force_login(alice)
    client.post("/play/bots/")
    assert not RoomSeat.objects.exists()


@pytest.mark.django_db
def test_whoever_waits_leaves_their_open_room_and_whoever_sits_down_waits_no_more() -> None:
    (alice,) = people(1)
    room = rooms.open_room(alice)
    quick.enter(alice, 2)
    assert not RoomSeat.objects.exists()
    room.refresh_from_db()
    assert room.closed
    rooms.open_room(alice)
    assert not Waiting.objects.exists()


@pytest.mark.django_db
def test_whoever_sits_in_a_relaxed_room_or_whose_relaxed_game_begins_waits_on() -> None:
    alice, bob = people(2)
    room = rooms.open_room(bob, pace="relaxed")
    quick.enter(alice, 2)
    rooms.sit(room, alice)
    assert Waiting.objects.filter(user=alice).exists()
    for person in (alice, bob):
        rooms.agree(room, person)
    assert rooms.running_game(room) is not None
    assert Waiting.objects.filter(user=alice).exists()
    live = rooms.open_room(bob)
    rooms.sit(live, alice)
    assert not Waiting.objects.exists()


@pytest.mark.django_db
def test_whoever_was_barred_while_waiting_is_sent_away_and_the_others_are_matched() -> None:
    alice, bob, charlie = people(3)
    for person in (alice, bob, charlie):
        waits(person)
    User.objects.filter(pk=alice.pk).update(barred_until=timezone.now() + timedelta(hours=1))
    assert quick.match(2, NOW) == 1
    assert not Seat.objects.filter(user=alice).exists()
    assert not Waiting.objects.exists()


@pytest.mark.django_db
def test_the_page_tells_honestly_what_is_known(client: Client) -> None:
    alice, bob = people(2)
    client.force_login(alice)
    assert client.post("/play/quick/enter/", {"players": "2"}).headers["Location"] == "/play/quick/"
    page = client.get("/play/quick/").content.decode()
    assert "1400–1600" in page
    assert "nobody was matched in the last day" in page
    waits(bob, rating=2400)
    Waiting.objects.update(seen=timezone.now(), since=timezone.now() - timedelta(seconds=62))
    page = client.post("/play/quick/beat/").content.decode()
    assert "1:02" in page
    assert "1, 0 of them near you" in page
    assert client.post("/play/quick/leave/").headers["Location"] == "/play/"
    assert client.post("/play/quick/beat/").headers["HX-Redirect"] == "/play/quick/?ended=yes"
    sentence = "You do not wait for a match any more."
    assert sentence in client.get("/play/quick/?ended=yes").content.decode()
    assert sentence not in client.get("/play/quick/").content.decode()


@pytest.mark.django_db
def test_whoever_has_waited_three_minutes_reads_that_the_others_have_to_wait_as_long(client: Client) -> None:
    alice, bob = people(2)
    waits(alice, rating=1500, seconds=180)
    waits(bob, rating=2400)
    client.force_login(alice)
    page = client.post("/play/quick/beat/").content.decode()
    assert "<dt>Your range of ratings</dt><dd>all</dd>" in page
    assert "1, 0 of them near you" in page
    assert "once both have waited three minutes, ratings do not matter" in page


@pytest.mark.django_db
def test_a_visitor_is_asked_to_sign_in_before_waiting(client: Client) -> None:
    for address in ("/play/quick/enter/", "/play/quick/beat/", "/play/quick/leave/"):
        assert "/account/sign-in/" in client.post(address).headers["Location"]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_looked_for_by_four_at_once_everybody_is_matched_once() -> None:
    for person in people(8):
        waits(person)
    start, faults = threading.Barrier(4), list[BaseException]()

    def look() -> None:
        try:
            start.wait(10)
            quick.match(2, NOW)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not faults
    assert Game.objects.count() == 4
    assert set(Counter(Seat.objects.values_list("user", flat=True)).values()) == {1}
    assert not Waiting.objects.exists()


@pytest.mark.django_db
def test_whoever_has_played_for_years_is_looked_up_as_fast_as_a_newcomer() -> None:
    (alice,) = people(1)
    with CaptureQueriesContext(connection) as asked:
        ranked.meetings_today([alice.pk])
        ranked.pause_of(alice.pk)
    plans = []
    for question in asked.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {question['sql']}")
            plans.append(" ".join(row[-1] for row in cursor.fetchall() if "games_seat" in row[-1]))
    assert [plan.partition("INDEX ")[2] for plan in plans] == [
        "seats_at_tables (user_id=?)",
        "history_of_player (user_id=? AND ended>?)",
        "seats_left (user_id=? AND left_at>?)",
    ]


# Who left -------------------------------------------------------------------------------------------------------------


def left(person: User, ago: timedelta, conduct: str = "left", *, is_ranked: bool = True) -> None:
    other = User.objects.create_guest()
    game = open_game([NewSeat("violet", person.pk), NewSeat("amber", other.pk)], ranked=is_ranked)
    Game.objects.filter(pk=game.pk).update(ended=NOW - ago)
    Seat.objects.filter(game=game).update(ended=NOW - ago)
    Seat.objects.filter(game=game, user=person).update(conduct=conduct, left_at=NOW - ago)


@pytest.mark.parametrize(
    ("times", "pause"),
    [(0, 0), (1, 0), (2, 10), (3, 40), (4, 160), (5, 640), (6, 2560), (7, 4320), (50, 4320)],
)
def test_the_pause_after_leaving_grows_from_ten_minutes_to_three_days(times: int, pause: int) -> None:
    assert ranked.pause_after(times) == timedelta(minutes=pause)


@pytest.mark.django_db
def test_whoever_left_twice_in_a_month_waits_and_is_told_until_when_and_why(client: Client) -> None:
    (alice,) = people(1)
    left(alice, timedelta(days=31))
    left(alice, timedelta(minutes=5), is_ranked=False)
    left(alice, timedelta(days=3), "missed")
    assert ranked.pause_of(alice.pk, NOW) is None
    left(alice, timedelta(minutes=2))
    pause = ranked.pause_of(alice.pk, NOW)
    assert pause is not None
    assert (pause.times, pause.until) == (2, NOW + timedelta(minutes=8))
    assert ranked.pause_of(alice.pk, NOW + timedelta(minutes=8)) is None
    with pytest.raises(RoomRefusal, match="left ranked games more than once"):
        quick.enter(alice, 2)
    client.force_login(alice)
    assert "You left 2 ranked games lately" in client.get("/play/").content.decode()
    rooms.open_room(alice)


@pytest.mark.django_db
@pytest.mark.parametrize("pace", ["live", "relaxed"])
def test_whoever_left_ranked_games_waits_while_those_still_run_and_no_longer_where_they_become_void(pace: str) -> None:
    alice, *others = people(3)
    for _ in range(2):
        game = open_game(
            [NewSeat(character, one.pk) for character, one in zip(terms.CHARACTERS, [alice, *others], strict=False)],
            ranked=True,
            pace=pace,
        )
        assert intervention.leave(game.pk, alice.pk)
        game.refresh_from_db()
        assert game.ended is None
    pause = ranked.pause_of(alice.pk)
    assert pause is not None
    left_at = game.seats.get(user=alice).left_at
    assert (pause.times, pause.until - ranked.FIRST_PAUSE) == (2, left_at)
    with pytest.raises(RoomRefusal, match="left ranked games more than once"):
        quick.enter(alice, 2)
    assert intervention.void(game.pk)
    assert ranked.pause_of(alice.pk) is None


def shown_until(end: datetime) -> str:
    said = date_format(end, "SHORT_DATETIME_FORMAT")
    return f'<time datetime="{end.isoformat(timespec="seconds")}" data-local>{said} UTC</time>'


@pytest.mark.django_db
@pytest.mark.parametrize("act", ["agree", "start"])
def test_whoever_is_paused_reads_in_a_ranked_room_why_and_until_when(act: str, client: Client) -> None:
    alice, bob = people(2)
    theirs, own = rooms.open_room(bob, ranked=True), rooms.open_room(alice, ranked=True, pace="relaxed")
    rooms.sit(own, bob)
    rooms.agree(own, bob)
    for _ in range(2):
        left(alice, timedelta(minutes=2))
    end = shown_until(NOW + timedelta(minutes=8))
    client.force_login(alice)
    page = client.get(f"/rooms/{theirs.code}/").content.decode()
    assert end in page
    assert "Sit down" not in page
    for address in (f"/rooms/{theirs.code}/sit/", f"/rooms/{own.code}/{act}/"):
        refused = client.post(address)
        assert (refused.status_code, refused.content.decode().count(end)) == (422, 1), address
        assert "left ranked games more than once" in refused.content.decode(), address
    form = {"size": "2", "pace": "live", "ranked": "yes", "public": "yes", "rulebook": "fr"}
    assert end in client.post("/rooms/", form).content.decode()
    assert end in client.get("/play/").content.decode()
    assert end in client.post("/play/quick/enter/", {"players": "2"}).content.decode()
    assert end not in client.get(f"/rooms/{rooms.open_room(bob).code}/").content.decode()


@pytest.mark.django_db
def test_whoever_is_not_paused_is_not_told_that_they_are(client: Client) -> None:
    alice, bob, charlie = people(3)
    room = rooms.open_room(bob, ranked=True, size=3)
    for person in (alice, charlie):
        rooms.sit(room, person)
    rooms.agree(room, charlie)
    for _ in range(2):
        left(alice, timedelta(minutes=2))
    client.force_login(bob)
    for act in ("agree", "start"):
        RoomSeat.objects.filter(user=alice).update(agrees=True)
        page = client.post(f"/rooms/{room.code}/{act}/")
        assert page.status_code == 422
        assert "Somebody at this table may not play ranked games just now." in page.content.decode()
        assert "You left" not in page.content.decode()
    User.objects.filter(pk=bob.pk).update(barred_until=timezone.now() + timedelta(hours=1))
    assert "You are barred from ranked games." in client.post(f"/rooms/{room.code}/agree/").content.decode()
    assert not Game.objects.filter(room=room).exists()
