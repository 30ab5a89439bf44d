"""What every act in a room is made of: hold it, refuse, change it, tell everybody."""

import random
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import User
from games import news
from games.models import Ignored, Room, RoomSeat
from games.ranked import refusal_of_ranked
from games.rooms.refusals import RoomRefusal
from games.rooms.state import running_game
from games.rules import terms


@contextmanager
def held(room: Room, person: User, *, moving: bool = False) -> Iterator[Room]:
    """The room as it is now, open and locked, together with whom this is about; everybody hears of the change.

    Who is moving may leave a live seat for it: that room is locked as well.
    """
    with transaction.atomic():
        list(User.objects.select_for_update(no_key=True).filter(pk=person.pk))
        ids = {room.pk, *(live_rooms_of(person.pk) if moving else ())}
        locked = {one.pk: one for one in Room.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk")}
        now = locked[room.pk]
        if now.closed is not None:
            raise RoomRefusal("closed")
        yield now
        changed(now)


def changed(room: Room) -> None:
    """Say that a locked room is another one now; whoever looks at it hears so."""
    room.version += 1
    room.touched = timezone.now()
    room.save(update_fields=["version", "touched"])
    news.ring_on_commit(news.of_room(room.code), *([news.LOBBY] if room.public else []))


def ring_seats(room: Room) -> None:
    """Ring at every page of the people who sit here, wherever on the site they are."""
    people = room.seats.exclude(user=None).values_list("user", flat=True)
    news.ring_on_commit(*(news.of_person(person) for person in people if person is not None))


def live_rooms_of(person_id: int) -> list[int]:
    return list(RoomSeat.objects.filter(user=person_id, live=True).values_list("room_id", flat=True))


def stand_up(room: Room, people: Sequence[int | None]) -> None:
    """Free their seats; the room passes to whoever has sat longest, and ends when nobody is left."""
    room.seats.filter(user__in=people).delete()
    if room.owner_id in people:
        heir = room.seats.exclude(user=None).order_by("since", "pk").first()
        if heir is None:
            end(room, Room.Closed.LEFT)
        else:
            room.owner_id = heir.user_id
            room.save(update_fields=["owner"])


def end(room: Room, why: Room.Closed) -> None:
    """Close a locked room for good."""
    room.closed, room.why_closed = timezone.now(), why
    room.save(update_fields=["closed", "why_closed"])
    room.seats.all().delete()


def free_character(seats: Sequence[RoomSeat]) -> str:
    taken = {seat.character for seat in seats}
    return random.choice([one for one in terms.CHARACTERS if one not in taken])  # noqa: S311  (nothing depends on it)


def blocked(person_id: int, others: Collection[int | None]) -> bool:
    """Whether this person has blocked one of the others, or the other way round."""
    both = Q(person=person_id, other__in=others) | Q(person__in=others, other=person_id)
    return Ignored.objects.filter(both, blocked=True).exists()


def blocked_pairs(people: Collection[int]) -> set[frozenset[int]]:
    """The pairs among these people of whom one has blocked the other."""
    rows = Ignored.objects.filter(person__in=people, other__in=people, blocked=True)
    return {frozenset(pair) for pair in rows.values_list("person", "other")}


def kept_apart(person_id: int) -> QuerySet[User]:
    """Whom this person has blocked, and who has blocked this person."""
    blocks = Ignored.objects.filter(blocked=True)
    whom, by_whom = blocks.filter(person=person_id).values("other"), blocks.filter(other=person_id).values("person")
    return User.objects.filter(Q(pk__in=whom) | Q(pk__in=by_whom))


def refuse_all_but(room: Room, owner: User) -> None:
    if room.owner_id != owner.pk:
        raise RoomRefusal("not_owner")


def refuse_playing(room: Room) -> None:
    if running_game(room) is not None:
        raise RoomRefusal("playing")


def refuse_ranked(room: Room, person: User) -> None:
    """Nobody plays ranked who may not, and nobody with whom they may not today."""
    people = [*room.seats.exclude(user=None).exclude(user=person).values_list("user", flat=True), person.pk]
    if refused := refusal_of_ranked([who for who in people if who is not None], person.pk):
        raise RoomRefusal(refused)
