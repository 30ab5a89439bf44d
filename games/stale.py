"""Rooms that nobody comes to any more are closed; who is gone gives room and seat to those who are there.

All of it may run twice, late, or in two workers at once: each room is locked and looked at again before it changes.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from games import one_by_one, rooms
from games.models import Game, Room, RoomSeat

# How long an open room may be idle: one that everybody sees, one with a link, and one whose last game is over.
PUBLIC_IDLE = timedelta(minutes=30)
PRIVATE_IDLE = timedelta(hours=24)
AFTER_GAME = timedelta(hours=1)
# An owner whose page was not seen for so long gives a live room to somebody who is there.
OWNER_GONE = timedelta(minutes=2)
# Whoever was not seen for so long, or since a game ended that long ago, gives their seat to those who are there.
GONE = timedelta(minutes=5)


# What one sweep sees to at most; the rest has its turn a minute later.
MOST_ROOMS = 500


def sweep(now: datetime | None = None) -> int:
    """Close what is stale, free what nobody comes back to; the answer is how many rooms that closed."""
    now = now or timezone.now()
    _see_to(_waited_for(now), partial(_give_to_those_who_are_there, now=now))
    return sum(_see_to(due.order_by("touched"), partial(_close, why=why, now=now)) for why, due in _due(now).items())


def _see_to(found: QuerySet[Room], do: Callable[[Room], bool]) -> int:
    return one_by_one.see_to("Room", found[:MOST_ROOMS], do)


def _due(now: datetime) -> dict[Room.Closed, QuerySet[Room]]:
    """The open rooms that are to be closed by now, by why: nobody plays in them, and nobody came for too long."""

    def idle(patience: timedelta) -> QuerySet[Room]:
        since = now - patience
        return rooms.resting().filter(
            ~Exists(_people().filter(seen__gte=since)), ~Exists(_games().filter(ended__gte=since)), touched__lt=since
        )

    played = Exists(_games().filter(ended__isnull=False))
    public, private = idle(PUBLIC_IDLE).filter(public=True), idle(PRIVATE_IDLE).filter(public=False)
    return {
        Room.Closed.OVER: idle(AFTER_GAME).filter(played),
        Room.Closed.STALE: (public | private).filter(~played),
    }


def _people() -> QuerySet[RoomSeat]:
    return RoomSeat.objects.filter(room=OuterRef("pk"), user__isnull=False)


def _games() -> QuerySet[Game]:
    return Game.objects.filter(room=OuterRef("pk"))


def _close(room: Room, *, why: Room.Closed, now: datetime) -> bool:
    with transaction.atomic():
        held = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        if not _due(now)[why].filter(pk=held.pk).exists():
            return False
        rooms.close_room(held, why)
        return True


def _waited_for(now: datetime) -> QuerySet[Room]:
    """Live rooms in which somebody is there and somebody else or the owner is not, and no game has just ended."""
    there = _people().filter(seen__gt=now - OWNER_GONE)
    gone = Exists(_people().filter(seen__lt=now - GONE)) | ~Exists(there.filter(user=OuterRef("owner")))
    live = rooms.resting().filter(Exists(there), gone, pace=Game.Pace.LIVE)
    return live.exclude(Exists(_games().filter(ended__gt=now - GONE))).order_by("pk")


def _give_to_those_who_are_there(room: Room, *, now: datetime) -> bool:
    rooms.stand_up_absent(room, now - GONE)
    _pass_on(room, now)
    return True


def _owner_is_there(room: Room, now: datetime) -> bool:
    return room.seats.filter(user=room.owner_id, seen__gt=now - OWNER_GONE).exists()


def _pass_on(room: Room, now: datetime) -> None:
    with transaction.atomic():
        held = Room.objects.select_for_update(no_key=True).filter(pk=room.pk, closed=None).first()
        if held is None or _owner_is_there(held, now):
            return
        heir = held.seats.filter(seen__gt=now - OWNER_GONE).exclude(user=None).order_by("since", "pk").first()
        if heir is not None and heir.user is not None:
            rooms.hand_over(held, heir.user)
