"""Rooms, from the first seat to the next game: one function for each thing that happens.

Who locks what: first the rows of people, then rows of rooms, each in the order of their ids, then whatever hangs on
them. So nobody waits in a circle, and what two people do at once happens one after the other.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts import looks
from accounts.models import User
from games import log, news, opening, rules, steps
from games.models import Admission, Game, Ignored, Room, RoomSeat, Seat, Waiting
from games.opening import NewSeat, open_game
from games.ranked import refusal_of_ranked
from games.rules import terms
from games.rules.documents import choice

# Who agreed and then was not seen for so long does not start a live game.
AWAY = timedelta(seconds=90)
# Relaxed seats are many, but not without end.
MOST_SEATS = 30
# Rooms that somebody who wants to sit anywhere is led to, should others be faster.
MOST_TRIED = 5

REFUSALS: dict[str, str | Promise] = {
    "closed": _("This room is closed."),
    "playing": _("A game is being played here. Sit down when it is over."),
    "full": _("All seats are taken."),
    "taken": _("Somebody was faster: this seat is taken."),
    "no_seat": _("You have no seat here."),
    "not_owner": _("Only the owner of the room can do that."),
    "removed": _("The owner of this room has shown you out."),
    "blocked": _("Somebody here has blocked you, or you have blocked them."),
    "guest": _("Guests do not play ranked games. Keep your account first."),
    "barred": _("You are barred from ranked games."),
    "paused": _("You left ranked games more than once, so you wait before the next one."),
    "met": _("Two of you have met in ranked games ten times today. That is enough for a day."),
    "too_many": _("You sit in as many rooms as anybody may."),
    "elsewhere": _("You sit in another live game. Finish it or leave it first."),
    "nobody": _("Nobody has this name."),
    "too_small": _("More people sit here than that."),
    "people_only": _("Only people play ranked games."),
    "no_such_time": _("Choose a time within the next seven days."),
    "alone": _("One player is not enough."),
}


class RoomRefusal(Exception):
    """What cannot be done in a room now. Nothing has changed."""

    def __init__(self, code: str) -> None:
        super().__init__(REFUSALS[code])
        self.code = code
        self.sentence = REFUSALS[code]


def resting() -> QuerySet[Room]:
    """Open rooms in which no game is being played."""
    playing = Game.objects.filter(room=OuterRef("pk"), ended=None)
    return Room.objects.filter(~Exists(playing), closed=None)


def running_game(room: Room) -> Game | None:
    return Game.objects.filter(room=room, ended=None).first()


def last_game(room: Room) -> Game | None:
    return Game.objects.filter(room=room).order_by("-pk").first()


def is_away(room: Room, seat: RoomSeat, now: datetime | None = None) -> bool:
    """Whether somebody in a live room has not had its page open for a while."""
    return room.pace == Game.Pace.LIVE and seat.user_id is not None and seat.seen < (now or timezone.now()) - AWAY


def plays_on(game: Game, person_id: int) -> bool:
    """Whether this person has a seat in a running game and has not left it for good."""
    opened = opening.find_by_id(game.pk)
    seat = None if opened is None else opened.seat_of(person_id)
    if opened is None or seat is None:
        return False
    lines = log.since(game.pk, 0).lines
    return not lines or steps.read(rules.blank(opened.terms()), lines)[-1].after.players[seat].left_at is None


def result_of(game: Game) -> list[Seat]:
    """The seats of a game that is over, the best first; those of a void game in their order."""
    return list(game.seats.select_related("user").order_by(F("place").asc(nulls_last=True), "number"))


def note(room: Room, person_id: int) -> None:
    """This person has the room's page open."""
    now = timezone.now()
    RoomSeat.objects.filter(room=room, user=person_id, seen__lt=now - AWAY / 8).update(seen=now)


def admission_of(room: Room, person_id: int | None) -> bool | None:
    """True for whom somebody invited here, False for whom the owner showed out, None for everybody else."""
    return Admission.objects.filter(room=room, user=person_id).values_list("invited", flat=True).first()


# Opening, sitting, standing -------------------------------------------------------------------------------------------


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
) -> Room:
    """A new room with this person in its first seat."""
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
    return room


