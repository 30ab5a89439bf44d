"""From agreeing to the game: it begins when all seats are taken and all have said so."""

import random
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from games import news
from games.models import Game, Room, RoomSeat, Seat, Waiting
from games.opening import NewSeat, open_game
from games.ranked import refusal_of_ranked
from games.rooms.holding import held, refuse_all_but, refuse_playing, refuse_ranked, ring_seats, stand_up
from games.rooms.refusals import RoomRefusal
from games.rooms.state import AWAY, last_game
from games.rules import terms
from games.rules.documents import choice


def open_matched(people: Sequence[int], *, waited_seconds: int) -> Game:
    """A ranked room for people who waited for each other, and its first game; their rows are locked."""
    with transaction.atomic():
        room = Room.objects.create(
            owner_id=people[0], size=len(people), ranked=True, public=False, waited_seconds=waited_seconds
        )
        characters = random.sample(terms.CHARACTERS, len(people))
        seats = [
            RoomSeat(room=room, number=number, user_id=person, character=characters[number], live=True)
            for number, person in enumerate(people)
        ]
        return start(room, RoomSeat.objects.bulk_create(seats), None)


def agree(room: Room, person: User, on: bool = True) -> None:
    """Say that one wants to play, or take it back; the game starts when all seats are taken and all have said so."""
    with held(room, person) as room:
        refuse_playing(room)
        if not room.seats.filter(user=person).update(agrees=on, at_table=False, seen=timezone.now()):
            raise RoomRefusal("no_seat")
        _forget_leavers(room, person)
        if on and room.ranked:
            refuse_ranked(room, person)
        if start_if_agreed(room, person) is None:
            ring_seats(room)


def start_now(room: Room, owner: User) -> None:
    """Play with whoever sits here and agrees: the room shrinks to them; the others stand up."""
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        if not room.seats.filter(user=owner).update(agrees=True, seen=timezone.now()):
            raise RoomRefusal("no_seat")
        _forget_leavers(room, owner)
        _forget_the_absent(room)
        agreed = [seat for seat in room.seats.order_by("number") if seat.agrees]
        if len(agreed) < min(terms.PLAYERS):
            raise RoomRefusal("alone")
        room.seats.filter(agrees=False).delete()
        for number, seat in enumerate(agreed):
            if seat.number != number:
                room.seats.filter(pk=seat.pk).update(number=number)
        room.size = len(agreed)
        room.faces = room.faces[: room.size]
        room.save(update_fields=["size", "faces"])
        start_if_agreed(room, owner)


def start_if_agreed(room: Room, person: User) -> Game | None:
    """Start if everybody has said so; this person's was the last word, and hears of a refusal."""
    _forget_the_absent(room)
    seats = list(room.seats.all())
    if len(seats) < room.size or not all(seat.agrees for seat in seats):
        return None
    return start(room, seats, person.pk)


def start(room: Room, seats: Sequence[RoomSeat], reader: int | None) -> Game:
    """Open a game of these seats of a room whose row is locked; who sits where at the table is drawn."""
    people = [seat.user_id for seat in seats if seat.user_id is not None]
    if room.ranked and (refused := refusal_of_ranked(people, reader)):
        raise RoomRefusal(refused)
    if room.pace == Game.Pace.LIVE:
        Waiting.objects.filter(user__in=people).delete()
    room.seats.exclude(user=None).update(agrees=False, at_table=True)
    game = open_game(
        [
            NewSeat(choice(seat.character, "the character", terms.CHARACTERS), seat.user_id, seat.strength)
            for seat in random.sample(list(seats), len(seats))
        ],
        rulebook=choice(room.rulebook, "the rulebook", terms.RULEBOOKS),
        pace=choice(str(room.pace), "the pace", terms.PACES),
        ranked=room.ranked,
        limits=terms.Limits(**room.limits) if room.limits else None,
        faces=tuple(room.faces),
        room_id=room.pk,
        listed=room.public or room.waited_seconds is not None,
    )
    news.ring_on_commit(*(news.of_person(person) for person in people))
    return game


def _forget_leavers(room: Room, person: User) -> None:
    """Whoever left the last game has left the room: their seats are free for the next one."""
    last = last_game(room)
    if last is None:
        return
    gone = last.seats.exclude(conduct__in=("", Seat.Conduct.FINISHED)).exclude(user=person).values("user")
    stand_up(room, [seat.user_id for seat in room.seats.filter(user__in=gone, since__lt=last.ended or timezone.now())])


def _forget_the_absent(room: Room) -> None:
    """Whoever agreed to a live game and went away has to say it again."""
    if room.pace == Game.Pace.LIVE:
        room.seats.filter(seen__lt=timezone.now() - AWAY).exclude(user=None).update(agrees=False)
