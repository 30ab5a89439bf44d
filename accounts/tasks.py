"""What workers do for people; importing `letters` and `resets` makes their tasks known too. Each may run twice."""

import logging
from collections.abc import Callable

from celery import shared_task
from django.utils import timezone

from accounts import closing, guests, letters, resets, sessions, tokens

__all__ = ["letters", "resets", "sweep"]

log = logging.getLogger(__name__)


@shared_task
def sweep() -> None:
    """Hourly: delete accounts closed for 30 days and guests gone for as long, forget what nobody looks for.

    What fails is tried again in an hour, and holds up nothing else.
    """
    now = timezone.now()
    chores: dict[str, Callable[[], object]] = {
        "closed accounts": lambda: closing.delete_due(now),
        "abandoned guests": lambda: guests.delete_abandoned(now),
        "old ends of sessions": lambda: sessions.forget_old_ends(now),
        "expired sessions": lambda: sessions.clear_expired(now),
        "ended tokens": tokens.forget_ended,
    }
    for what, chore in chores.items():
        try:
            chore()
        except Exception:
            log.exception("The sweep of %s failed", what)