def sit(room: Room, person: User, number: int | None = None) -> RoomSeat:
    """Take this seat, or the first free one; whoever sits elsewhere in this room changes seats."""
    with _held(room, person, moving=room.pace == Game.Pace.LIVE) as room:
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
            character=_free_character(seats),
            live=room.pace == Game.Pace.LIVE,
        )


def sit_anywhere(person: User) -> Room:
    """Sit down where a live casual game lacks the fewest people, or open a room where somebody will come."""
    for room in welcoming(person):
        try:
            sit(room, person)
        except RoomRefusal as refused:
            if refused.code == "elsewhere":
                raise
            continue
        return room
    return open_room(person)


def welcoming(person: User) -> QuerySet[Room]:
    """Public rooms for a live casual game with a free seat, the fullest first."""
    people = Count("seats", filter=Q(seats__user__isnull=False))
    rooms = resting().filter(public=True, ranked=False, pace=Game.Pace.LIVE).exclude(seats__user=person)
    rooms = rooms.annotate(people=people, free=F("size") - Count("seats")).filter(people__gt=0, free__gt=0)
    return rooms.order_by("free", "created")[:MOST_TRIED]


def stand(room: Room, person: User) -> None:
    """Give one's seat up; the room passes to whoever has sat longest, and closes when nobody is left."""
    with _held(room, person) as room:
        _refuse_playing(room)
        _stand_up(room, [person.pk])


def add_bot(room: Room, owner: User, strength: str, number: int | None = None) -> None:
    """Put a bot of that strength into a free seat of a casual room."""
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
        if room.ranked:
            raise RoomRefusal("people_only")
        seats = list(room.seats.all())
        free = [place for place in range(room.size) if place not in {seat.number for seat in seats}]
        if not free or (number is not None and number not in free):
            raise RoomRefusal("full")
        room.seats.create(
            number=free[0] if number is None else number,
            strength=strength,
            character=_free_character(seats),
            live=False,
            agrees=True,
        )
        _start_if_agreed(room)


def take_bot_away(room: Room, owner: User, number: int) -> None:
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
        room.seats.filter(number=number, user=None).delete()


def free_live_seat(person: User) -> None:
    """Stand up from whatever live seat this person has in an open room; `RoomRefusal` where they play."""
    with transaction.atomic():
        list(User.objects.select_for_update(no_key=True).filter(pk=person.pk))
        list(Room.objects.select_for_update(no_key=True).filter(pk__in=_live_rooms_of(person.pk)).order_by("pk"))
        _leave_other_live_seats(person.pk)


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
        return start(room, RoomSeat.objects.bulk_create(seats))


# Agreeing and starting ------------------------------------------------------------------------------------------------


def agree(room: Room, person: User, on: bool = True) -> None:
    """Say that one wants to play, or take it back; the game starts when all seats are taken and all have said so."""
    with _held(room, person) as room:
        _refuse_playing(room)
        if not room.seats.filter(user=person).update(agrees=on, seen=timezone.now()):
            raise RoomRefusal("no_seat")
        _forget_leavers(room, person)
        if on and room.ranked:
            _refuse_ranked(room, person)
        _start_if_agreed(room)


def start_now(room: Room, owner: User) -> None:
    """Play with whoever sits here and agrees: the room shrinks to them; the others stand up."""
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
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
        _start_if_agreed(room)


def _start_if_agreed(room: Room) -> Game | None:
    _forget_the_absent(room)
    seats = list(room.seats.all())
    if len(seats) < room.size or not all(seat.agrees for seat in seats):
        return None
    return start(room, seats)


def start(room: Room, seats: Sequence[RoomSeat]) -> Game:
    """Open a game of these seats of a room whose row is locked; who sits where at the table is drawn."""
    people = [seat.user_id for seat in seats if seat.user_id is not None]
    if room.ranked and (refused := refusal_of_ranked(people)):
        raise RoomRefusal(refused)
    Waiting.objects.filter(user__in=people).delete()
    room.seats.exclude(user=None).update(agrees=False)
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


