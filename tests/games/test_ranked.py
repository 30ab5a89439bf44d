"""Ranked games: for people who have played before, one seat a household, and no pair that feeds itself."""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal

import pytest
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import ladder, log, quick, ranked, repeats, rooms
from games.models import Game, Room, Seat, Waiting
from games.opening import NewSeat, open_game
from games.rooms import RoomRefusal
from tests.games.finishes import finish
from tests.games.night_watch import client_of
from tests.people import established

pytestmark = pytest.mark.django_db


def newcomer(name: str) -> User:
    """An account that was made a minute ago."""
    return User.objects.create_user(name)


@pytest.fixture
def alice() -> User:
    return established("Alice")


@pytest.fixture
def bob() -> User:
    return established("Bob")


def refusal(doing: Callable[[], object]) -> str:
    with pytest.raises(RoomRefusal) as refused:
        doing()
    return refused.value.code


def played(person: User, minutes: float = 10, **fields: object) -> Game:
    """A casual game that this person has just finished, against a bot."""
    ended = timezone.now()
    started_ms = int((ended - timedelta(minutes=minutes)).timestamp() * 1_000)
    columns = {"ranked": False, "finish_seq": None, "ended": ended, "started_ms": started_ms}
    return finish([person, None], **{**columns, **fields})  # type: ignore[arg-type]


def at_home(person: User, address: str) -> Client:
    """A browser in which this person uses the site from that address."""
    client = client_of(person)
    client.get("/play/", REMOTE_ADDR=address)
    return client


# Newcomers ------------------------------------------------------------------------------------------------------------


def test_no_door_leads_a_fresh_account_to_a_ranked_seat(alice: User) -> None:
    puppet = newcomer("Puppet")
    theirs = rooms.open_room(alice, ranked=True, public=False)
    own = rooms.open_room(puppet, size=2)
    rooms.invite(theirs, alice, "Puppet")
    usual = {"size": 2, "rulebook": "fr", "public": False, "faces": (), "limits": None}
    doors: list[Callable[[], object]] = [
        lambda: rooms.open_room(puppet, ranked=True),
        lambda: rooms.sit(theirs, puppet),
        lambda: rooms.change(own, puppet, ranked=True, **usual),  # type: ignore[arg-type]
        lambda: quick.enter(puppet, 2),
    ]
    assert {refusal(door) for door in doors} == {"new"}
    assert not Room.objects.filter(owner=puppet, ranked=True).exists()
    assert not Waiting.objects.exists()


def test_an_owner_makes_no_ranked_room_of_one_with_newcomers_in_it(alice: User) -> None:
    room = rooms.open_room(alice, size=2)
    rooms.sit(room, newcomer("Puppet"))
    usual = {"size": 2, "rulebook": "fr", "public": True, "faces": (), "limits": None}
    assert refusal(lambda: rooms.change(room, alice, ranked=True, **usual)) == "company"  # type: ignore[arg-type]


def test_a_newcomer_agrees_in_no_ranked_room(alice: User, bob: User) -> None:
    room = rooms.open_room(alice, ranked=True)
    rooms.sit(room, bob)
    User.objects.filter(pk=bob.pk).update(established_at=None)
    assert refusal(lambda: rooms.agree(room, bob)) == "new"
    assert refusal(lambda: rooms.agree(room, alice)) == "company"
    assert not Game.objects.exists()


@pytest.mark.parametrize(("mail", "needed"), [(False, 5), (True, 2)])
def test_ranked_games_open_after_casual_ones(mail: bool, needed: int) -> None:
    person = newcomer("Milady")
    EmailAddress.objects.create(user=person, email="milady@example.org", verified=mail)
    for number in range(needed):
        assert ranked.newcomer_of(person) == ranked.Newcomer(number, needed, mail)
        played(person)
    quick.enter(person, 2)
    EmailAddress.objects.all().delete()
    Seat.objects.all().delete()
    person.refresh_from_db()
    assert ranked.newcomer_of(person) is None, "an established player stays one"


@pytest.mark.parametrize(
    "fields", [{"rounds": 0}, {"reason": "void"}, {"minutes": 0.2}, {"ranked": True}, {"started_ms": None}]
)
def test_games_that_were_not_played_count_for_nothing(fields: dict[str, object]) -> None:
    person = newcomer("Milady")
    for _ in range(5):
        played(person, **fields)  # type: ignore[arg-type]
    left = played(person)
    Seat.objects.filter(game=left).update(conduct="left")
    assert ranked.newcomer_of(person) == ranked.Newcomer(0, 5, False)


