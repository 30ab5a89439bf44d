"""Nobody decides about a table at which they sat: ValidationError for whoever has a side in it."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games import chat
from games.models import Act, Case, Game, Room, RoomSeat, Seat

# For so long after a game its players do not act on each other.
LATELY = timedelta(days=1)


def is_involved(case: Case, moderator: User) -> bool:
    """Whether the moderator has a side in a case: reported, was reported, sat at one of the tables, or is at home
    where one of the messages was written."""
    if case.about_id == moderator.pk or case.reports.filter(reporter=moderator).exists():
        return True
    games = case.reports.exclude(game=None).values("game")
    if Seat.objects.filter(user=moderator, game__in=games).exists():
        return True
    channels = case.reports.exclude(channel="").values_list("channel", flat=True).distinct()
    return any(_is_at_home(moderator, channel) for channel in channels)


def _is_at_home(person: User, channel: str) -> bool:
    """Whether this person sat at the game, or sits in or owns the room, that a channel belongs to."""
    place = chat.place_of(channel, None)
    if place is None:
        return False
    if place.game is not None:
        return _sat_at(person, place.game)
    return place.room is not None and _lives_in(person, place.room)


def _sat_at(person: User, game: Game) -> bool:
    return game.seats.filter(user=person).exists()


def _lives_in(person: User, room: Room) -> bool:
    return room.owner_id == person.pk or room.seats.filter(user=person).exists()


def refuse_own_game(by: User, game: Game) -> None:
    if _sat_at(by, game):
        raise ValidationError(_("You sat at this table."), code="involved")


def refuse_own_room(by: User, room: Room) -> None:
    if _lives_in(by, room):
        raise ValidationError(_("You have a side in this room."), code="involved")


def without_own(by: User, rooms: QuerySet[Room]) -> QuerySet[Room]:
    """Those of these rooms in which this moderator has no side."""
    return rooms.exclude(owner=by).exclude(Exists(RoomSeat.objects.filter(room=OuterRef("pk"), user=by)))


def refuse_own_channel(by: User, channel: str) -> None:
    """For what was said at the moderator's table, or in a room where they sit."""
    place = chat.place_of(channel, None)
    if place is not None and place.game is not None:
        refuse_own_game(by, place.game)
    if place is not None and place.room is not None:
        refuse_own_room(by, place.room)


def refuse_own_company(by: User, person: User) -> None:
    """For an act without a case on somebody with whom the moderator plays, or played lately, or in whose open case
    they have a side."""
    _refuse_sat_together(by, person, timezone.now())
    case = Case.objects.filter(about=person, decided=None).first()
    if case is not None and is_involved(case, by):
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
        if is_involved(act.case, by):
            raise ValidationError(_("You have a side in this case."), code="involved")
    elif act.person is not None and act.game is None:
        _refuse_sat_together(by, act.person, act.at)


def _refuse_sat_together(by: User, person: User, at: datetime) -> None:
    games = Game.objects.filter(Q(ended=None) | Q(ended__gt=at - LATELY), created__lte=at, seats__user=by)
    if games.filter(seats__user=person).exists():
        raise ValidationError(_("You sat at this table."), code="involved")