def _forget_the_absent(room: Room) -> None:
    """Whoever agreed to a live game and went away has to say it again."""
    if room.pace == Game.Pace.LIVE:
        room.seats.filter(seen__lt=timezone.now() - AWAY).exclude(user=None).update(agrees=False)


def _forget_leavers(room: Room, person: User) -> None:
    """Whoever left the last game has left the room: their seats are free for the next one."""
    last = last_game(room)
    if last is None:
        return
    gone = last.seats.exclude(conduct__in=("", Seat.Conduct.FINISHED)).exclude(user=person).values("user")
    _stand_up(room, [seat.user_id for seat in room.seats.filter(user__in=gone, since__lt=last.ended or timezone.now())])


# The owner's part -----------------------------------------------------------------------------------------------------


def change(
    room: Room,
    owner: User,
    *,
    size: int,
    rulebook: terms.Rulebook,
    ranked: bool,
    public: bool,
    faces: Sequence[str],
    limits: terms.Limits | None,
) -> None:
    """Change what is played here; everybody has to agree anew. The pace stays: seats are of one pace."""
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
        seats = list(room.seats.order_by("number").select_related("user"))
        if len(seats) > size:
            raise RoomRefusal("too_small")
        if ranked and any(seat.user is None or seat.user.is_guest for seat in seats):
            raise RoomRefusal("people_only")
        for number, seat in enumerate(seats):
            if seat.number >= size:
                RoomSeat.objects.filter(pk=seat.pk).update(number=number)
        room.seats.exclude(user=None).update(agrees=False)
        room.size, room.rulebook, room.ranked, room.public = size, rulebook, ranked, public
        room.faces, room.limits = list(faces), limits.as_json() if limits else {}
        room.save(update_fields=["size", "rulebook", "ranked", "public", "faces", "limits"])


def invite(room: Room, person: User, name: str) -> User:
    """Let somebody know of this room by name; whoever sits here may. It lets those in whom the owner showed out."""
    other = User.objects.filter(folded_name=looks.fold(name), closed_at=None, deleted_at=None).first()
    if other is None:
        raise RoomRefusal("nobody")
    with _held(room, person) as room:
        if not room.seats.filter(user=person).exists():
            raise RoomRefusal("no_seat")
        if _blocked(other.pk, [person.pk]):
            raise RoomRefusal("blocked")
        if admission_of(room, other.pk) is False:
            _refuse_all_but(room, person)
        Admission.objects.update_or_create(room=room, user=other, defaults={"invited": True, "at": timezone.now()})
        news.ring_on_commit(news.of_person(other.pk))
    return other


def show_out(room: Room, owner: User, other_id: int) -> None:
    """Take somebody's seat away, and the way back with it."""
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
        if other_id != owner.pk:
            _show_out(room, other_id)


def close(room: Room, owner: User) -> None:
    """End a room in which nobody plays."""
    with _held(room, owner) as room:
        _refuse_all_but(room, owner)
        _refuse_playing(room)
        _close(room, Room.Closed.OWNER)


# For staff ------------------------------------------------------------------------------------------------------------


def close_room(room: Room, why: Room.Closed = Room.Closed.STAFF) -> None:
    """Close a room, whoever sits in it; a running game goes on to its end."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        if room.closed is None:
            _close(room, why)
            _changed(room)


def remove_person(room: Room, person: User) -> None:
    """Take somebody out of a room for good; a running game is `intervention`'s."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        _show_out(room, person.pk)
        _changed(room)


def hand_over(room: Room, person: User) -> None:
    """Make somebody else the owner of a room."""
    with transaction.atomic():
        room = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        room.owner = person
        room.save(update_fields=["owner"])
        _changed(room)


def let_go(person_id: int) -> None:
    """Somebody is gone from the site, for a while or for good: no room and no queue waits for them."""
    Waiting.objects.filter(user=person_id).delete()
    for room in resting().filter(Q(seats__user=person_id) | Q(owner=person_id)).distinct().order_by("pk"):
        with transaction.atomic():
            held = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
            if held.closed is None and running_game(held) is None:
                _stand_up(held, [person_id])
                _changed(held)


