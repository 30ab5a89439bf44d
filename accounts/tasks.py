"""What workers do for people; importing `letters` and `resets` makes their tasks known too. Each may run twice."""

from celery import shared_task
from django.utils import timezone

from accounts import closing, guests, letters, resets, sessions, tokens

__all__ = ["letters", "resets", "sweep"]


@shared_task
def sweep() -> None:
    """Hourly: delete accounts closed for 30 days and guests gone for as long, forget what nobody looks for."""
    now = timezone.now()
    closing.delete_due(now)
    guests.delete_abandoned(now)
    sessions.forget_old_ends(now)
    sessions.clear_expired()
    tokens.forget_ended()
