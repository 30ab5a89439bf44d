"""What happens to people, at tables and in rooms; and what they played, for them to take along."""

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.dispatch import receiver

from accounts import export, signals
from accounts.models import EndedSession, User
from games import doorbell, intervention, ladder, rooms
from games.models import Admission, Figures, Game, Meeting, Nudge, RoomSeat, Seat, Waiting

logger = logging.getLogger(__name__)

FIGURES = [field.name for field in Figures._meta.concrete_fields if not field.primary_key]


@receiver(signals.suspended)
def shut_out(sender: object, user: User, **kwargs: Any) -> None:
    """Staff takes them out of live games; to a relaxed one they may come back in time (R8.8)."""
    _leave(user.pk, Game.objects.filter(pace=Game.Pace.LIVE), intervention.remove)


@receiver(signals.closed)
def closed(sender: object, user: User, **kwargs: Any) -> None:
    """At a live table somebody sits and waits; a relaxed game they may come back to in time (R8.8)."""
    _leave(user.pk, Game.objects.filter(pace=Game.Pace.LIVE), intervention.leave)


@receiver(signals.deleted)
def deleted(sender: object, user: User, **kwargs: Any) -> None:
    rooms.let_go(user.pk)
    Admission.objects.filter(user=user).delete()
    Nudge.objects.filter(seat__user=user).delete()
    Meeting.objects.filter(by=user).delete()
    for meeting in Meeting.objects.filter(accepted=user):
        meeting.accepted.remove(user)
    transaction.on_commit(lambda: doorbell.tell_renamed(user.pk), robust=True)
    transaction.on_commit(lambda: _leave(user.pk, Game.objects.all(), intervention.leave), robust=True)


def _leave(person_id: int, games: QuerySet[Game], leave: Callable[[int, int], bool]) -> None:
    """And after that their rooms. What cannot be left at once is tried again, keeps nobody in the others, and is left
    by missing its next rounds (R8.8)."""
    waiting = list(games.filter(seats__user=person_id, ended=None).values_list("pk", flat=True))
    for last in (False, False, True):
        waiting = [game_id for game_id in waiting if not _is_left(game_id, person_id, leave, last)]
    rooms.let_go(person_id)


def _is_left(game_id: int, person_id: int, leave: Callable[[int, int], bool], last: bool) -> bool:
    try:
        leave(game_id, person_id)
    except Exception:
        if last:
            logger.exception("Person %d is gone, and still in game %d", person_id, game_id)
        return False
    return True


@receiver(signals.signed_out)
def out(sender: object, ended: EndedSession, **kwargs: Any) -> None:
    doorbell.tell_ended(ended.user_id)


@receiver([signals.renamed, signals.named])
def renamed(sender: object, user: User, **kwargs: Any) -> None:
    doorbell.tell_renamed(user.pk)


@export.part("rooms")
def in_rooms(user: User) -> dict[str, Any]:
    """Where they sit and wait, where somebody invited or removed them, when they meet, what they get no mail about."""
    return {
        "seats": [
            {"room": seat.room.code, "since": export.iso(seat.since), "owner": seat.room.owner_id == user.pk}
            for seat in RoomSeat.objects.filter(user=user).select_related("room").order_by("pk")
        ],
        "admissions": [
            {"room": one.room.code, "invited": one.invited, "at": export.iso(one.at)}
            for one in Admission.objects.filter(user=user).select_related("room").order_by("pk")
        ],
        "waiting": [
            {"players": one.players, "since": export.iso(one.since)} for one in Waiting.objects.filter(user=user)
        ],
        "meetings": [
            {"game": one.game.code, "at": export.iso(one.at), "proposed": one.by_id == user.pk}
            for one in Meeting.objects.filter(Q(by=user) | Q(accepted=user)).select_related("game").distinct()
        ],
        "muted_games": list(
            Nudge.objects.filter(seat__user=user, muted=True).values_list("seat__game__code", flat=True)
        ),
    }


@export.part("games")
def games_of(user: User) -> list[dict[str, Any]]:
    """Every game that has ended: how it ended for them, how they left, and what they did in it, in figures."""
    seats = Seat.objects.filter(user=user, ended__isnull=False).select_related("game", "figures")
    return [
        {
            "game": seat.game.code,
            "ended": export.iso(seat.ended),
            "pace": seat.game.pace,
            "rulebook": seat.game.rulebook,
            "ranked": seat.game.ranked,
            "seat": seat.number,
            "character": seat.character,
            "by_program": seat.program,
            "place": seat.place,
            "points": seat.points,
            "conduct": seat.conduct,
            "left": export.iso(seat.left_at),
            "forgiven": seat.forgiven,
            "figures": {name: getattr(seat.figures, name) for name in FIGURES} if hasattr(seat, "figures") else None,
        }
        for seat in seats.order_by("ended", "game_id").iterator()
    ]


@export.part("ratings")
def ratings_of(user: User) -> list[dict[str, Any]]:
    """What rated games did to their ratings, as it counts today."""
    return [
        {"game": line.game.code, "pace": pace, "before": str(line.before), "after": str(line.after), "k": line.k}
        for pace in Game.Pace.values
        for line in ladder.lines_of(user.pk, pace).select_related("game").order_by("finish_seq")
    ]
