"""Rooms that nobody comes to any more: closed when they are stale, once, and never while somebody plays."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from games import rooms, stale
from games.models import Game, Room
from games.tasks import close_stale_rooms

NOW = timezone.now()


def room_of(name: str, *, idle: timedelta, public: bool = True, pace: str = "live") -> Room:
    room = rooms.open_room(User.objects.create_user(f"Player {name}"), public=public, pace=pace)  # type: ignore[arg-type]
    aged(room, idle)
    return room


def aged(room: Room, idle: timedelta) -> None:
    Room.objects.filter(pk=room.pk).update(touched=NOW - idle)
    room.seats.update(seen=NOW - idle)


def played(name: str, *, ended: timedelta | None) -> Room:
    room = room_of(name, idle=timedelta(0))
    other = User.objects.create_user(f"Other {name}")
    rooms.sit(room, other)
    for seat in room.seats.select_related("user"):
        assert seat.user is not None
        rooms.agree(room, seat.user)
    if ended is not None:
        Game.objects.filter(room=room).update(ended=NOW - ended)
    aged(room, timedelta(days=2))
    return room


@pytest.mark.django_db
def test_an_open_room_is_closed_after_half_an_hour_and_one_with_a_link_after_a_day() -> None:
    minute = timedelta(minutes=1)
    fates = {
        room_of("A", idle=29 * minute): "",
        room_of("B", idle=31 * minute): "stale",
        room_of("C", idle=31 * minute, public=False): "",
        room_of("D", idle=timedelta(hours=25), public=False): "stale",
        played("E", ended=59 * minute): "",
        played("F", ended=61 * minute): "over",
        played("G", ended=None): "",
    }
    assert stale.sweep(NOW) == 3
    assert stale.sweep(NOW) == 0
    assert {room: Room.objects.get(pk=room.pk).why_closed for room in fates} == fates


@pytest.mark.django_db
def test_a_room_whose_page_somebody_has_open_is_not_stale() -> None:
    room = room_of("A", idle=timedelta(hours=1))
    room.seats.update(seen=NOW)
    assert stale.sweep(NOW) == 0


@pytest.mark.django_db
def test_rooms_whose_time_has_not_come_and_in_which_everybody_is_are_not_touched(
    django_assert_num_queries: Callable[[int], AbstractContextManager[object]],
) -> None:
    for number in range(3):
        room_of(f"private {number}", idle=timedelta(hours=5), public=False)
        played(f"played {number}", ended=timedelta(minutes=20))
        aged(room_of(f"live {number}", idle=timedelta(0)), timedelta(0))
    # Who is waited for, what is over, what is stale.
    with django_assert_num_queries(3):
        assert stale.sweep(NOW) == 0


@pytest.mark.django_db
def test_a_room_that_cannot_be_closed_is_no_harm_to_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad, *_ = [room_of(name, idle=timedelta(hours=hours)) for name, hours in (("A", 3), ("B", 2), ("C", 1))]
    close = rooms.close_room

    def refuse(room: Room, why: Room.Closed) -> None:
        if room.pk == bad.pk:
            raise ZeroDivisionError
        close(room, why)

    monkeypatch.setattr(rooms, "close_room", refuse)
    assert stale.sweep(NOW) == 2
    assert list(Room.objects.filter(closed=None)) == [bad]
    assert bad.code in caplog.text


@pytest.mark.django_db
def test_a_sweep_sees_to_so_many_rooms_at_most_the_longest_untouched_first(monkeypatch: pytest.MonkeyPatch) -> None:
    late, later, latest = [room_of(name, idle=timedelta(hours=hours)) for name, hours in (("A", 1), ("B", 2), ("C", 3))]
    monkeypatch.setattr(stale, "MOST_ROOMS", 2)
    assert stale.sweep(NOW) == 2
    assert set(Room.objects.filter(closed__isnull=False)) == {later, latest}
    assert stale.sweep(NOW) == 1
    assert not Room.objects.filter(closed=None).exists(), late


@pytest.mark.django_db
def test_a_room_whose_owner_has_gone_passes_to_somebody_who_is_there() -> None:
    room = room_of("A", idle=timedelta(0))
    bob = User.objects.create_user("Bob")
    rooms.sit(room, bob)
    room.seats.update(seen=NOW)
    stale.sweep(NOW)
    assert Room.objects.get().owner != bob
    room.seats.exclude(user=bob).update(seen=NOW - 2 * stale.OWNER_GONE)
    stale.sweep(NOW)
    assert Room.objects.get().owner == bob


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_close_each_room_once() -> None:
    for number in range(6):
        room_of(chr(65 + number), idle=timedelta(hours=1))
    closed, start = list[int](), threading.Barrier(2)

    def work() -> None:
        start.wait(10)
        closed.append(stale.sweep(NOW))
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sum(closed) == 6
    assert not Room.objects.filter(closed=None).exists()
    assert set(Room.objects.values_list("version", flat=True)) == {3}


@pytest.mark.django_db
def test_the_job_may_run_twice() -> None:
    room_of("A", idle=timedelta(hours=1))
    close_stale_rooms()
    close_stale_rooms()
    assert Room.objects.get().why_closed == "stale"


@pytest.mark.django_db
def test_whoever_is_gone_frees_their_seat_for_those_who_are_there_but_not_while_a_game_has_just_ended() -> None:
    room = played("A", ended=stale.GONE / 2)
    Room.objects.filter(pk=room.pk).update(touched=NOW)
    there, gone = room.seats.order_by("number")
    room.seats.filter(pk=there.pk).update(seen=NOW)
    stale.sweep(NOW)
    assert room.seats.count() == 2
    Game.objects.update(ended=NOW - 2 * stale.GONE)
    stale.sweep(NOW)
    assert room.seats.get() == there
    Room.objects.filter(pk=room.pk).update(touched=NOW)
    room.seats.update(seen=NOW - 2 * stale.GONE)
    stale.sweep(NOW)
    assert room.seats.get() == there
    assert gone.pk != there.pk
