"""The lobby: what it lists, in which order, and that five hundred rooms cost no more than five."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psutil
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games import chat, clock, intervention, lobby, quick, rooms
from games.models import Game, Room, RoomSeat
from games.rules import terms
from tests.games.in_rooms import begin
from tests.people import established

pytestmark = pytest.mark.django_db

# What a page may take of processors, ours and the database's, on average over so many looks.
MOST_SECONDS, LOOKS = 0.1, 10
# Rooms that are over, which nobody should have to wade through.
CLOSED = 2_000


def open_many(first: int, last: int) -> None:
    """Rooms of four with two people in each, made without their history."""
    User.objects.bulk_create(
        User(name=f"Player {number} {one}", folded_name=f"player {number} {one}", password="!")
        for number in range(first, last)
        for one in "ab"
    )
    people = iter(User.objects.filter(name__startswith="Player ").exclude(room_seats__isnull=False).order_by("pk"))
    for number in range(first, last):
        pair = next(people), next(people)
        room = Room.objects.create(owner=pair[0], size=4, pace="relaxed" if number % 5 == 0 else "live")
        RoomSeat.objects.bulk_create(
            RoomSeat(room=room, number=place, user=person, character=character, live=room.pace == "live")
            for place, (person, character) in enumerate(zip(pair, ("violet", "amber"), strict=True))
        )


def close_many(number: int) -> None:
    ago = timezone.now() - timedelta(days=1)
    Room.objects.bulk_create(Room(closed=ago, why_closed="stale", touched=ago) for _ in range(number))


def processor_seconds() -> float:
    """What this process has taken so far, with the database's server for this connection."""
    seconds = time.process_time()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            taken = psutil.Process(cursor.fetchone()[0]).cpu_times()
        seconds += taken.user + taken.system
    return seconds


def queries_of(client: Client, address: str = "/play/") -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


def test_a_visitor_finds_public_games_to_watch(client: Client) -> None:
    alice, bob = (User.objects.create_user(name) for name in ("Alice", "Bob"))
    shown = []
    for public in (True, False):
        room = rooms.open_room(alice, public=public)
        rooms.sit(room, bob)
        rooms.agree(room, alice)
        rooms.agree(room, bob)
        game = Game.objects.get(room=room)
        # As its first event leaves it.
        Game.objects.filter(pk=game.pk).update(wake_at=clock.database_now() + 30_000)
        shown.append(f'href="/games/{game.code}/"' in client.get("/play/").content.decode())
        Game.objects.filter(pk=game.pk).update(ended=timezone.now())
        RoomSeat.objects.all().delete()
        assert "Games to watch" not in client.get("/play/").content.decode()
    assert shown == [True, False]


@pytest.mark.both_databases
def test_a_lobby_of_five_hundred_rooms_asks_no_more_than_one_of_five_and_is_made_in_a_tenth_of_a_second(
    client: Client, in_work: Callable[[float], float]
) -> None:
    client.force_login(established("Alice"))
    client.get("/play/")
    open_many(0, 5)
    few = queries_of(client)
    open_many(5, 500)
    close_many(CLOSED)
    assert queries_of(client) == queries_of(client, "/play/?page=9") == queries_of(client, "/play/?pace=live") == few
    before = processor_seconds()
    for _ in range(LOOKS):
        client.get("/play/")
    assert (processor_seconds() - before) / LOOKS < in_work(MOST_SECONDS)


def test_only_public_rooms_with_people_and_a_free_seat_where_nobody_plays_are_listed() -> None:
    names = ("Alice", "Bob", "Charlie", "Dora", "Edith", "Frank")
    alice, bob, charlie, dora, edith, frank = (established(name) for name in names)
    free = rooms.open_room(alice)
    rooms.open_room(bob, public=False)
    full = rooms.open_room(charlie)
    rooms.sit(full, dora)
    playing = rooms.open_room(edith)
    rooms.sit(playing, frank)
    for person in (edith, frank):
        rooms.agree(playing, person)
    assert Game.objects.count() == 1
    assert list(lobby.free_rooms()) == [free]
    rooms.stand(full, dora)
    assert set(lobby.free_rooms()) == {free, full}
    rooms.stand(free, alice)
    assert list(lobby.free_rooms()) == [full]


