"""What happens to rooms from outside: by staff, by the sweep, or because somebody is gone from the site."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from games import news
from games.models import Admission, Game, Room, RoomSeat, Waiting
from games.rooms.holding import changed, end, stand_up
from games.rooms.state import plays_on, running_game


def close_room(room: Room, why: Room.Closed = Room.Closed.STAFF) -> None:
    """Close a room, whoever sits in it; a running game goes on to its end."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        if room.closed is None:
            end(room, why)
            changed(room)


def remove_person(room: Room, person: User) -> None:
    """Take somebody out of a room for good; a running game is `intervention`'s."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        put_out(room, person.pk)
        changed(room)


def hand_over(room: Room, person: User) -> None:
    """Make somebody else the owner of a room."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        room.owner = person
        room.save(update_fields=["owner"])
        changed(room)


def seating(room: Room) -> list[dict[str, Any]]:
    """Who sits where, for `reopen`."""
    seats = room.seats.order_by("number").values("number", "user", "strength", "character", "live")
    return [dict(seat) for seat in seats]


def reopen(room: Room, seats: Sequence[Mapping[str, Any]]) -> bool:
    """Open a closed room again for those of its people who may come, and who neither sit at another live table nor wait
    for a match by now; False where it is open, or nobody of them is left."""
    ids = [seat["user"] for seat in seats if seat["user"] is not None]
    with transaction.atomic():
        people = User.objects.select_for_update(no_key=True).filter(pk__in=ids, closed_at=None, deleted_at=None)
        come = {one.pk for one in people.order_by("pk") if not one.is_suspended}
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        if room.pace == Game.Pace.LIVE:
            for elsewhere in (RoomSeat.objects.filter(live=True), Waiting.objects.all()):
                come -= {*elsewhere.filter(user__in=come).values_list("user", flat=True)}
        if room.closed is None or not come:
            return False
        again = [seat for seat in seats if seat["user"] is None or seat["user"] in come]
        RoomSeat.objects.bulk_create(
            RoomSeat(
                room=room,
                number=seat["number"],
                user_id=seat["user"],
                strength=seat["strength"],
                character=seat["character"],
                live=seat["live"],
                agrees=seat["user"] is None,
            )
            for seat in again
        )
        if room.owner_id not in come:
            room.owner_id = next(seat["user"] for seat in again if seat["user"] is not None)
        room.closed, room.why_closed = None, ""
        room.save(update_fields=["closed", "why_closed", "owner"])
        changed(room)
        return True


def let_in(room: Room, person_id: int, invited: bool | None) -> None:
    """Whoever was shown out may come again, as they might before."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        shown_out = Admission.objects.filter(room=room, user=person_id)
        shown_out.delete() if invited is None else shown_out.update(invited=invited)
        changed(room)


def let_go(person_id: int) -> None:
    """Somebody is gone from the site, for a while or for good: no queue waits for them, nor a room in which they do
    not play on."""
    Waiting.objects.filter(user=person_id).delete()
    theirs = Room.objects.filter(Q(seats__user=person_id) | Q(owner=person_id), closed=None)
    for room in theirs.distinct().order_by("pk"):
        with transaction.atomic():
            held = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
            game = running_game(held)
            if held.closed is None and (game is None or not plays_on(game, person_id)):
                stand_up(held, [person_id])
                changed(held)


def stand_up_absent(room: Room, since: datetime) -> None:
    """Free the seats of those whose page nobody has seen since then, where somebody else is there to wait for them."""
    with transaction.atomic():
        held = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        people = held.seats.exclude(user=None)
        gone = list(people.filter(seen__lt=since).values_list("user", flat=True))
        if held.closed is None and running_game(held) is None and gone and people.filter(seen__gte=since).exists():
            stand_up(held, gone)
            changed(held)


def put_out(room: Room, person_id: int) -> None:
    Admission.objects.update_or_create(room=room, user_id=person_id, defaults={"invited": False, "at": timezone.now()})
    stand_up(room, [person_id])
    news.ring_on_commit(news.of_person(person_id))
