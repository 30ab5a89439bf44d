"""What the owner of a room decides, and whom its people invite."""

from collections.abc import Sequence

from django.utils import timezone

from accounts import looks
from accounts.models import User
from games import news
from games.models import Admission, Room, RoomSeat
from games.rooms.holding import blocked, end, held, refuse_all_but, refuse_playing, refuse_ranked
from games.rooms.refusals import RoomRefusal
from games.rooms.staff import put_out
from games.rooms.state import admission_of
from games.rules import terms


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
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        seats = list(room.seats.order_by("number").select_related("user"))
        if len(seats) > size:
            raise RoomRefusal("too_small")
        if ranked and any(seat.user is None or seat.user.is_guest for seat in seats):
            raise RoomRefusal("people_only")
        if ranked and not room.ranked:
            refuse_ranked(room, owner)
        free = sorted(set(range(size)) - {seat.number for seat in seats})
        beyond = [seat for seat in seats if seat.number >= size]
        for seat, number in zip(beyond, free, strict=False):
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
    with held(room, person) as room:
        if not room.seats.filter(user=person).exists():
            raise RoomRefusal("no_seat")
        if blocked(other.pk, [person.pk]):
            raise RoomRefusal("blocked")
        if admission_of(room, other.pk) is False:
            refuse_all_but(room, person)
        Admission.objects.update_or_create(room=room, user=other, defaults={"invited": True, "at": timezone.now()})
        news.ring_on_commit(news.of_person(other.pk))
    return other


def decline(room: Room, person: User) -> None:
    """Say no to an invitation; whoever sits here may invite once more."""
    with held(room, person) as room:
        Admission.objects.filter(room=room, user=person, invited=True).delete()
        news.ring_on_commit(news.of_person(person.pk))


def show_out(room: Room, owner: User, other_id: int) -> None:
    """Take somebody's seat away, and the way back with it."""
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        if not room.seats.filter(user=other_id).exists():
            raise RoomRefusal("gone")
        if other_id != owner.pk:
            put_out(room, other_id)


def close(room: Room, owner: User) -> None:
    """End a room in which nobody plays."""
    with held(room, owner) as room:
        refuse_all_but(room, owner)
        refuse_playing(room)
        end(room, Room.Closed.OWNER)
