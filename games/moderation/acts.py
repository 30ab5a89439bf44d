"""What a moderator does. Each function changes what it says, writes the log and tells the person, all or nothing.

ValidationError where it is refused: too many acts in an hour, a case that is not this moderator's, a person whom they
may not act on, a table at which they sat. Whatever is refused has changed nothing.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from accounts import moderation as accounts
from accounts import names
from accounts.models import Role, Trace, User
from games import careers, chat, intervention, ladder, rooms
from games.models import Act, Case, Game, Letter, Message, Reason, Room, Seat, What
from games.moderation import cases, letters, roles, sides
from games.moderation.statements import is_told

ON_PEOPLE = (What.WARN, What.MUTE, What.BAR, What.SUSPEND, What.RENAME, What.FORGIVE)


@dataclass(frozen=True, slots=True)
class Why:
    """The reason of an act, from the list and in words, and the case it belongs to."""

    reason: Reason
    words: str = ""
    case: Case | None = None


def warn(by: User, person: User, why: Why) -> Act:
    with transaction.atomic():
        return _write(by, What.WARN, why, person)


def mute(by: User, person: User, until: datetime, why: Why) -> Act:
    """Nothing but presets until then, or until an earlier mute ends, if that is later."""
    with transaction.atomic():
        act = _write_lasting(by, What.MUTE, why, person, until, person.muted_until)
        accounts.mute(person, until, by=Trace.STAFF)
    return act


def bar(by: User, person: User, until: datetime, why: Why) -> Act:
    """No ranked games until then, or until an earlier bar ends, if that is later."""
    with transaction.atomic():
        act = _write_lasting(by, What.BAR, why, person, until, person.barred_until)
        accounts.bar(person, until, by=Trace.STAFF)
    return act


def suspend(by: User, person: User, until: datetime, why: Why) -> Act:
    """Out until then, or until an earlier suspension ends, if that is later: sessions, tokens and sockets end, and so
    does their part in live games and in rooms (R8.8)."""
    with transaction.atomic():
        act = _write_lasting(by, What.SUSPEND, why, person, until, person.suspended_until)
        accounts.suspend(person, until, by=Trace.STAFF)
    return act


def rename(by: User, person: User, why: Why) -> Act:
    """Take an offensive name away; the person may choose another at once."""
    name = f"Player {secrets.randbelow(10**7):07}"
    with transaction.atomic():
        act = _write(by, What.RENAME, why, person, before={"name": person.name}, after={"name": name})
        names.change(person, name, by=Trace.STAFF)
    return act


def hide(by: User, message: Message, why: Why) -> Act:
    with transaction.atomic():
        message = Message.objects.select_for_update().get(pk=message.pk)
        sides.refuse_own_channel(by, message.channel)
        before: dict[str, Any] = {"hidden": message.hidden}
        before |= words_of(message)
        act = _write(by, What.HIDE, why, message.author, before=before, after={"hidden": True}, message=message.pk)
        chat.hide(message.pk)
    return act


def words_of(message: Message) -> dict[str, Any]:
    """What the log keeps of a hidden message, and its letter quotes: the words, and where they were said."""
    return {"said": message.words or message.preset, "channel": message.channel}


def end_game(by: User, game: Game, why: Why) -> Act:
    """End a running game as void (R8.10a): no ranking, no rating."""
    sides.refuse_own_game(by, game)
    with transaction.atomic():
        act = _write(by, What.END_GAME, why, None, game=game, before={"head": game.head}, after={"ended": True})
        if not intervention.void(game.pk):
            raise ValidationError(_("This game is over already."), code="game_over")
        letters.send_to_table(game, act)
    return act


def remove_from_game(by: User, game: Game, person: User, why: Why) -> Act:
    """Take one player out of a running game; the others play on (R8.8)."""
    sides.refuse_own_game(by, game)
    with transaction.atomic():
        act = _write(by, What.REMOVE, why, person, game=game, after={"left": True})
        if not intervention.remove(game.pk, person.pk):
            raise ValidationError(_("This person is not in the game any more."), code="not_in_game")
    return act


def void_game(by: User, game: Game, why: Why) -> Act:
    """Take a finished ranked game out of the ratings, which are worked out anew from there."""
    sides.refuse_own_game(by, game)
    with transaction.atomic():
        act = _write(by, What.VOID_GAME, why, None, game=game, before={"voided": False}, after={"voided": True})
        if not ladder.void_game(game.pk, by.pk):
            raise ValidationError(_("This game does not count for the ratings anyway."), code="not_rated")
        letters.send_to_table(game, act)
    return act


def forgive(by: User, person: User, why: Why) -> Act:
    """What this person left unfinished so far counts no longer against them; results and ratings stay."""
    with transaction.atomic():
        left = Seat.objects.filter(user=person, forgiven=False).exclude(conduct__in=("", Seat.Conduct.FINISHED))
        seats = list(left.values_list("pk", flat=True))
        act = _write(by, What.FORGIVE, why, person, before={"seats": seats}, after={"forgiven": True})
        careers.forgive(seats, forgiven=True)
    return act


def give_role(by: User, person: User, role: Role, why: Why) -> Act:
    """Make somebody a moderator or an administrator, or neither; administrators do so, and not about themselves."""
    with transaction.atomic():
        person = roles.hold_for_role(by, person)
        if person.is_guest or person.deleted_at is not None or person.closed_at is not None:
            raise ValidationError(_("Only people with an account have a role."), code="no_account")
        if person.role == role:
            raise ValidationError(_("This is their role already."), code="same_role")
        act = _write(by, What.ROLE, why, person, before={"role": person.role}, after={"role": role})
        accounts.give_role(person, role, by=Trace.STAFF)
    return act


def watch(by: User, game: Game, why: Why) -> Act:
    """Look on without being seen: nobody at a table is told of who watches, but the log is."""
    sides.refuse_own_game(by, game)
    with transaction.atomic():
        return _write(by, What.WATCH, why, None, game=game)


# On rooms -------------------------------------------------------------------------------------------------------------


def close_room(by: User, room: Room, why: Why) -> Act:
    """Close a room, whoever sits in it; everybody there reads so."""
    sides.refuse_own_room(by, room)
    with transaction.atomic():
        people = _people_of(room)
        before = {"seats": rooms.seating(room)}
        act = _write(by, What.CLOSE_ROOM, why, room.owner, room=room.code, before=before, after={"closed": True})
        letters.send_to_others(people, act)
        rooms.close_room(room)
    return act


def remove_from_room(by: User, room: Room, person: User, why: Why) -> Act:
    """Show somebody out for good."""
    sides.refuse_own_room(by, room)
    with transaction.atomic():
        if person not in _people_of(room):
            raise ValidationError(_("This person is not in the room any more."), code="not_in_room")
        before = {"admission": rooms.admission_of(room, person.pk)}
        act = _write(by, What.REMOVE, why, person, room=room.code, before=before, after={"admission": False})
        rooms.remove_person(room, person)
    return act


def hand_over(by: User, room: Room, person: User, why: Why) -> Act:
    """Give a room to somebody else who sits in it."""
    sides.refuse_own_room(by, room)
    with transaction.atomic():
        people = _people_of(room)
        if person not in people:
            raise ValidationError(_("This person is not in the room any more."), code="not_in_room")
        before = {"owner": room.owner_id}
        act = _write(by, What.HAND_OVER, why, room.owner, room=room.code, before=before, after={"owner": person.pk})
        letters.send_to_others(people, act)
        rooms.hand_over(room, person)
    return act


def _people_of(room: Room) -> list[User]:
    if Room.objects.select_for_update(no_key=True).get(pk=room.pk).closed:
        raise ValidationError(_("This room is closed."), code="room_closed")
    return [seat.user for seat in room.seats.select_related("user").order_by("number") if seat.user]


# Written down ---------------------------------------------------------------------------------------------------------


def _write(
    by: User,
    what: What,
    why: Why,
    person: User | None,
    *,
    until: datetime | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    **about: Any,
) -> Act:
    """The line in the log, and the letter to the person."""
    roles.refuse_too_many(by, what)
    if person is not None:
        roles.refuse_own_kind(by, person)
    if why.case is not None:
        cases.mine(why.case, by)
    elif person is not None and what in ON_PEOPLE:
        sides.refuse_own_company(by, person)
        if what != What.SUSPEND:
            cases.refuse_worked_on(person, by)
    act = Act.objects.create(
        by=by,
        person=person,
        what=what,
        reason=why.reason,
        words=why.words,
        until=until,
        before=dict(before or {}),
        after=dict(after or {}),
        case=why.case,
        **about,
    )
    if person is not None and is_told(what):
        letters.send(person, Letter.Kind.ACT, act=act)
    return act


def _write_lasting(by: User, what: What, why: Why, person: User, until: datetime, running: datetime | None) -> Act:
    """The line of what lasts until then, or as long as one that runs already, if that is longer."""
    after = _until(max(until, running or until))
    return _write(by, what, why, person, until=until, before=_until(running), after=after)


def _until(moment: datetime | None) -> dict[str, Any]:
    return {"until": moment.isoformat() if moment else None}
