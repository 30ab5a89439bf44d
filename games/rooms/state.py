"""What is so in a room: whether somebody plays, who is there, how the last game ended."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from games.models import Admission, Game, Room, RoomSeat, Seat

# Who agreed and then was not seen for so long does not start a live game.
AWAY = timedelta(seconds=90)


def resting() -> QuerySet[Room]:
    """Open rooms in which no game is being played."""
    playing = Game.objects.filter(room=OuterRef("pk"), ended=None)
    return Room.objects.filter(~Exists(playing), closed=None)


def welcoming() -> QuerySet[Room]:
    """Public rooms with a free seat, each with how many are `taken`: nobody plays there yet, and somebody sits there to
    play with, who in a live room is not away."""
    there = Q(live=False) | Q(seen__gte=timezone.now() - AWAY)
    people = RoomSeat.objects.filter(there, room=OuterRef("pk"), user__isnull=False)
    found = resting().filter(Exists(people), public=True)
    return found.annotate(taken=Count("seats")).filter(taken__lt=F("size"))


def running_game(room: Room) -> Game | None:
    return Game.objects.filter(room=room, ended=None).first()


def last_game(room: Room) -> Game | None:
    return Game.objects.filter(room=room).order_by("-pk").first()


def result_of(game: Game) -> list[Seat]:
    """The seats of a game that is over, the best first; those of a void game in their order."""
    return list(game.seats.select_related("user").order_by(F("place").asc(nulls_last=True), "number"))


def game_before(room: Room, person_id: int) -> Game | None:
    """What whoever sits in a room has before them: its running game, then how that ended, until they are `back`.

    Whoever plays has their game there even if they have no seat in the room any more.
    """
    seat, running = RoomSeat.objects.filter(room=room, user=person_id).first(), running_game(room)
    if running is not None:
        return running if seat is not None or plays_on(running, person_id) else None
    return last_game(room) if seat is not None and seat.at_table else None


def address_of_seat(game: Game) -> str:
    """Where its players play it: in its room, or by itself."""
    return (
        reverse("games:game", args=[game.code]) if game.room is None else reverse("games:room", args=[game.room.code])
    )


def back(room: Room, person_id: int) -> None:
    """This person has put the score sheet away."""
    RoomSeat.objects.filter(room=room, user=person_id).update(at_table=False)


def note(room: Room, person_id: int) -> None:
    """This person has the room's page open."""
    now = timezone.now()
    RoomSeat.objects.filter(room=room, user=person_id, seen__lt=now - AWAY / 8).update(seen=now)


def is_away(room: Room, seat: RoomSeat, now: datetime | None = None) -> bool:
    """Whether somebody in a live room has not had its page open for a while."""
    return room.pace == Game.Pace.LIVE and seat.user_id is not None and seat.seen < (now or timezone.now()) - AWAY


def plays_on(game: Game, person_id: int) -> bool:
    """Whether this person has a seat in a running game and has not left it for good."""
    return any(not seat.has_left for seat in game.seats.filter(user=person_id).select_related("game"))


def live_game_of(person_id: int) -> Game | None:
    """Return the running live game of this person, unless they have left it for good."""
    seat = live_seat_in(running_seats(person_id))
    return seat.game if seat else None


def running_seats(person_id: int) -> QuerySet[Seat]:
    """Return this person's seats in running games, each with its game, room and meeting."""
    seats = Seat.objects.filter(user=person_id, ended=None, game__ended=None)
    return seats.select_related("game__room", "game__meeting")


def live_seat_in(running: Iterable[Seat]) -> Seat | None:
    """Return the live one of a person's running seats, unless they have left that game for good."""
    return next((seat for seat in running if seat.game.pace == Game.Pace.LIVE and not seat.has_left), None)


def admission_of(room: Room, person_id: int | None) -> bool | None:
    """True for whom somebody invited here, False for whom the owner showed out, None for everybody else."""
    return Admission.objects.filter(room=room, user=person_id).values_list("invited", flat=True).first()