def stand_up_absent(room: Room, since: datetime) -> None:
    """Free the seats of those whose page nobody has seen since then, where somebody else is there to wait for them."""
    with transaction.atomic():
        held = Room.objects.select_for_update(no_key=True).get(pk=room.pk)
        people = held.seats.exclude(user=None)
        gone = list(people.filter(seen__lt=since).values_list("user", flat=True))
        if held.closed is None and running_game(held) is None and gone and people.filter(seen__gte=since).exists():
            _stand_up(held, gone)
            _changed(held)


# Together -------------------------------------------------------------------------------------------------------------


@contextmanager
def _held(room: Room, person: User, *, moving: bool = False) -> Iterator[Room]:
    """The room as it is now, open and locked, together with whom this is about; everybody hears of the change.

    Who is moving may leave a live seat for it: that room is locked as well.
    """
    with transaction.atomic():
        list(User.objects.select_for_update(no_key=True).filter(pk=person.pk))
        ids = {room.pk, *(_live_rooms_of(person.pk) if moving else ())}
        locked = {one.pk: one for one in Room.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")}
        now = locked[room.pk]
        if now.closed is not None:
            raise RoomRefusal("closed")
        yield now
        _changed(now)


def _changed(room: Room) -> None:
    room.version += 1
    room.touched = timezone.now()
    room.save(update_fields=["version", "touched"])
    news.ring_on_commit(news.of_room(room.code), *([news.LOBBY] if room.public else []))


def _live_rooms_of(person_id: int) -> list[int]:
    return list(RoomSeat.objects.filter(user=person_id, live=True).values_list("room_id", flat=True))


def _leave_other_live_seats(person_id: int) -> None:
    """One live seat at a time: an open room is left for the next one, a running game is not."""
    for seat in RoomSeat.objects.filter(user=person_id, live=True).select_related("room"):
        game = running_game(seat.room)
        if game is not None and plays_on(game, person_id):
            raise RoomRefusal("elsewhere")
        _stand_up(seat.room, [person_id])
        _changed(seat.room)


def _stand_up(room: Room, people: Sequence[int | None]) -> None:
    room.seats.filter(user__in=people).delete()
    if room.owner_id in people:
        heir = room.seats.exclude(user=None).order_by("since", "pk").first()
        if heir is None:
            _close(room, Room.Closed.LEFT)
        else:
            room.owner_id = heir.user_id
            room.save(update_fields=["owner"])


def _show_out(room: Room, person_id: int) -> None:
    Admission.objects.update_or_create(room=room, user_id=person_id, defaults={"invited": False, "at": timezone.now()})
    _stand_up(room, [person_id])
    news.ring_on_commit(news.of_person(person_id))


def _close(room: Room, why: Room.Closed) -> None:
    room.closed, room.why_closed = timezone.now(), why
    room.save(update_fields=["closed", "why_closed"])
    room.seats.all().delete()


def _free_character(seats: Sequence[RoomSeat]) -> str:
    taken = {seat.character for seat in seats}
    return random.choice([one for one in terms.CHARACTERS if one not in taken])


def _blocked(person_id: int, others: Collection[int | None]) -> bool:
    both = Q(person=person_id, other__in=others) | Q(person__in=others, other=person_id)
    return Ignored.objects.filter(both, blocked=True).exists()


def _refuse_all_but(room: Room, owner: User) -> None:
    if room.owner_id != owner.pk:
        raise RoomRefusal("not_owner")


def _refuse_playing(room: Room) -> None:
    if running_game(room) is not None:
        raise RoomRefusal("playing")


def _refuse_entry(room: Room, person: User) -> None:
    _refuse_playing(room)
    if admission_of(room, person.pk) is False:
        raise RoomRefusal("removed")
    if _blocked(person.pk, [room.owner_id]):
        raise RoomRefusal("blocked")
    if room.ranked:
        _refuse_ranked(room, person)


def _refuse_ranked(room: Room, person: User) -> None:
    people = [*room.seats.exclude(user=None).exclude(user=person).values_list("user", flat=True), person.pk]
    if refused := refusal_of_ranked([who for who in people if who is not None]):
        raise RoomRefusal(refused)
