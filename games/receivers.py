"""What follows in rooms when something happens to a person."""

from typing import Any

from django.dispatch import receiver

from accounts import signals
from accounts.models import User
from games import rooms


@receiver([signals.suspended, signals.deleted])
def gone(sender: object, user: User, **kwargs: Any) -> None:
    rooms.let_go(user.pk)
