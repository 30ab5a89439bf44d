"""The header of every page: the way back to a live game, and a rematch that another player asks for."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import rooms
from games.models import Game, Room
from tests.games.in_rooms import play
from tests.games.written import Written

pytestmark = pytest.mark.django_db


def seated(*names: str) -> tuple[Room, list[User]]:
    people = [User.objects.create_user(name) for name in names]
    room = rooms.open_room(people[0], size=len(people))
    for person in people[1:]:
        rooms.sit(room, person)
    return room, people


def playing(*names: str) -> tuple[Game, list[User]]:
    room, people = seated(*names)
    return play(room, *people), people


def header_of(person: User, address: str = "/ladders/") -> str:
    client = Client()
    client.force_login(person)
    return client.get(address).content.decode().partition("</header>")[0]


@pytest.mark.parametrize("address", ["/ladders/", "/", "/play/turns/"])
def test_every_page_leads_back_to_a_running_live_game(address: str) -> None:
    game, (ada, _bob) = playing("Ada", "Bob")
    assert f'href="{rooms.address_of_seat(game)}"' in header_of(ada, address)
    assert "Back to your game" not in header_of(User.objects.create_user("Eve"), address)


def test_the_clock_stands_in_the_header_only_when_one_is_awaited() -> None:
    game, (ada, bob) = playing("Ada", "Bob")
    in_a_minute = int(timezone.now().timestamp() * 1000) + 60_000
    Game.objects.filter(pk=game.pk).update(
        wake_at=in_a_minute, awaits=1 << game.seats.get(user=ada).number, head=1, started_ms=1
    )
    assert "data-countdown" in header_of(ada)
    assert "data-countdown" not in header_of(bob)


def test_the_game_page_does_not_lead_to_itself() -> None:
    game, (ada, _bob) = playing("Ada", "Bob")
    assert "Back to your game" not in header_of(ada, f"/play/turns/?bar={game.code}")
    client = Client(headers={"HX-Request": "true", "HX-Current-URL": f"http://testserver{rooms.address_of_seat(game)}"})
    client.force_login(ada)
    assert "Back to your game" not in client.get("/play/turns/").content.decode()


def test_no_page_leads_back_to_a_game_that_was_left_or_is_over() -> None:
    game, (ada, bob) = playing("Ada", "Bob")
    Game.objects.filter(pk=game.pk).update(left=1 << game.seats.get(user=ada).number)
    assert "Back to your game" not in header_of(ada)
    assert "Back to your game" in header_of(bob)
    Written(game).play()
    assert "Back to your game" not in header_of(bob)


def over(*names: str) -> tuple[Room, list[User]]:
    game, people = playing(*names)
    Written(game).play()
    assert game.room is not None
    return game.room, people


def test_a_rematch_is_offered_to_the_others_with_the_count() -> None:
    room, (ada, bob, cleo) = over("Ada", "Bob", "Cleo")
    assert rooms.rematch_for(bob.pk) is None
    rooms.agree(room, ada)
    for person in (bob, cleo):
        header = header_of(person)
        assert "Ada wants a rematch (1 of 3 ready)" in header
        assert f'action="/rooms/{room.code}/agree/"' in header
    assert "wants a rematch" not in header_of(ada)
    rooms.agree(room, bob)
    assert "(2 of 3 ready)" in header_of(cleo)


def test_one_press_accepts_the_rematch_and_starts_it() -> None:
    room, (ada, bob) = over("Ada", "Bob")
    rooms.agree(room, ada)
    client = Client()
    client.force_login(bob)
    answer = client.post(f"/rooms/{room.code}/agree/")
    assert (answer.status_code, answer["Location"]) == (302, f"/rooms/{room.code}/")
    assert rooms.running_game(room) is not None


@pytest.mark.parametrize("where", ["", "seats/"])
def test_the_room_itself_offers_no_rematch_in_its_header(where: str) -> None:
    room, (ada, bob) = over("Ada", "Bob")
    rooms.agree(room, ada)
    rooms.back(room, bob.pk)
    assert "wants a rematch" not in header_of(bob, f"/rooms/{room.code}/{where}")


def test_a_rematch_taken_back_is_offered_no_longer() -> None:
    room, (ada, bob) = over("Ada", "Bob")
    rooms.agree(room, ada)
    rooms.agree(room, ada, on=False)
    assert rooms.rematch_for(bob.pk) is None
    rooms.agree(room, ada)
    rooms.stand(room, ada)
    assert rooms.rematch_for(bob.pk) is None


def test_an_old_game_and_a_new_player_make_no_rematch() -> None:
    room, (ada, bob) = over("Ada", "Bob")
    rooms.agree(room, ada)
    rooms.stand(room, bob)
    newcomer = User.objects.create_user("Dan")
    rooms.sit(room, newcomer)
    assert rooms.rematch_for(newcomer.pk) is None
    other, (eve, finn) = over("Eve", "Finn")
    rooms.agree(other, eve)
    Game.objects.filter(room=other).update(ended=timezone.now() - timedelta(hours=1))
    assert rooms.rematch_for(finn.pk) is None
