"""What follows in rooms when something happens to a person."""

from typing import Any

from django.dispatch import receiver

from accounts import export, signals
from accounts.models import User
from games import rooms
from games.models import Admission, Nudge, RoomSeat


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
