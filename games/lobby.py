"""How games come about: one function for each thing that happens."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet

from accounts.models import User
from games import pace, rooms
from games.bots.strengths import Strength
from games.history import name_of
from games.models import Game, Room, RoomSeat, Seat
from games.opening import NewSeat, open_game
from games.rules import terms

ROOMS_A_PAGE = 24
MOST_GAMES = 50
MOST_WATCHED = 6
MOST_BOTS = len(terms.CHARACTERS) - 1


@dataclass(frozen=True, slots=True)
class Watched:
    """A game that goes on, as the lobby offers it to those who want to watch."""

    code: str
    names: list[str]
    pace: str
    ranked: bool


def play_against_bots(person: User, bots: int, strength: Strength) -> Game:
    """A casual game of this person against so many bots, live and at once; `RoomRefusal` where they play elsewhere."""
    characters = random.sample(terms.CHARACTERS, bots + 1)
    seats = [NewSeat(characters[0], person.pk), *(NewSeat(one, strength=strength) for one in characters[1:])]
    with transaction.atomic():
        rooms.free_live_seat(person)
        return open_game(seats)


def free_rooms(page: str | int = 1, *, pace: str = "", ranked: bool | None = None) -> Page[Any]:
    """The rooms that lack somebody, the fullest first; each with its `seats` in order."""
    found = rooms.welcoming()
    if pace:
        found = found.filter(pace=pace)
    if ranked is not None:
        found = found.filter(ranked=ranked)
    found = found.order_by(F("size") - F("taken"), "-touched", "pk")
    seats = RoomSeat.objects.select_related("user").order_by("number")
    return Paginator(found.select_related("owner").prefetch_related(Prefetch("seats", seats)), ROOMS_A_PAGE).get_page(
        page
    )


def games_to_watch() -> list[Watched]:
    """Find some public games of rooms that go on right now, for visitors of the lobby to watch."""
    sitters = Prefetch("seats", Seat.objects.select_related("user").order_by("number"))
    found = Game.objects.filter(ended=None, wake_at__isnull=False, listed=True, room__isnull=False)
    some = found.order_by("-wake_at").prefetch_related(sitters)[:MOST_WATCHED]
    return [Watched(game.code, [name_of(seat) for seat in game.seats.all()], game.pace, game.ranked) for game in some]


def rooms_of(person_id: int) -> list[Room]:
    """The open rooms that this person `sits` in, and after them those somebody invited them to."""
    sits = Exists(RoomSeat.objects.filter(room=OuterRef("pk"), user=person_id))
    own = RoomSeat.objects.filter(user=person_id).values("room")
    found = rooms.resting().filter(Q(pk__in=own) | Q(pk__in=_invited_to(person_id).values("pk"))).annotate(sits=sits)
    return list(found.select_related("owner").order_by("-sits", "-touched")[:MOST_GAMES])


def invitations(person_id: int) -> int:
    """How many open rooms somebody has invited this person to, where they do not sit yet."""
    return _invited_to(person_id).exclude(seats__user=person_id).count()


def _invited_to(person_id: int) -> QuerySet[Room]:
    """Open rooms that this person is invited to; none of them is that of somebody blocked, or with such a person in it,
    whichever of the two has blocked the other."""
    invited = rooms.resting().filter(admissions__user=person_id, admissions__invited=True)
    apart = rooms.kept_apart(person_id)
    beside = Exists(RoomSeat.objects.filter(room=OuterRef("pk"), user__in=apart))
    return invited.exclude(owner__in=apart).exclude(beside)


@dataclass(frozen=True, slots=True)
class Running:
    """A game that goes on: where and with whom this person plays it, whether it waits for them, and until when it waits
    for anybody."""

    address: str
    opponents: list[str]
    pace: str
    due: bool
    until: datetime | None


def running_games(person_id: int) -> list[Running]:
    """The games that this person is still in: first those that wait for them, by urgency, then the latest."""
    sitters = Prefetch("game__seats", Seat.objects.select_related("user").order_by("number"))
    found = Seat.objects.filter(user=person_id, ended=None, game__ended=None).order_by("-game__created")
    found = found.select_related("game__room", "game__meeting").prefetch_related(sitters)
    seats = [seat for seat in found if not seat.has_left]
    due = pace.owed_of(seats)
    later = [seat for seat in seats if seat not in due]
    return [_running(seat, seat in due) for seat in (due + later)[:MOST_GAMES]]


def _running(seat: Seat, due: bool) -> Running:
    game = seat.game
    waits = game.pace == Game.Pace.RELAXED and game.wake_at is not None
    return Running(
        address=rooms.address_of_seat(game),
        opponents=[name_of(other) for other in game.seats.all() if other != seat],
        pace=game.pace,
        due=due,
        until=datetime.fromtimestamp((game.wake_at or 0) / 1_000, UTC) if waits else None,
    )
