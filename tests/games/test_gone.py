"""Who closes their account, is suspended or deleted: no room, queue, game or letter waits for them (R8.8)."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.utils import timezone

from accounts import closing, moderation
from accounts.models import User
from games import intervention, pace, quick, rooms
from games.models import Game, Room, RoomSeat, Seat, Waiting
from games.rules.terms import Pace
from tests.games.in_rooms import begin
from tests.people import established

Going = Callable[[User], None]


def suspend(person: User) -> None:
    moderation.suspend(person, timezone.now() + timedelta(days=1), by="Juve")


GOING = [closing.close, closing.delete, suspend]


@pytest.fixture
def alice(db: None) -> User:
    return established("Alice")


@pytest.fixture
def bob(db: None) -> User:
    return established("Bob")


def game_of(pace: Pace, *people: User) -> Game:
    return begin(*people, pace=pace)[1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("go", GOING)
def test_their_seat_in_a_room_and_their_place_in_the_queue_are_free(go: Going, alice: User, bob: User) -> None:
    quick.enter(alice, 2)
    go(alice)
    assert not Waiting.objects.exists()
    room = rooms.open_room(bob)
    go(bob)
    room.refresh_from_db()
    assert room.closed
    assert not RoomSeat.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("go", "conduct"), [(closing.close, "left"), (closing.delete, "left"), (suspend, "removed")])
def test_they_leave_a_live_game_at_once_and_their_room(go: Going, conduct: str, alice: User, bob: User) -> None:
    game = game_of("live", bob, alice)
    go(bob)
    game.refresh_from_db()
    assert (game.reason, Seat.objects.get(user=bob).conduct) == ("abandoned", conduct)
    assert [seat.user for seat in RoomSeat.objects.all()] == [alice]
    assert Room.objects.get().owner == alice


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("go", GOING)
def test_their_room_is_the_others_while_these_play_on(go: Going, alice: User, bob: User) -> None:
    charlie = established("Charlie")
    game = game_of("live", bob, alice, charlie)
    go(bob)
    game.refresh_from_db()
    assert game.ended is None
    assert {seat.user for seat in RoomSeat.objects.all()} == {alice, charlie}
    assert Room.objects.get().owner == alice


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("go", [closing.close, suspend])
def test_where_they_may_play_on_in_time_their_room_waits_too(go: Going, alice: User, bob: User) -> None:
    game_of("relaxed", bob, alice)
    go(bob)
    assert {seat.user for seat in RoomSeat.objects.all()} == {alice, bob}
    assert Room.objects.get().owner == bob


@pytest.mark.django_db(transaction=True)
def test_a_relaxed_game_waits_for_who_may_come_back_and_not_for_who_is_gone_for_good(alice: User, bob: User) -> None:
    game = game_of("relaxed", alice, bob)
    closing.close(bob)
    game.refresh_from_db()
    assert game.ended is None
    closing.reopen(bob)
    closing.delete(bob)
    game.refresh_from_db()
    assert (game.reason, Seat.objects.get(user=bob).conduct) == ("abandoned", "left")


@pytest.mark.django_db(transaction=True)
def test_a_game_that_cannot_be_left_keeps_nobody_in_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = game_of("relaxed", alice, bob), game_of("relaxed", bob, alice)
    leave = intervention.leave

    def leave_but_one(game_id: int, person_id: int) -> bool:
        if game_id == first.pk:
            raise OSError("no answer")
        return leave(game_id, person_id)

    monkeypatch.setattr(intervention, "leave", leave_but_one)
    closing.delete(bob)
    assert list(Game.objects.filter(ended=None)) == [first]
    second.refresh_from_db()
    assert second.reason == "abandoned"


@pytest.mark.django_db
def test_leaving_a_game_that_one_is_not_in_changes_nothing(alice: User, bob: User) -> None:
    game = game_of("relaxed", alice, bob)
    assert not intervention.leave(game.pk, established("Charlie").pk)
    assert intervention.leave(game.pk, bob.pk)
    assert not intervention.leave(game.pk, bob.pk)


@pytest.mark.django_db
@pytest.mark.parametrize("gone", ["closed_at", "suspended_until"])
def test_nobody_is_matched_with_who_is_gone(gone: str, alice: User, bob: User) -> None:
    """Even where the row in the queue is still there."""
    for person in (alice, bob):
        quick.enter(person, 2)
    User.objects.filter(pk=bob.pk).update(**{gone: timezone.now() + timedelta(hours=1)})
    assert quick.sweep() == 0
    assert not Room.objects.exists()
    assert [row.user for row in Waiting.objects.all()] == [alice]


@pytest.mark.django_db
@pytest.mark.parametrize(("gone", "at"), [("closed_at", timedelta(hours=-1)), ("suspended_until", timedelta(hours=1))])
def test_no_letter_tells_who_is_gone_that_it_is_their_turn(gone: str, at: timedelta, alice: User, bob: User) -> None:
    cache.clear()
    for person in (alice, bob):
        address = f"{person.name.lower()}@example.org"
        EmailAddress.objects.create(user=person, email=address, verified=True, primary=True)
    game = game_of("relaxed", alice, bob)
    Game.objects.filter(pk=game.pk).update(awaits=0b11)
    back: dict[str, datetime | None] = {gone: None}
    User.objects.filter(pk=bob.pk).update(**{gone: timezone.now() + at})
    assert pace.send_due() == 1
    assert [letter.to for letter in mail.outbox] == [["alice@example.org"]]
    User.objects.filter(pk=bob.pk).update(**back)
    assert pace.send_due() == 1
