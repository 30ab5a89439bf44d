"""The game's pages and their strangers: whoever is not there, has no seat, or sends what no page of ours sends."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from accounts.models import User
from games import allowance, log, rooms, rules, tables
from games.models import Event, Game, Room, Seat
from games.opening import NewSeat, open_game
from games.rules.commands import Pass, Ready
from games.shares import seal
from games.views.game import Asking
from tests.games.written import Written

PASS = json.dumps({"do": "pass"})


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("Alice")


@pytest_asyncio.fixture
async def stopped(transactional_db: None) -> AsyncIterator[None]:
    """Whatever tables a test starts are stopped again."""
    yield
    await tables.stop_here()


def new_game(person: User, *, begun: bool = True) -> Game:
    game = open_game([NewSeat("violet", person.pk), NewSeat("amber", strength="apprentice")])
    if begun:
        seal(game.pk)
    return game


def relaxed_game(person: User) -> Game:
    return open_game([NewSeat("violet", person.pk), NewSeat("amber", strength="apprentice")], pace="relaxed")


def relaxed_room(person: User) -> Room:
    """A room in which a relaxed game against a bot is being played."""
    room = rooms.open_room(person, pace="relaxed", bots=["apprentice"])
    rooms.agree(room, person)
    return room


def client_of(person: User) -> AsyncClient:
    client = AsyncClient()
    client.force_login(person)
    return client


@pytest.mark.django_db(transaction=True)
async def test_the_page_of_a_game_brings_the_cookie_of_all_its_forms(alice: User, stopped: None) -> None:
    game = await sync_to_async(new_game)(alice)
    client = await sync_to_async(client_of)(alice)
    await client.get(f"/games/{game.code}/")
    cookie = client.cookies["csrftoken"].value
    # What it fetches at once, in any order, brings no other one.
    for address in (f"/talk/g-{game.code}/", f"/games/{game.code}/exchange/"):
        fragment = await client.get(address)
        assert fragment.status_code == 200
        assert client.cookies["csrftoken"].value == cookie


# Getting in -----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_visitor_who_plays_against_bots_is_a_guest_in_a_casual_game_of_three(client: Client) -> None:
    response = client.post("/play/bots/")
    game = Game.objects.get()
    assert response.headers["Location"] == f"/games/{game.code}/"
    guest = User.objects.get()
    assert guest.is_guest
    assert [(seat.user, seat.strength) for seat in game.seats.order_by("number")] == [
        (guest, ""),
        (None, "apprentice"),
        (None, "apprentice"),
    ]
    assert (game.pace, game.ranked) == ("live", False)


def test_whoever_is_signed_in_stays_who_they_are_and_gets_the_bots_they_chose(client: Client, alice: User) -> None:
    client.force_login(alice)
    client.post("/play/bots/", {"bots": "3", "strength": "master"})
    assert User.objects.count() == 1
    assert list(Seat.objects.filter(kind="bot").values_list("strength", flat=True)) == ["master"] * 3
    assert len(set(Seat.objects.values_list("character", flat=True))) == 4


@pytest.mark.parametrize("said", [{"bots": "4"}, {"bots": "0"}, {"bots": "x"}, {"strength": "god"}])
def test_a_game_that_cannot_be_is_not_opened(said: dict[str, str], client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.post("/play/bots/", said).status_code == 422
    assert not Game.objects.exists()


def test_no_game_is_opened_by_a_link(client: Client, db: None) -> None:
    assert client.get("/play/bots/")["Location"] == "/play/"
    assert not Game.objects.exists()


def test_nobody_opens_games_against_bots_without_end(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert [client.post("/play/bots/").status_code for _ in range(31)] == [302] * 30 + [429]
    assert "Wait a little and try again." in client.post("/play/bots/").content.decode()


def test_the_tables_show_the_games_that_one_is_in_and_no_others(client: Client, alice: User) -> None:
    own, other = new_game(alice), new_game(User.objects.create_user("Bob"))
    client.force_login(alice)
    page = client.get("/play/").content.decode()
    assert own.code in page
    assert other.code not in page


# At the table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/games/nosuchgame/", "/games/nosuchgame/exchange/"])
async def test_a_game_that_is_not_there_is_not_found(address: str, stopped: None) -> None:
    assert (await AsyncClient().get(address)).status_code == 404


async def test_before_the_first_event_there_is_nothing_to_see(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person, begun=False)
    response = await (await sync_to_async(client_of)(person)).get(f"/games/{game.code}/exchange/")
    assert response.status_code == 200
    assert response.headers["Midnight-Seq"] == "0"


async def test_the_bar_of_a_table_or_a_replay_says_in_which_other_game_it_is_ones_turn(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    here, there, over = [await sync_to_async(relaxed_game)(person) for _ in range(3)]
    await sync_to_async(lambda: Written(over).play())()
    client = await sync_to_async(client_of)(person)

    async def led_to(address: str) -> list[str]:
        page: Any = await client.get(address)
        assert page.status_code == 200
        return re.findall(r'class="button primary turn" href="/games/(\w+)/"', page.content.decode())

    assert await led_to(f"/games/{here.code}/") == await led_to(f"/play/turns/?bar={here.code}") == [there.code]
    assert await led_to(f"/games/{there.code}/") == [here.code]
    assert await led_to(f"/games/{over.code}/replay/") == await led_to("/play/turns/") == [here.code]
    await Game.objects.filter(pk=there.pk).aupdate(awaits=0)
    assert await led_to(f"/games/{here.code}/") == []


async def test_the_bar_of_a_table_at_its_rooms_address_says_nothing_of_that_table(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    here, there = [await sync_to_async(relaxed_room)(person) for _ in range(2)]
    client = await sync_to_async(client_of)(person)
    leads = f'class="button primary turn" href="/rooms/{there.code}/"'
    page: Any = await client.get(f"/rooms/{here.code}/")
    assert leads in page.content.decode()
    assert f'turn" href="/rooms/{here.code}/"' not in page.content.decode()


async def test_a_stranger_may_look_on_but_plays_nothing(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person)
    assert (await AsyncClient().get(f"/games/{game.code}/")).status_code == 200
    response = await AsyncClient().post(f"/games/{game.code}/exchange/", {"command": PASS})
    assert response.status_code == 422
    assert "You are watching this game" in response.content.decode()


@pytest.mark.parametrize(
    "command",
    ["", "x", "[]", '{"do": "win"}', '{"do": "buy"}', "[" * 5_000, '{"do":"buy","market":9,"art":0,"pay":[1,1]}', PASS],
)
async def test_a_form_that_asks_for_what_cannot_be_is_told_why_not_and_changes_nothing(
    command: str, stopped: None
) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person)
    client = await sync_to_async(client_of)(person)
    response: Any = await client.post(f"/games/{game.code}/exchange/", {"command": command})
    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    # The game itself may have begun meanwhile: nothing was left to wait for.
    assert not await Event.objects.filter(game=game, seat__isnull=False).aexists()


async def test_what_a_form_asks_for_is_done_once_however_often_it_is_sent(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person)
    table = await (await tables.here()).table(game.code)
    assert table is not None
    table.wake()
    await table.settle()
    client = await sync_to_async(client_of)(person)
    words = {"command": json.dumps({"do": "ready", "on": True}), "id": "form-1"}
    for _ in range(2):
        response = await client.post(f"/games/{game.code}/exchange/", words)
        assert response.headers["Location"] == f"/games/{game.code}/"
    tail = await sync_to_async(log.since)(game.pk, 0)
    assert [line.command_id for line in tail.lines if line.seat == 0] == ["form-1"]


async def test_a_form_that_waits_behind_another_of_its_seat_hears_why_it_is_refused(stopped: None) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person)
    table = await (await tables.here()).table(game.code)
    assert table is not None
    table.wake()
    await table.settle()
    first, second = Asking(0, "en"), Asking(0, "en")
    table.play(first, 0, Ready(on=True), "form-1")
    table.play(second, 0, Pass(), "form-2")
    assert await table.settle()
    assert not first.refusal
    assert second.refusal


async def test_a_form_hears_so_when_its_table_breaks_off(stopped: None, monkeypatch: pytest.MonkeyPatch) -> None:
    person = await sync_to_async(User.objects.create_user)("Alice")
    game = await sync_to_async(new_game)(person)
    client, address = await sync_to_async(client_of)(person), f"/games/{game.code}/exchange/"
    assert (await client.get(address)).status_code == 200
    table = await (await tables.here()).table(game.code)
    assert table is not None
    table.wake()
    await table.settle()

    def break_off(*_of_a_command: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(rules, "decide", break_off)
    response = await client.post(address, {"command": json.dumps({"do": "ready", "on": True})})
    assert response.status_code == 422
    assert "Something went wrong here." in response.content.decode()


async def test_a_flood_of_forms_is_told_so_and_the_others_are_not(
    stopped: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Time stands still, however slow this machine is.
    monkeypatch.setattr(allowance, "monotonic", lambda: 0.0)
    person, other = [await sync_to_async(User.objects.create_user)(name) for name in ("Alice", "Bob")]
    games = [await sync_to_async(new_game)(one) for one in (person, other)]
    clients = [await sync_to_async(client_of)(one) for one in (person, other)]
    address = f"/games/{games[0].code}/exchange/"
    said = [(await clients[0].post(address, {"command": PASS})).content.decode() for _ in range(21)]
    assert not any("That was too fast" in one for one in said[:-1])
    assert "That was too fast: at most 20 commands a second." in said[-1]
    answer = await clients[1].post(f"/games/{games[1].code}/exchange/", {"command": PASS})
    assert "That was too fast" not in answer.content.decode()