def test_rated_players_of_former_days_are_established() -> None:
    old, other = newcomer("Old"), newcomer("Other")
    finish([old, other])
    ladder.rate_finished()
    assert ranked.newcomer_of(old) is None
    old.refresh_from_db()
    assert old.established_at is not None


@pytest.mark.parametrize("page", ["/play/", "/play/quick/", "/rooms/new/"])
def test_pages_tell_a_newcomer_how_far_they_are(page: str) -> None:
    person = newcomer("Milady")
    played(person)
    words = client_of(person).get(page).content.decode()
    assert "you have 1 of 5" in words
    assert 'name="players" value="2"' not in words
    established_ = client_of(established("Irma Vep")).get(page).content.decode()
    assert "you have" not in established_


def test_the_ranked_button_of_a_newcomers_form_is_shut(alice: User) -> None:
    page = client_of(newcomer("Milady")).get("/rooms/new/").content.decode()
    button = page[page.index('name="ranked" value="yes"') :].partition(">")[0]
    assert "disabled" in button
    page = client_of(alice).get("/rooms/new/").content.decode()
    button = page[page.index('name="ranked" value="yes"') :].partition(">")[0]
    assert "disabled" not in button


def test_a_ranked_room_shows_a_newcomer_no_seat_to_take(alice: User) -> None:
    room = rooms.open_room(alice, ranked=True)
    page = client_of(newcomer("Milady")).get(f"/rooms/{room.code}/").content.decode()
    assert "you have 0 of 5" in page
    assert "Sit down" not in page


# Households -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "other"), [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")])
def test_one_household_has_one_seat_at_a_ranked_table(alice: User, bob: User, own: str, other: str) -> None:
    at_home(alice, own)
    at_home(bob, other)
    room = rooms.open_room(alice, ranked=True)
    assert refusal(lambda: rooms.sit(room, bob)) == "household"
    casual = rooms.open_room(alice)
    rooms.sit(casual, bob)
    assert "Each household has one seat" in str(RoomRefusal("household"))


def test_moving_into_a_household_stops_a_start(alice: User, bob: User) -> None:
    at_home(alice, "192.0.2.7")
    browser = at_home(bob, "198.51.100.1")
    room = rooms.open_room(alice, ranked=True)
    rooms.sit(room, bob)
    session = browser.session
    session["noted_at"] = time.time() - 60
    session.save()
    browser.get("/play/", REMOTE_ADDR="192.0.2.7")
    assert refusal(lambda: rooms.agree(room, bob)) == "household"


def test_addresses_that_say_nothing_keep_no_pair_apart(alice: User, bob: User) -> None:
    at_home(alice, "127.0.0.1")
    at_home(bob, "127.0.0.1")
    rooms.sit(rooms.open_room(alice, ranked=True), bob)


def test_quick_match_seats_one_person_of_a_household(alice: User, bob: User) -> None:
    charlie = established("Charlie")
    for person, address in ((alice, "192.0.2.7"), (bob, "192.0.2.7"), (charlie, "198.51.100.1")):
        at_home(person, address)
        quick.enter(person, 2)
    Waiting.objects.update(since=timezone.now() - timedelta(hours=1))
    quick.sweep()
    assert [row.user for row in Waiting.objects.select_related("user")] == [bob]
    assert {seat.user_id for seat in Seat.objects.all()} == {alice.pk, charlie.pk}


def test_a_session_of_last_week_says_nothing_of_a_household(alice: User, bob: User) -> None:
    at_home(alice, "192.0.2.7")
    at_home(bob, "192.0.2.7")
    UserSession.objects.filter(user=bob).update(last_seen_at=timezone.now() - timedelta(days=7))
    rooms.sit(rooms.open_room(alice, ranked=True), bob)


# Pairs that meet again ------------------------------------------------------------------------------------------------


def end(people: Sequence[User], *, matched: bool = False, rounds: int = 1, traded: bool = True) -> Game:
    """A ranked game of a room between these people, ended through the log; the first of them wins."""
    room = Room.objects.create(ranked=True, public=False, waited_seconds=3 if matched else None)
    seats = [NewSeat(character, one.pk) for character, one in zip(("violet", "amber"), people, strict=True)]
    game = open_game(seats, ranked=True, room_id=room.pk)
    standings = tuple((place, 40 - place) for place in range(1, len(people) + 1))
    ending = log.Ending("abandoned", rounds, traded, game.pace, standings, forgives=False)
    now_ms = int(time.time() * 1_000)
    append = log.Append(game.pk, 0, (), None, None, now_ms, ended_ms=now_ms, ending=ending)
    assert not log.write([append])
    ladder.rate_finished()
    game.refresh_from_db()
    return game


