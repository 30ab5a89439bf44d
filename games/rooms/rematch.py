"""The rematch: after a game, who of its players has asked for another one."""

from datetime import timedelta
from typing import NamedTuple

from django.utils import timezone

from games.models import Room, RoomSeat
from games.rooms.state import last_game, running_game

# A game that ended longer ago is not called a rematch.
OFFERED = timedelta(minutes=15)


class Rematch(NamedTuple):
    """Another game in a room, as one of its players who has not answered yet is told of it."""

    room: Room
    asked_by: str
    agreed: int
    players: int


def rematch_for(person_id: int) -> Rematch | None:
    """Return the rematch that another player of this person's last game asks for, or None."""
    asked = RoomSeat.objects.filter(user=person_id, agrees=False, room__closed=None).filter(
        room__seats__agrees=True, room__seats__user__isnull=False
    )
    for seat in asked.select_related("room").order_by("-room__touched", "pk").distinct():
        if _has_just_played(seat.room, person_id) and running_game(seat.room) is None:
            return _described(seat.room)
    return None


def _has_just_played(room: Room, person_id: int) -> bool:
    last = last_game(room)
    if last is None or last.ended is None or last.ended < timezone.now() - OFFERED:
        return False
    return last.seats.filter(user=person_id).exists()


def _described(room: Room) -> Rematch:
    seats = list(room.seats.select_related("user").order_by("number"))
    agreed = [seat for seat in seats if seat.agrees]
    first = next(seat.user.name for seat in agreed if seat.user)
    return Rematch(room, first, len(agreed), room.size)
