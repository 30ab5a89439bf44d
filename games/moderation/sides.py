"""Nobody decides about a table at which they sat: ValidationError for whoever has a side in it."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games import chat
from games.models import Act, Case, Game, Room
from games.moderation import cases

# For so long after a game its players do not act on each other.
LATELY = timedelta(days=1)


def refuse_own_game(by: User, game: Game) -> None:
    if game.seats.filter(user=by).exists():
        raise ValidationError(_("You sat at this table."), code="involved")


def refuse_own_room(by: User, room: Room) -> None:
    if room.owner_id == by.pk or room.seats.filter(user=by).exists():
        raise ValidationError(_("You have a side in this room."), code="involved")


def refuse_own_channel(by: User, channel: str) -> None:
    """For what was said at the moderator's table, or in a room where they sit."""
    place = chat.place_of(channel, by.pk)
    if place is not None and place.game is not None:
        refuse_own_game(by, place.game)
    if place is not None and place.room is not None:
        refuse_own_room(by, place.room)


def refuse_own_company(by: User, person: User) -> None:
    """For an act without a case on somebody with whom the moderator plays, or played lately, or in whose open case
    they have a side."""
    _refuse_sat_together(by, person, timezone.now())
    case = Case.objects.filter(about=person, decided=None).first()
    if case is not None and cases.is_involved(case, by):
        raise ValidationError(_("You have a side in this case."), code="involved")


def refuse_own_act(by: User, act: Act) -> None:
    """For judging an act again: whoever sat at the table that it is about does not."""
    if act.game is not None:
        refuse_own_game(by, act.game)
    refuse_own_channel(by, act.before.get("channel", ""))
    room = Room.objects.filter(code=act.room).first() if act.room else None
    if room is not None:
        refuse_own_room(by, room)
    if any(seat["user"] == by.pk for seat in act.before.get("seats", []) if isinstance(seat, dict)):
        raise ValidationError(_("You have a side in this room."), code="involved")
    if act.case is not None:
        if cases.is_involved(act.case, by):
            raise ValidationError(_("You have a side in this case."), code="involved")
    elif act.person is not None and act.game is None:
        _refuse_sat_together(by, act.person, act.at)


def _refuse_sat_together(by: User, person: User, at: datetime) -> None:
    games = Game.objects.filter(Q(ended=None) | Q(ended__gt=at - LATELY), created__lte=at, seats__user=by)
    if games.filter(seats__user=person).exists():
        raise ValidationError(_("You sat at this table."), code="involved")
