"""What staff may do to an account. Each act leaves a line in its history."""

from datetime import datetime

from django.db import transaction

from accounts import sessions, signals
from accounts.models import EndedSession, Trace, User


def suspend(user: User, until: datetime, *, by: str) -> None:
    """Shut a person out until then: every session and socket of theirs ends, and signing in says until when."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(suspended_until=until)
        user.suspended_until = until
        sessions.end_all(user, EndedSession.Reason.SUSPENDED)
        Trace.objects.create(user=user, what=Trace.What.SUSPENDED, by=by)
        signals.send_on_commit(signals.suspended, User, user=user, until=until)


def lift(user: User, *, by: str) -> None:
    """End a suspension before its time."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(suspended_until=None)
        user.suspended_until = None
        Trace.objects.create(user=user, what=Trace.What.LIFTED, by=by)