@pytest.fixture(autouse=True)
def _no_midnight_between() -> None:
    """A pair's day may end while a test runs: then wait until it has begun."""
    now = timezone.now()
    if (now + timedelta(minutes=1)).date() != now.date():
        time.sleep(61 - now.second)


@pytest.mark.both_databases
def test_a_pair_that_feeds_itself_in_rooms_soon_earns_nothing(alice: User, bob: User) -> None:
    gains = []
    for _ in range(10):
        before = ladder.standing(alice.pk, "live").rating
        end([alice, bob])
        gains.append(ladder.standing(alice.pk, "live").rating - before)
    weights = list(Game.objects.order_by("finish_seq").values_list("weight", flat=True))
    assert weights == [100, 50, 25, 0, 0, 0, 0, 0, 0, 0]
    assert gains[0] == Decimal("30.00")
    assert gains[1] < gains[0] / 2
    assert gains[3:] == [0] * 7
    last = Game.objects.order_by("-finish_seq")[0]
    assert (last.rated, ladder.explain(last).why_not) == (
        "repeat",
        "not rated: the same players had met too often that day",
    )
    assert [one.differences for one in ladder.recount_all()] == [[], []]


def test_matched_pairs_count_whole_three_times_a_day(alice: User, bob: User) -> None:
    weights = [end([alice, bob], matched=True).weight for _ in range(7)]
    assert weights == [100, 100, 100, 50, 50, 25, 25]
    assert end([alice, bob]).weight == 0, "a room counts the matches too"
    assert end([alice, established("Charlie")]).weight == 100


def test_a_replay_of_the_ladder_finds_the_same_weights(alice: User, bob: User) -> None:
    first, *_ = [end([alice, bob]) for _ in range(4)]
    third = established("Charlie")
    end([bob, third])
    ladder.void_game(first.pk, None)
    ladder.replay()
    assert [one.differences for one in ladder.recount_all()] == [[], []]
    ladder.restore_game(first.pk)
    ladder.replay()
    assert [one.differences for one in ladder.recount_all()] == [[], []]
    assert ladder.standing(bob.pk, "live").games == 4


def test_the_page_of_a_game_says_how_much_it_counts(alice: User, bob: User) -> None:
    end([alice, bob])
    game = end([alice, bob])
    explained = ladder.explain(game)
    assert explained.weight == 50
    assert [sum(pair.points for pair in one.pairs) for one in explained.players] == [
        one.delta for one in explained.players
    ]
    assert [one.k for one in explained.players] == [30, 30]
    page = Client().get(f"/games/{game.code}/rating/").content.decode()
    assert "this game counts 50 %" in page


def test_another_day_or_ladder_is_another_count(alice: User, bob: User) -> None:
    game = end([alice, bob])
    yesterday = timezone.now() - timedelta(days=1)
    Game.objects.filter(pk=game.pk).update(ended=yesterday)
    Seat.objects.filter(game=game).update(ended=yesterday)
    assert end([alice, bob]).weight == 100
    last = end([alice, bob])
    assert last.weight == 50
    Game.objects.exclude(pk=last.pk).update(pace="relaxed", finish_seq=None)
    assert repeats.weight_of(last.pk) == 100


@pytest.mark.parametrize(("rounds", "traded"), [(0, False), (1, False), (5, False), (0, True)])
def test_a_game_in_which_nothing_was_traded_is_short(alice: User, bob: User, rounds: int, traded: bool) -> None:
    game = end([alice, bob], rounds=rounds, traded=traded)
    assert game.rated == "short"
    assert ladder.standing(alice.pk, "live").games == 0
    assert end([alice, bob]).weight == 100, "a short one is no meeting"


def test_quick_match_looks_for_others_before_a_pair_meets_again(alice: User, bob: User) -> None:
    end([alice, bob], matched=True)
    for person in (alice, bob):
        quick.enter(person, 2)
    assert quick.sweep() == 0
    Waiting.objects.update(since=timezone.now() - timedelta(seconds=quick.REPEAT_SECONDS + 1), seen=timezone.now())
    assert quick.sweep() == 1
