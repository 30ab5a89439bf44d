"""What follows in rooms when something happens to a person, and what they played, for them to take along."""

from typing import Any

from django.dispatch import receiver

from accounts import export, signals
from accounts.models import User
from games import ladder, rooms
from games.models import Admission, Figures, Game, Nudge, RoomSeat, Seat

FIGURES = [field.name for field in Figures._meta.concrete_fields if not field.primary_key]


@receiver([signals.suspended, signals.deleted])
def gone(sender: object, user: User, **kwargs: Any) -> None:
    rooms.let_go(user.pk)


@export.part("rooms")
def in_rooms(user: User) -> dict[str, Any]:
    """Where they sit, where somebody invited or removed them, and which games they hear nothing of by mail."""
    return {
        "seats": [
            {"room": seat.room.code, "since": export.iso(seat.since)}
            for seat in RoomSeat.objects.filter(user=user).select_related("room").order_by("pk")
        ],
        "admissions": [
            {"room": one.room.code, "invited": one.invited, "at": export.iso(one.at)}
            for one in Admission.objects.filter(user=user).select_related("room").order_by("pk")
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
