"""Rooms: opened, sat in, agreed upon, played in, and played in again."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import lobby, rooms
from games.forms import UNITS
from games.models import Admission, Game, Ignored, Room, RoomSeat
from games.rooms import RoomRefusal
from games.rules import terms
from tests.games.in_rooms import play
from tests.people import established

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return established("Alice")


@pytest.fixture
def bob() -> User:
    return established("Bob")


@pytest.fixture
def charlie() -> User:
    return established("Charlie")


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def end(game: Game) -> None:
    Game.objects.filter(pk=game.pk).update(ended=timezone.now())


def refused(code: str) -> "pytest.RaisesExc[RoomRefusal]":
    return pytest.raises(RoomRefusal, check=lambda refusal: refusal.code == code)


def test_a_room_has_one_address_from_its_opening_over_its_games_to_the_next_one(alice: User, bob: User) -> None:
    ours, theirs = client_of(alice), client_of(bob)
    opened = ours.post("/rooms/", {"size": "2", "pace": "live", "ranked": "no", "public": "yes", "rulebook": "fr"})
    address = opened.headers["Location"]
    theirs.post(f"{address}sit/")
    ours.post(f"{address}agree/")
    assert not Game.objects.exists()
    theirs.post(f"{address}agree/")
    game = Game.objects.get()
    assert {seat.user for seat in game.seats.all()} == {alice, bob}
    room = game.room
    assert room is not None
    assert f"/games/{game.code}/" in Client().get(address).content.decode()
    assert f'href="{address}"' in ours.get(f"{address}seats/").content.decode()
    end(game)
    assert [rooms.game_before(room, person.pk) for person in (alice, bob)] == [game, game]
    ours.post(f"{address}back/")
    assert [rooms.game_before(room, person.pk) for person in (alice, bob)] == [None, game]
    game.seats.filter(user=alice).update(place=1, points=21, conduct="finished")
    game.seats.filter(user=bob).update(place=2, points=17, conduct="left")
    page = ours.get(address).content.decode()
    assert "Play again" in page
    assert page.index(">21<") < page.index("left the game") < page.index(">17<")
    game.seats.update(conduct="finished")
    ours.post(f"{address}agree/")
    theirs.post(f"{address}agree/")
    assert Game.objects.exclude(pk=game.pk).get().room == room


def test_whoever_sits_there_goes_along_to_the_game_that_begins_and_a_watcher_does_not(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    game = play(room, alice, bob)
    page = {"HTTP_HX_REQUEST": "true"}
    assert client_of(alice).get(f"/rooms/{room.code}/seats/", **page).headers["HX-Redirect"] == f"/rooms/{room.code}/"
    assert "HX-Redirect" not in Client().get(f"/rooms/{room.code}/seats/", **page).headers
    came_back = client_of(alice).get(f"/rooms/{room.code}/seats/", **page, HTTP_MIDNIGHT_GAME=game.code)
    assert "HX-Redirect" not in came_back.headers


def made_for(client: Client, room: Room) -> str:
    """What a page of this room says of itself."""
    return str(client.get(f"/rooms/{room.code}/seats/").context["made_for"])


def test_a_page_is_made_anew_for_whoever_is_somebody_else_there_by_now_and_for_nobody_else(
    alice: User, bob: User, charlie: User
) -> None:
    room = rooms.open_room(alice, size=4)
    address = f"/rooms/{room.code}/"
    visitor, ours, theirs = Client(), client_of(alice), client_of(bob)

    def asked(client: Client, page: str, act: str = "") -> bool:
        """Whether an answer to a page that was made for this brings a page of its own."""
        headers = {"hx-request": "true", "midnight-made-for": page}
        answer = (
            client.post(f"{address}{act}/", headers=headers) if act else client.get(f"{address}seats/", headers=headers)
        )
        return answer.headers.get("HX-Redirect") == address

    nobody, watcher, owner = made_for(visitor, room), made_for(theirs, room), made_for(ours, room)
    assert asked(visitor, nobody, "sit")
    assert asked(theirs, watcher, "sit")
    seated = made_for(theirs, room)
    assert not asked(theirs, seated, "agree")
    rooms.stand(room, alice)
    assert (asked(ours, owner), asked(visitor, nobody), asked(theirs, seated)) == (True, True, False)
    room.refresh_from_db()
    assert room.owner is not None
    rooms.stand(room, room.owner)
    assert asked(theirs, seated)
    page = theirs.get(address).content.decode()
    assert "Change the game" in page
    assert "The room of Bob" in theirs.get(f"{address}seats/", headers={"hx-request": "true"}).content.decode()
    rooms.sit(room, charlie)
    rooms.agree(room, charlie)
    rooms.start_now(room, bob)
    playing = made_for(theirs, room)
    end(Game.objects.get())
    assert asked(theirs, playing)


def test_why_not_is_said_on_the_page_that_is_made_anew(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    visitor = Client()
    page = {"hx-request": "true", "midnight-made-for": made_for(visitor, room)}
    visitor.post(f"/rooms/{room.code}/sit/", headers=page)
    assert "All seats are taken." in visitor.get(f"/rooms/{room.code}/").content.decode()


def test_a_visitor_sits_down_as_a_guest_in_a_casual_room(alice: User) -> None:
    room = rooms.open_room(alice)
    Client().post(f"/rooms/{room.code}/sit/")
    assert room.seats.get(number=1).user.is_guest  # type: ignore[union-attr]


def test_a_guest_sits_in_no_ranked_room(alice: User) -> None:
    room = rooms.open_room(alice, ranked=True)
    with refused("guest"):
        rooms.sit(room, User.objects.create_guest())


def test_a_person_has_one_live_seat_and_several_relaxed_ones(alice: User, bob: User) -> None:
    first = rooms.open_room(alice, size=3)
    rooms.sit(first, bob)
    second = rooms.open_room(alice)
    assert list(RoomSeat.objects.filter(user=alice).values_list("room", flat=True)) == [second.pk]
    first.refresh_from_db()
    assert first.owner == bob
    for _ in range(3):
        rooms.open_room(alice, pace="relaxed")
    assert RoomSeat.objects.filter(user=alice).count() == 4


def test_nobody_leaves_a_running_game_by_sitting_down_elsewhere(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    play(room, alice, bob)
    with refused("elsewhere"):
        rooms.open_room(alice)
    assert Room.objects.count() == 1


def test_two_people_do_not_get_one_seat(alice: User, bob: User, charlie: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob, 1)
    with refused("taken"):
        rooms.sit(room, charlie, 1)
    with refused("full"):
        rooms.sit(room, charlie)


def test_the_owner_stands_up_and_the_room_passes_to_whoever_sat_longest_or_closes(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    rooms.stand(room, alice)
    room.refresh_from_db()
    assert room.owner == bob
    rooms.stand(room, bob)
    room.refresh_from_db()
    assert (room.closed is not None, room.why_closed) == (True, "left")


def test_only_the_owner_shows_somebody_out_who_then_stays_out_until_invited(
    alice: User, bob: User, charlie: User
) -> None:
    room = rooms.open_room(alice, size=3)
    rooms.sit(room, bob)
    rooms.sit(room, charlie)
    with refused("not_owner"):
        rooms.show_out(room, bob, charlie.pk)
    rooms.show_out(room, alice, charlie.pk)
    with refused("removed"):
        rooms.sit(room, charlie)
    assert "has shown you out" in client_of(charlie).get(f"/rooms/{room.code}/").content.decode()
    with refused("not_owner"):
        rooms.invite(room, bob, "Charlie")
    rooms.invite(room, alice, "charlie")
    rooms.sit(room, charlie)


@pytest.mark.parametrize("person", ["", "x", "0", "-1", "999999", "9" * 25, "9" * 5_000, "{charlie}"])
def test_only_who_sits_there_is_shown_out(alice: User, charlie: User, person: str) -> None:
    room = rooms.open_room(alice)
    answer = client_of(alice).post(f"/rooms/{room.code}/show-out/", {"person": person.format(charlie=charlie.pk)})
    assert answer.status_code == 422
    assert "Whoever sat here sits elsewhere by now." in answer.content.decode()
    assert not Admission.objects.exists()


def test_an_invitation_goes_to_somebody_there_is_and_who_has_not_blocked_its_sender(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    with refused("nobody"):
        rooms.invite(room, alice, "Nobody")
    Ignored.objects.create(person=bob, other=alice, blocked=True)
    with refused("blocked"):
        rooms.invite(room, alice, "Bob")
    with refused("blocked"):
        rooms.sit(room, bob)
    assert not Admission.objects.exists()


def test_an_invitation_is_declined_and_may_come_again(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.invite(room, alice, "Bob")
    invited, offer = client_of(bob), "You are invited to this table."
    assert offer in invited.get(f"/rooms/{room.code}/").content.decode()
    assert "Invited: Bob" in client_of(alice).get(f"/rooms/{room.code}/").content.decode()
    for _ in range(2):
        assert offer not in invited.post(f"/rooms/{room.code}/decline/", follow=True).content.decode()
    assert lobby.invitations(bob.pk) == 0
    assert "Invited: Bob" not in client_of(alice).get(f"/rooms/{room.code}/").content.decode()
    rooms.invite(room, alice, "Bob")
    rooms.sit(room, bob)
    assert offer not in invited.get(f"/rooms/{room.code}/").content.decode()


def test_nobody_opens_rooms_or_invites_without_end_and_others_go_on(alice: User, bob: User) -> None:
    host = client_of(alice)
    assert [host.post("/play/anywhere/").status_code for _ in range(31)] == [302] * 30 + [429]
    assert "Wait a little and try again." in host.post("/rooms/", USUAL).content.decode()
    room = Room.objects.get(closed=None)
    invite, said = f"/rooms/{room.code}/invite/", {"name": "Bob"}
    assert [host.post(invite, said).status_code for _ in range(31)] == [302] * 30 + [429]
    assert host.post(f"/rooms/{room.code}/agree/").status_code == 302
    assert client_of(bob).post("/rooms/", USUAL).status_code == 302


def test_nobody_is_led_to_a_table_where_somebody_blocked_them_sits(alice: User, bob: User, charlie: User) -> None:
    room = rooms.open_room(alice, size=3)
    rooms.sit(room, bob)
    Ignored.objects.create(person=bob, other=charlie, blocked=True)
    assert rooms.sit_anywhere(charlie) != room


@pytest.mark.parametrize("who_blocks", ["owner", "visitor"])
def test_whoever_is_blocked_reads_so_before_sitting_down_and_finds_no_button(
    who_blocks: str, alice: User, bob: User, charlie: User
) -> None:
    room = rooms.open_room(alice)
    blocking, other = (alice, bob) if who_blocks == "owner" else (bob, alice)
    Ignored.objects.create(person=blocking, other=other, blocked=True)
    sentence = "Somebody here has blocked you, or you have blocked them."
    page = client_of(bob).get(f"/rooms/{room.code}/").content.decode()
    assert sentence in page
    assert "Sit down" not in page
    refusal = client_of(bob).post(f"/rooms/{room.code}/sit/")
    assert refusal.status_code == 422
    assert refusal.content.decode().count(sentence) == 1
    welcome = client_of(charlie).get(f"/rooms/{room.code}/").content.decode()
    assert sentence not in welcome
    assert "Sit down" in welcome


def test_bots_take_free_seats_of_casual_rooms_and_agree_to_everything(alice: User) -> None:
    room = rooms.open_room(alice, size=3)
    rooms.agree(room, alice)
    rooms.add_bot(room, alice, "master")
    rooms.add_bot(room, alice, "apprentice")
    game = Game.objects.get()
    assert sorted(game.seats.values_list("strength", flat=True)) == ["", "apprentice", "master"]
    with refused("people_only"):
        rooms.add_bot(rooms.open_room(established("Dora"), ranked=True), User.objects.get(name="Dora"), "x")


USUAL = {"size": "2", "pace": "live", "ranked": "no", "public": "yes", "rulebook": "fr"}


def opened(person: User, **said: str) -> Room:
    """The room that the form opens."""
    assert client_of(person).post("/rooms/", USUAL | said).status_code == 302
    return Room.objects.latest("pk")


def test_a_room_opens_with_markets_limits_and_bots_shows_them_and_keeps_them_for_the_next_game(
    alice: User, bob: User
) -> None:
    markets = {"market_1": "3B", "market_2": "1A", "market_3": "4A"}
    room = opened(alice, size="3", **markets, turn_ms="20", hand_ms="5", bots="1", strength="master")
    page = client_of(bob).get(f"/rooms/{room.code}/").content.decode()
    listed = client_of(bob).get("/play/").content.decode()
    assert all(said in page for said in ("Bot: Master", "Market 3B, Market 1A, Market 4A", "Turn, seconds</dt><dd>20"))
    assert all(said in listed for said in ("Alice, Bot", "3B 1A 4A", "Own limits"))
    rooms.sit(room, bob)
    for _ in range(2):
        game = play(room, alice, bob)
        assert (game.faces, game.limits["turn_ms"], game.limits["hand_ms"]) == (["3B", "1A", "4A"], 20_000, 5_000)
        assert game.limits["search_ms"] == 180_000
        assert sorted(game.seats.values_list("strength", flat=True)) == ["", "", "master"]
        end(game)
        game.seats.update(conduct="finished")


def test_the_limits_of_a_relaxed_room_are_said_in_minutes_and_its_page_tells_them(alice: User) -> None:
    room = opened(alice, pace="relaxed", turn_ms="4320", ready_ms="20")
    assert (room.limits["turn_ms"], room.limits["ready_ms"]) == (72 * 3_600_000, 20 * 60_000)
    page = client_of(alice).get(f"/rooms/{room.code}/").content.decode()
    assert "Relaxed: 3\xa0days for each turn" in page
    assert "Getting ready, minutes</dt><dd>20" in page
    usual = opened(alice, pace="relaxed", turn_ms="1440")
    assert (usual.limits, usual.faces, usual.seats.count()) == ({}, [], 1)
    assert "Relaxed: 1\xa0day for each turn" in client_of(alice).get(f"/rooms/{usual.code}/").content.decode()


@pytest.mark.parametrize("speed", terms.PACES)
@pytest.mark.parametrize("limit", terms.LIMIT_RANGES)
@pytest.mark.parametrize("end", [0, 1], ids=["least", "most"])
def test_every_limit_is_a_setting_over_its_whole_range(limit: str, end: int, speed: terms.Pace, alice: User) -> None:
    unit = UNITS[speed][limit]
    wanted = max(terms.settable(limit, speed)[end], unit if limit != "hold_ms" else 0)
    said = {limit: str(wanted // unit)}
    room = opened(alice, pace=speed, **said)
    assert room.limits[limit] == wanted
    shown = client_of(alice).get(f"/rooms/{room.code}/").context["settings_form"]
    assert shown[limit].value() == wanted // unit
    beyond = {limit: str(wanted // unit + (1 if end else -1))}
    assert client_of(alice).post("/rooms/", USUAL | {"pace": speed} | beyond).status_code == 422


def test_bots_in_all_other_seats_wait_for_the_owner_alone(alice: User) -> None:
    room = opened(alice, size="4", bots="3")
    assert set(room.seats.filter(user=None).values_list("strength", flat=True)) == {"apprentice"}
    assert not Game.objects.exists()
    assert play(room, alice).seats.count() == 4


@pytest.mark.parametrize(
    "said",
    [
        {"market_1": "1A"},
        {"market_1": "1A", "market_2": "1B"},
        {"market_1": "1A", "market_2": "5A"},
        {"turn_ms": "9"},
        {"pace": "relaxed", "turn_ms": "10081"},
        {"hand_ms": "2"},
        {"search_ms": "many"},
        {"ranked": "yes", "market_1": "1A", "market_2": "2A"},
        {"ranked": "yes", "turn_ms": "60"},
        {"ranked": "yes", "bots": "1"},
        {"bots": "2"},
        {"bots": "4", "size": "4"},
        {"bots": "-1"},
        {"bots": "1", "strength": "oracle"},
    ],
)
def test_a_room_that_no_game_can_have_is_refused_with_a_reason_and_not_opened(
    said: dict[str, str], alice: User
) -> None:
    refusal = client_of(alice).post("/rooms/", USUAL | said)
    assert refusal.status_code == 422
    assert "Please look at this again" in refusal.content.decode()
    assert not Room.objects.exists()


def test_a_ranked_room_and_one_without_free_seats_take_no_bots(alice: User) -> None:
    with refused("people_only"):
        rooms.open_room(alice, ranked=True, bots=["master"])
    with refused("full"):
        rooms.open_room(alice, bots=["master", "master"])
    assert not Room.objects.exists()


def test_a_change_of_the_game_is_agreed_to_anew(alice: User, bob: User) -> None:
    room = rooms.open_room(alice, size=3)
    rooms.sit(room, bob)
    rooms.agree(room, bob)
    said = {"size": "2", "ranked": "no", "public": "no", "rulebook": "es", "market_1": "1A", "market_2": "2B"}
    assert client_of(bob).post(f"/rooms/{room.code}/settings/", said).status_code == 422
    assert client_of(alice).post(f"/rooms/{room.code}/settings/", said | {"turn_ms": "60"}).status_code == 302
    room.refresh_from_db()
    assert (room.size, room.rulebook, room.public, room.faces) == (2, "es", False, ["1A", "2B"])
    assert room.limits["turn_ms"] == 60_000
    assert not room.seats.filter(agrees=True).exists()
    game = play(room, alice, bob)
    assert (game.faces, game.limits["turn_ms"]) == (["1A", "2B"], 60_000)


@pytest.mark.parametrize("free", [0, 1, 2])
def test_a_room_shrinks_to_its_people_whichever_seat_is_free(free: int, alice: User, bob: User) -> None:
    room = rooms.open_room(alice, size=3)
    first, second = (number for number in range(3) if number != free)
    rooms.sit(room, alice, second)
    rooms.sit(room, bob, first)
    said = {"size": "2", "ranked": "no", "public": "yes", "rulebook": "fr"}
    assert client_of(alice).post(f"/rooms/{room.code}/settings/", said).status_code == 302
    assert {seat.number for seat in room.seats.all()} == {0, 1}


@pytest.mark.parametrize(
    "said",
    [
        {"market_1": "1A"},
        {"market_1": "1A", "market_2": "1B"},
        {"market_1": "9Z", "market_2": "1B"},
        {"turn_ms": "1"},
        {"search_ms": "99999999999999999999"},
        {"ranked": "yes", "turn_ms": "60"},
        {"size": "5"},
        {"rulebook": "xx"},
    ],
)
def test_settings_that_no_game_can_have_are_refused_and_change_nothing(said: dict[str, str], alice: User) -> None:
    room = rooms.open_room(alice)
    usual = {"size": "2", "ranked": "no", "public": "yes", "rulebook": "fr"}
    assert client_of(alice).post(f"/rooms/{room.code}/settings/", usual | said).status_code == 422
    again = Room.objects.get()
    assert (again.size, again.rulebook, again.faces, again.limits, again.version) == (2, "fr", [], {}, room.version + 1)


def test_the_owner_starts_with_whoever_agrees_and_the_others_stand_up(alice: User, bob: User, charlie: User) -> None:
    room = rooms.open_room(alice, size=4)
    rooms.sit(room, bob)
    rooms.sit(room, charlie)
    with refused("alone"):
        rooms.start_now(room, alice)
    rooms.agree(room, charlie)
    rooms.start_now(room, alice)
    assert {seat.user for seat in Game.objects.get().seats.all()} == {alice, charlie}
    assert not room.seats.filter(user=bob).exists()


def test_whoever_went_away_after_agreeing_to_a_live_game_agrees_no_more(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    rooms.agree(room, bob)
    room.seats.filter(user=bob).update(seen=timezone.now() - 2 * rooms.AWAY)
    rooms.agree(room, alice)
    assert not Game.objects.exists()


def test_staff_closes_rooms_takes_people_out_and_gives_rooms_to_others(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    rooms.hand_over(room, bob)
    rooms.remove_person(room, alice)
    room.refresh_from_db()
    assert room.owner == bob
    with refused("removed"):
        rooms.sit(room, alice)
    rooms.close_room(room)
    assert "Staff has closed it" in client_of(bob).get(f"/rooms/{room.code}/").content.decode()
    with refused("closed"):
        rooms.sit(room, bob)


@pytest.mark.parametrize(
    "what", ["sit", "stand", "agree", "start", "bot", "bot-away", "show-out", "invite", "close", "back", "decline"]
)
def test_acts_are_posted_and_a_room_that_is_not_there_is_not_found(what: str, alice: User) -> None:
    room = rooms.open_room(alice)
    assert Client().get(f"/rooms/{room.code}/{what}/")["Location"] == f"/rooms/{room.code}/"
    assert Client().post(f"/rooms/nosuchroom/{what}/").status_code == 404
    assert Client().post(f"/rooms/{room.code}/dance/").status_code == 404


def test_the_last_one_to_agree_from_the_score_sheet_is_led_to_the_next_game_at_once(alice: User, bob: User) -> None:
    room = rooms.open_room(alice)
    rooms.sit(room, bob)
    end(play(room, alice, bob))
    assert client_of(alice).post(f"/rooms/{room.code}/agree/").headers["Location"] == f"/rooms/{room.code}/"
    assert rooms.game_before(room, alice.pk) is None
    assert client_of(bob).post(f"/rooms/{room.code}/agree/").headers["Location"] == f"/rooms/{room.code}/"
    assert rooms.game_before(room, bob.pk) == rooms.running_game(room) is not None


def test_a_ranked_room_shows_ratings_and_any_live_room_who_is_away(alice: User, bob: User) -> None:
    room = rooms.open_room(alice, ranked=True)
    rooms.sit(room, bob)
    page = client_of(alice).get(f"/rooms/{room.code}/").content.decode()
    assert page.count("1500?") == 2
    assert "away" not in page
    room.seats.filter(user=bob).update(seen=timezone.now() - 2 * rooms.AWAY)
    assert "away" in client_of(alice).get(f"/rooms/{room.code}/").content.decode()


def test_a_visitor_at_a_running_game_is_led_to_their_seat(client: Client) -> None:
    alice, bob = (User.objects.create_user(name) for name in ("Alice", "Bob"))
    room = rooms.open_room(alice, pace="relaxed")
    rooms.sit(room, bob)
    rooms.agree(room, alice)
    rooms.agree(room, bob)
    page = client.get(f"/rooms/{room.code}/").content.decode()
    assert f'href="/account/sign-in/?next=/rooms/{room.code}/">Sign in to your seat</a>' in page
    assert "Watch" in page