def test_a_live_room_in_which_nobody_is_leads_nobody_there_until_somebody_comes_back() -> None:
    alice, bob, charlie = (established(name) for name in ("Alice", "Bob", "Charlie"))
    live = rooms.open_room(alice, size=4, bots=["master"])
    rooms.sit(live, bob)
    relaxed = rooms.open_room(alice, size=3, pace="relaxed")
    assert list(lobby.free_rooms()) == [live, relaxed]
    RoomSeat.objects.update(seen=timezone.now() - rooms.AWAY * 2)
    assert list(lobby.free_rooms()) == [relaxed]
    own = rooms.sit_anywhere(charlie)
    assert own != live
    rooms.note(live, bob.pk)
    assert set(lobby.free_rooms()) == {live, relaxed, own}
    rooms.close(own, charlie)
    assert rooms.sit_anywhere(charlie) == live


@pytest.mark.parametrize("speed", Game.Pace.values)
def test_nobody_is_led_back_into_a_game_that_they_left_for_good(speed: terms.Pace, client: Client) -> None:
    alice, bob, charlie = (established(name) for name in ("Alice", "Bob", "Charlie"))
    room, game = begin(alice, bob, charlie, pace=speed)
    client.force_login(alice)
    assert room.code in client.get("/play/").content.decode()
    assert intervention.remove(game.pk, alice.pk)
    assert not lobby.running_games(alice.pk)
    assert lobby.running_games(bob.pk)
    assert room.code not in client.get("/play/").content.decode()
    assert client.get("/play/quick/").status_code == 200
    assert [rooms.plays_on(game, person.pk) for person in (alice, bob)] == [False, True]


def test_ones_own_games_say_with_whom_at_which_pace_and_until_when_at_no_more_questions_for_many(
    client: Client,
) -> None:
    alice, bob, charlie = (established(name) for name in ("Alice", "Bob", "Charlie"))
    client.force_login(alice)
    soon, later = (datetime(2040, 5, day, 12, tzinfo=UTC) for day in (1, 2))

    def due(game: Game, at: datetime) -> None:
        Game.objects.filter(pk=game.pk).update(wake_at=at.timestamp() * 1_000)

    late, late_game = begin(alice, bob, pace="relaxed")
    due(late_game, later)
    client.get("/play/")
    few = queries_of(client)
    theirs, their_game = begin(bob, alice, pace="relaxed")
    Game.objects.filter(pk=their_game.pk).update(awaits=0)
    due(their_game, soon)
    first, first_game = begin(bob, charlie, alice, pace="relaxed")
    due(first_game, soon)
    live, _ = begin(alice, pace="live", bots=["master"])
    assert queries_of(client) == few
    found = lobby.running_games(alice.pk)
    assert [game.address for game in found] == [f"/rooms/{room.code}/" for room in (first, late, live, theirs)]
    assert [game.due for game in found] == [True, True, False, False]
    assert [game.until for game in found] == [soon, later, None, soon]
    assert [game.pace for game in found] == ["relaxed", "relaxed", "live", "relaxed"]
    assert [set(game.opponents) for game in found if game.pace == "relaxed"] == [{"Bob", "Charlie"}, {"Bob"}, {"Bob"}]
    page = client.get("/play/").content.decode()
    assert page.count("Game with Bob") >= 2
    assert page.count('<time datetime="2040-05-01T12:00:00+00:00" data-local>') == 2
    assert "burglar</strong>" in page


def test_whoever_plays_finds_their_game_at_the_rooms_address_even_where_the_room_is_closed() -> None:
    alice, bob, charlie, dora = (established(name) for name in ("Alice", "Bob", "Charlie", "Dora"))
    room, game = begin(alice, bob, charlie, pace="relaxed")
    rooms.close_room(room)
    assert not room.seats.exists()
    assert intervention.remove(game.pk, bob.pk)
    before = {person.name: rooms.game_before(room, person.pk) for person in (alice, bob, charlie, dora)}
    assert before == {"Alice": game, "Bob": None, "Charlie": game, "Dora": None}


