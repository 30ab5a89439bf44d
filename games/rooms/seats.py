"""Opening a room, sitting down, standing up."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.functional import Promise

from accounts.models import User
from games.models import Game, Room, RoomSeat, Waiting
from games.rooms.holding import (
    blocked,
    changed,
    free_character,
    held,
    live_rooms_of,
    refuse_all_but,
    refuse_playing,
    refuse_ranked,
    ring_seats,
    stand_up,
)
from games.rooms.refusals import REFUSALS, RoomRefusal
from games.rooms.starting import start_if_agreed
from games.rooms.state import admission_of, live_game_of, welcoming
from games.rules import terms

# Relaxed seats are many, but not without end.
MOST_SEATS = 30
# Rooms that somebody who wants to sit anywhere is led to, should others be faster.
MOST_TRIED = 5


def open_room(
    person: User,
    *,
    size: int = 2,
    rulebook: terms.Rulebook = "fr",
    pace: terms.Pace = "live",
    ranked: bool = False,
    public: bool = True,
    faces: Sequence[str] = (),
    limits: terms.Limits | None = None,
    bots: Sequence[str] = (),
) -> Room:
    """A new room with this person in its first seat, and bots of these strengths in the next ones if it is casual."""
    if bots and ranked:
        raise RoomRefusal("people_only")
    if len(bots) >= size:
        raise RoomRefusal("full")
    with transaction.atomic():
        room = Room.objects.create(
            owner=person,
            size=size,
            rulebook=rulebook,
            pace=pace,
            ranked=ranked,
            public=public,
            faces=list(faces),
            limits=limits.as_json() if limits else {},
        )
        sit(room, person)
        for number, strength in enumerate(bots, 1):
            _seat_bot(room, strength, number)
    return room


def sit(room: Room, person: User, number: int | None = None) -> RoomSeat:
    """Take this seat, or the first free one; whoever sits elsewhere in this room changes seats."""
    with held(room, person, moving=room.pace == Game.Pace.LIVE) as room:
        _refuse_entry(room, person)
        seats = list(room.seats.all())
        own = next((seat for seat in seats if seat.user_id == person.pk), None)
        taken = {seat.number for seat in seats}
        free = [place for place in range(room.size) if place not in taken]
        if number is not None and number not in free:
            raise RoomRefusal("taken" if number in taken else "full")
        if own is not None:
            own.number = own.number if number is None else number
            own.save(update_fields=["number"])
            return own
        if not free:
            raise RoomRefusal("full")
        if RoomSeat.objects.filter(user=person).count() >= MOST_SEATS:
            raise RoomRefusal("too_many")
        if room.pace == Game.Pace.LIVE:
            _leave_other_live_seats(person.pk)
            Waiting.objects.filter(user=person).delete()
        return room.seats.create(
            number=free[0] if number is None else number,
            user=person,
            character=free_character(seats),
            live=room.pace == Game.Pace.LIVE,
        )


def sit_anywhere(person: User) -> Room:
    """Sit down where a live casual game lacks the fewest people, with nobody who is blocked, or open a room."""
    for room in _worth_trying(person):
        if blocked(person.pk, list(room.seats.values_list("user", flat=True))):
            continue
        try:
            sit(room, person)
        except RoomRefusal as refused:
            if refused.code == "elsewhere":
                raise
            continue
        return room
    return open_room(person)


def _worth_trying(person: User) -> QuerySet[Room]:
    """Rooms for a live casual game that this person could join, the fullest first."""
    rooms = welcoming().filter(ranked=False, pace=Game.Pace.LIVE).exclude(seats__user=person)
    return rooms.order_by(F("size") - F("taken"), "created")[:MOST_TRIED]


def stand(room: Room, person: User) -> None:
    """Give one's seat up; the room passes to whoever has sat longest, and closes when nobody is left."""
    with held(room, person) as room:
        refuse_playing(room)
        stand_up(room, [person.pk])
        ring_seats(room)


def free_live_seat(person: User) -> None:
    """Stand up from whatever live seat this person has in an open room, and wait for no match; `RoomRefusal` where they
    play."""
    with transaction.atomic():
        list(User.objects.select_for_update(no_key=True).filter(pk=person.pk))
        list(Room.objects.select_for_update(no_key=True).filter(pk__in=live_rooms_of(person.pk)).order_by("pk"))
        _leave_other_live_seats(person.pk)
        Waiting.objects.filter(user=person).delete()


def _leave_other_live_seats(person_id: int) -> None:
    """One live seat at a time: an open room is left for the next one, a running game is not."""
    if live_game_of(person_id) is not None:
        raise RoomRefusal("elsewhere")
    for seat in RoomSeat.objects.filter(user=person_id, live=True).select_related("room"):
        stand_up(seat.room, [person_id])
        changed(seat.room)


def unwelcome(room: Room, person_id: int) -> str | Promise:
    """Why nobody need try: this person and the owner are blocked from each other; empty where they are not."""
    return REFUSALS["blocked"] if blocked(person_id, [room.owner_id]) else ""


def _refuse_entry(room: Room, person: User) -> None:
    refuse_playing(room)
    if admission_of(room, person.pk) is False:
        raise RoomRefusal("removed")
    if unwelcome(room, person.pk):
        raise RoomRefusal("blocked")
    if room.ranked:
        refuse_ranked(room, person)


def add_bot(room: Room, owner: User, strength: str, number: int | None = None) -> None:
    """Put a bot of that strength into a free seat of a casual room."""
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        if room.ranked:
            raise RoomRefusal("people_only")
        taken = {seat.number for seat in room.seats.all()}
        free = [place for place in range(room.size) if place not in taken]
        if not free or (number is not None and number not in free):
            raise RoomRefusal("full")
        _seat_bot(room, strength, free[0] if number is None else number)
        start_if_agreed(room, owner)


def _seat_bot(room: Room, strength: str, number: int) -> None:
    character = free_character(list(room.seats.all()))
    room.seats.create(number=number, strength=strength, character=character, live=False, agrees=True)


def take_bot_away(room: Room, owner: User, number: int) -> None:
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        room.seats.filter(number=number, user=None).delete()
