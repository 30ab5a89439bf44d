"""Rooms when people act in the same moment, on both databases; and when they are gone."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts import closing
from accounts.models import User
from games import pace, quick, rooms
from games.models import Game, Meeting, Room, RoomSeat, Seat, Waiting
from games.rooms import RoomRefusal
from tests.people import established

both = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


def people(number: int) -> list[User]:
    return [established(f"Player {chr(65 + one)}") for one in range(number)]


def at_once(*acts: Callable[[], object]) -> list[str]:
    """Do all of it in the same moment; the codes of what was refused."""
    start, refused, faults = threading.Barrier(len(acts)), list[str](), list[BaseException]()

    def work(act: Callable[[], object]) -> None:
        try:
            start.wait(10)
            act()
        except RoomRefusal as refusal:
            refused.append(refusal.code)
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not faults, faults
    return sorted(refused)


class TestAtOnce:
    pytestmark = both

    def test_of_four_who_want_the_last_seat_one_gets_it(self) -> None:
        owner, *others = people(5)
        room = rooms.open_room(owner)
        assert at_once(*(lambda who=who: rooms.sit(room, who, 1) for who in others)) == ["taken"] * 3  # type: ignore[misc]
        assert room.seats.count() == 2

    def test_when_the_last_two_agree_at_once_one_game_begins(self) -> None:
        everybody = people(4)
        room = rooms.open_room(everybody[0], size=4)
        for person in everybody[1:]:
            rooms.sit(room, person)
        assert at_once(*(lambda who=who: rooms.agree(room, who) for who in everybody)) == []  # type: ignore[misc]
        assert Game.objects.get().seats.count() == 4

    def test_whoever_sits_down_in_many_rooms_at_once_sits_in_one(self) -> None:
        alice, *owners = people(5)
        open_ones = [rooms.open_room(owner) for owner in owners]
        at_once(*(lambda room=room: rooms.sit(room, alice) for room in open_ones))  # type: ignore[misc]
        assert RoomSeat.objects.filter(user=alice).count() == 1

    def test_two_who_change_places_between_two_rooms_wait_for_each_other_but_not_for_ever(self) -> None:
        alice, bob, charlie, dora = people(4)
        one, two = rooms.open_room(alice, size=4), rooms.open_room(bob, size=4)
        rooms.sit(one, charlie)
        rooms.sit(two, dora)
        assert at_once(lambda: rooms.sit(two, charlie), lambda: rooms.sit(one, dora)) == []
        assert {seat.user for seat in one.seats.all()} == {alice, dora}

    def test_whoever_sits_down_while_being_matched_does_one_of_both(self) -> None:
        alice, bob, charlie = people(3)
        room = rooms.open_room(charlie)
        for person in (alice, bob):
            quick.enter(person, 2)
        now = Waiting.objects.latest("since").since
        at_once(lambda: quick.match(2, now), lambda: rooms.sit(room, alice))
        assert RoomSeat.objects.filter(user=alice).count() == 1
        assert not Waiting.objects.filter(user=alice).exists()

    def test_whoever_accepts_a_time_while_another_is_proposed_has_not_accepted_the_other(self) -> None:
        alice, bob = people(2)
        room = rooms.open_room(alice, pace="relaxed")
        rooms.sit(room, bob)
        for person in (alice, bob):
            rooms.agree(room, person)
        game, first = Game.objects.get(), timezone.now() + timedelta(days=1)
        pace.propose(game, alice, first)
        second = first + timedelta(hours=5)
        at_once(lambda: pace.accept(game, bob, first), lambda: pace.propose(game, alice, second))
        meeting = Meeting.objects.get()
        assert (meeting.at, list(meeting.accepted.all())) == (second, [alice])


@pytest.mark.django_db
def test_whoever_left_the_last_game_has_left_the_room_and_whoever_missed_it_may_come_back() -> None:
    alice, bob, charlie = people(3)
    room = rooms.open_room(alice, size=3)
    for person in (bob, charlie):
        rooms.sit(room, person)
    for person in (alice, bob, charlie):
        rooms.agree(room, person)
    game = Game.objects.get()
    Game.objects.update(ended=room.created.replace(year=room.created.year + 1))
    Seat.objects.filter(game=game).update(conduct="finished")
    Seat.objects.filter(game=game, user__in=[bob, charlie]).update(conduct="left")
    rooms.agree(room, bob)
    assert {seat.user for seat in room.seats.all()} == {alice, bob}


@pytest.mark.django_db
def test_whoever_sits_down_anywhere_sits_where_the_fewest_are_missing_or_in_a_room_of_their_own() -> None:
    alice, bob, charlie, dora = people(4)
    rooms.open_room(alice, size=4)
    nearly = rooms.open_room(bob, size=2)
    rooms.open_room(charlie, ranked=True)
    assert rooms.sit_anywhere(dora) == nearly
    Room.objects.exclude(pk=nearly.pk).update(public=False)
    own = rooms.sit_anywhere(established("Edith"))
    assert own.owner.name == "Edith"  # type: ignore[union-attr]


@pytest.mark.django_db
def test_no_room_and_no_queue_waits_for_whoever_deletes_their_account() -> None:
    alice, bob = people(2)
    room = rooms.open_room(alice, pace="relaxed")
    rooms.sit(room, bob)
    quick.enter(alice, 2)
    closing.delete(alice)
    room.refresh_from_db()
    assert room.owner == bob
    assert not RoomSeat.objects.filter(user=alice).exists()
    assert not Waiting.objects.exists()


@pytest.mark.django_db
def test_relaxed_seats_are_many_but_not_without_end() -> None:
    (alice,) = people(1)
    for _ in range(rooms.MOST_SEATS):
        rooms.open_room(alice, pace="relaxed")
    with pytest.raises(RoomRefusal, match="as many rooms"):
        rooms.open_room(alice, pace="relaxed")