def test_rooms_are_found_by_pace_and_kind_and_the_fullest_comes_first() -> None:
    alice, bob, charlie, dora = (established(name) for name in ("Alice", "Bob", "Charlie", "Dora"))
    empty = rooms.open_room(alice, size=4, ranked=True)
    relaxed = rooms.open_room(bob, size=3, pace="relaxed")
    fuller = rooms.open_room(charlie, size=4)
    for person in (dora, established("Edith")):
        rooms.sit(fuller, person)
    assert list(lobby.free_rooms()) == [fuller, relaxed, empty]
    assert list(lobby.free_rooms(pace="relaxed")) == [relaxed]
    assert list(lobby.free_rooms(ranked=True)) == [empty]
    assert list(lobby.free_rooms("nonsense", pace="live", ranked=False)) == [fuller]


def test_the_part_of_the_lobby_that_lives_says_how_many_wait_for_a_match(client: Client) -> None:
    alice, bob = established("Alice"), established("Bob")
    client.force_login(alice)

    def waiting() -> int:
        return client.get("/play/", headers={"hx-request": "true"}).content.decode().count("1 waits")

    assert waiting() == 0
    quick.enter(bob, 3)
    assert waiting() == 1
    quick.leave(bob.pk)
    assert waiting() == 0
    assert client.get("/play/").content.decode().count('id="quick-match"') == 1


def test_whoever_is_invited_finds_the_room_among_their_own(client: Client) -> None:
    alice, bob = established("Alice"), established("Bob")
    room = rooms.open_room(alice, public=False)
    client.force_login(bob)
    assert room.code not in client.get("/play/").content.decode()
    rooms.invite(room, alice, "Bob")
    assert room.code in client.get("/play/").content.decode()
    rooms.sit(room, bob)
    rooms.show_out(room, alice, bob.pk)
    assert room.code not in client.get("/play/").content.decode()


def test_invitations_come_after_ones_own_rooms_however_many_they_are(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = established("Alice"), established("Bob")
    own = [rooms.open_room(bob, pace="relaxed") for _ in range(2)]
    others = [rooms.open_room(alice, pace="relaxed") for _ in range(3)]
    for room in others:
        rooms.invite(room, alice, "Bob")
    assert lobby.rooms_of(bob.pk) == [*own[::-1], *others[::-1]]
    monkeypatch.setattr(lobby, "MOST_GAMES", 3)
    assert lobby.rooms_of(bob.pk) == [*own[::-1], others[-1]]


@pytest.mark.parametrize("who_blocks", [0, 1])
def test_no_invitation_leads_to_somebody_blocked(who_blocks: int) -> None:
    alice, bob, charlie, dora = (established(name) for name in ("Alice", "Bob", "Charlie", "Dora"))
    of_alice, with_alice, without = (
        rooms.open_room(owner, size=3, pace="relaxed", public=False) for owner in (alice, charlie, dora)
    )
    rooms.sit(with_alice, alice)
    for room, host in ((of_alice, alice), (with_alice, charlie), (without, dora)):
        rooms.invite(room, host, "Bob")
    assert (set(lobby.rooms_of(bob.pk)), lobby.invitations(bob.pk)) == ({of_alice, with_alice, without}, 3)
    both = (alice, bob)
    chat.ignore(both[who_blocks], both[1 - who_blocks], blocked=True)
    assert (lobby.rooms_of(bob.pk), lobby.invitations(bob.pk)) == ([without], 1)
    rooms.sit(with_alice, bob)
    assert lobby.rooms_of(bob.pk) == [with_alice, without]
    chat.ignore(both[who_blocks], both[1 - who_blocks])
    assert lobby.invitations(bob.pk) == 2


def test_every_page_and_the_header_that_is_rung_say_how_many_invitations_wait(client: Client) -> None:
    alice, bob, charlie = (established(name) for name in ("Alice", "Bob", "Charlie"))
    first, second = rooms.open_room(alice, public=False), rooms.open_room(charlie, size=3)
    client.force_login(bob)
    assert "invitation" not in client.get("/play/turns/").content.decode()
    for room, host in ((first, alice), (second, charlie)):
        rooms.invite(room, host, "Bob")
    for address in ("/privacy/", "/play/turns/"):
        assert "2 invitations" in client.get(address).content.decode()
    rooms.sit(second, bob)
    assert "1 invitation" in client.get("/play/turns/").content.decode()
    rooms.close(first, alice)
    assert "invitation" not in client.get("/play/turns/").content.decode()
