"""Rooms that nobody comes to any more are closed; who is gone gives room and seat to those who are there.

All of it may run twice, late, or in two workers at once: each room is locked and looked at again before it changes.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from games import rooms
from games.models import Game, Room

# How long an open room may be idle: one that everybody sees, one with a link, and one whose last game is over.
PUBLIC_IDLE = timedelta(minutes=30)
PRIVATE_IDLE = timedelta(hours=24)
AFTER_GAME = timedelta(hours=1)
# An owner whose page was not seen for so long gives a live room to somebody who is there.
OWNER_GONE = timedelta(minutes=2)
# Whoever was not seen for so long, or since a game ended that long ago, gives their seat to those who are there.
GONE = timedelta(minutes=5)


def sweep(now: datetime | None = None) -> int:
    """Close what is stale, free what nobody comes back to; the answer is how many rooms that closed."""
    now = now or timezone.now()
    for room in _waited_for(now):
        rooms.stand_up_absent(room, now - GONE)
        _pass_on(room, now)
    return sum(_close(room_id, now) for room_id in _candidates(now))


def _candidates(now: datetime) -> list[int]:
    """Rooms that may be stale, the longest untouched first."""
    idle = rooms.resting().filter(touched__lt=now - PUBLIC_IDLE).order_by("touched")
    return list(idle.values_list("pk", flat=True))


def why_stale(room: Room, now: datetime) -> Room.Closed | None:
    """Why an open room in which nobody plays is to be closed by now."""
    games = Game.objects.filter(room=room).aggregate(last=Max("ended"))
    seen = room.seats.exclude(user=None).aggregate(last=Max("seen"))["last"]
    idle_since = max(filter(None, [room.touched, games["last"], seen]))
    if games["last"] is not None:
        return Room.Closed.OVER if idle_since < now - AFTER_GAME else None
    patience = PUBLIC_IDLE if room.public else PRIVATE_IDLE
    return Room.Closed.STALE if idle_since < now - patience else None


def _close(room_id: int, now: datetime) -> bool:
    with transaction.atomic():
        room = rooms.resting().select_for_update(no_key=True, of=("self",)).filter(pk=room_id).first()
        why = None if room is None else why_stale(room, now)
        if room is None or why is None:
            return False
        rooms.close_room(room, why)
        return True


def _waited_for(now: datetime) -> list[Room]:
    """Live rooms in which somebody is there and somebody else is not, and where no game has just ended."""
    there = Q(seats__user__isnull=False, seats__seen__gt=now - OWNER_GONE)
    just_ended = Game.objects.filter(room=OuterRef("pk"), ended__gt=now - GONE)
    live = rooms.resting().filter(~Exists(just_ended), there, pace=Game.Pace.LIVE)
    return list(live.distinct().order_by("pk"))


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
