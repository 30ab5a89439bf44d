"""Taking an act back, by an act of its own: what it changed is as before, what stands by other acts goes on.

What cannot be taken back says so in `FINAL`: the game is over, the moderator has seen it.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import moderation as accounts
from accounts import names
from accounts.models import Role, Trace, User
from games import careers, chat, ladder, rooms
from games.models import FINAL, Act, Appeal, Case, Report, Room, Seat, What
from games.moderation import letters, roles, sides
from games.moderation.reports import weigh_reported_by


def undo(act: Act, by: User, words: str = "") -> Act:
    """Take an act back; whoever had a letter about it has another, and appeals against it are granted by it."""
    if act.what in FINAL:
        raise ValidationError(_("This cannot be undone."), code="cannot_undo")
    roles.refuse_too_many(by, What.UNDO)
    person: User | None = act.person
    if person is not None:
        roles.refuse_own_kind(by, person)
    sides.refuse_own_act(by, act)
    try:
        with transaction.atomic():
            done = Act.objects.create(
                by=by,
                person_id=act.person_id,
                what=What.UNDO,
                reason=act.reason,
                words=words,
                before=act.after,
                after=act.before,
                case_id=act.case_id,
                game_id=act.game_id,
                room=act.room,
                message=act.message,
                undoes=act,
            )
            UNDO[What(act.what)](act, by)
            waiting = Appeal.objects.filter(act=act, decided=None)
            waiting.update(decided=timezone.now(), decided_by=by, granted=True, answer=words)
            letters.take_back(act, words)
    except IntegrityError:
        raise ValidationError(_("This has been undone already."), code="undone_already") from None
    return done


def _still_until(act: Act) -> datetime | None:
    """Until when this person would be muted, barred or suspended without that act; an act of this very moment is
    waited for, or waits."""
    person = User.objects.select_for_update(no_key=True).get(pk=_person_of(act).pk)
    others = Act.objects.filter(person=person, what=act.what, undone_by=None, until__gt=timezone.now())
    ends = others.exclude(pk=act.pk).order_by("-until").values_list("until", flat=True)
    return ends.first()


def _person_of(act: Act) -> User:
    """Whom it was done to, if they are still there: of guests not even the row stays."""
    person: User | None = User.objects.filter(pk=act.person_id or 0).first()
    if person is None:
        raise ValidationError(_("This cannot be undone."), code="cannot_undo")
    return person


def _unwarn(act: Act, by: User) -> None:
    """A warning has no effect but itself."""


def _unmute(act: Act, by: User) -> None:
    accounts.unmute(_person_of(act), by=Trace.STAFF, until=_still_until(act))


def _unbar(act: Act, by: User) -> None:
    accounts.unbar(_person_of(act), by=Trace.STAFF, until=_still_until(act))


def _unsuspend(act: Act, by: User) -> None:
    accounts.lift(_person_of(act), by=Trace.STAFF, until=_still_until(act))


def _name_again(act: Act, by: User) -> None:
    person = _person_of(act)
    if person.name == act.after.get("name"):
        names.change(person, act.before["name"], by=Trace.STAFF)


def _unhide(act: Act, by: User) -> None:
    others = Act.objects.filter(person=act.person, what=What.HIDE, message=act.message, undone_by=None)
    chat.hide(act.message or 0, others.exclude(pk=act.pk).exists())


def _count_again(act: Act, by: User) -> None:
    if act.game is not None:
        ladder.restore_game(act.game.pk)


def _hold_against_again(act: Act, by: User) -> None:
    """But for what a game that became void meanwhile has forgiven."""
    seats = Seat.objects.filter(pk__in=act.before["seats"]).exclude(game__reason="void", game__ended__gt=act.at)
    careers.forgive(list(seats.values_list("pk", flat=True)), forgiven=False)


def _former_role(act: Act, by: User) -> None:
    person = roles.hold_for_role(by, _person_of(act))
    if person.role == act.after["role"]:
        accounts.give_role(person, Role(act.before["role"]), by=Trace.STAFF)


def _look_again(act: Act, by: User) -> None:
    """The case waits for a moderator as before its decision, and what it said of its reports is forgotten."""
    case = act.case
    if case is None or Case.objects.filter(about=case.about_id, decided=None).exists():
        raise ValidationError(_("There is a new case about this person by now."), code="new_case")
    said = Report.objects.filter(case=case)
    transaction.on_commit(partial(weigh_reported_by, list(said.values_list("reporter", flat=True))), robust=True)
    said.update(verdict="")
    Case.objects.filter(pk=case.pk).update(decided=None, decided_by=None, outcome="", claimed_by=None, claimed_at=None)


# On rooms and at tables -----------------------------------------------------------------------------------------------


def _open_again(act: Act, by: User) -> None:
    if not rooms.reopen(_room_of(act), act.before.get("seats", [])):
        raise ValidationError(_("Whoever sat here sits elsewhere by now."), code="all_elsewhere")


def _back_to_its_owner(act: Act, by: User) -> None:
    room = _room_of(act)
    former = User.objects.filter(pk=act.before["owner"], room_seats__room=room).first()
    if room.closed or former is None:
        raise ValidationError(_("This person is not in the room any more."), code="not_in_room")
    rooms.hand_over(room, former)


def _let_in_again(act: Act, by: User) -> None:
    """Into the room; a game goes on without whoever was taken out, but nobody holds it against them."""
    if act.game is not None:
        seats = Seat.objects.filter(game=act.game, user=act.person_id).values_list("pk", flat=True)
        careers.forgive(list(seats), forgiven=True)
    elif act.person_id is not None:
        rooms.let_in(_room_of(act), act.person_id, act.before.get("admission"))


def _room_of(act: Act) -> Room:
    room = Room.objects.filter(code=act.room).first()
    if room is None:
        raise ValidationError(_("This cannot be undone."), code="cannot_undo")
    return room


UNDO: dict[What, Callable[[Act, User], None]] = {
    What.WARN: _unwarn,
    What.MUTE: _unmute,
    What.BAR: _unbar,
    What.SUSPEND: _unsuspend,
    What.RENAME: _name_again,
    What.HIDE: _unhide,
    What.VOID_GAME: _count_again,
    What.FORGIVE: _hold_against_again,
    What.ROLE: _former_role,
    What.CLOSE_ROOM: _open_again,
    What.HAND_OVER: _back_to_its_owner,
    What.REMOVE: _let_in_again,
    What.DECIDE: _look_again,
}
