"""What staff may do to an account. Each act leaves a line in its history."""

from datetime import datetime

from django.db import transaction

from accounts import sessions, signals
from accounts.models import EndedSession, Role, Trace, User


def suspend(user: User, until: datetime, *, by: str) -> None:
    """Shut a person out until then: every session and socket of theirs ends, and signing in says until when."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(suspended_until=until)
        user.suspended_until = until
        sessions.end_all(user, EndedSession.Reason.SUSPENDED)
        Trace.objects.create(user=user, what=Trace.What.SUSPENDED, by=by)
        signals.send_on_commit(signals.suspended, User, user=user, until=until)


def lift(user: User, *, by: str, until: datetime | None = None) -> None:
    """End a suspension before its time: now, or at an earlier moment."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(suspended_until=until)
        user.suspended_until = until
        Trace.objects.create(user=user, what=Trace.What.LIFTED, by=by)


def mute(user: User, until: datetime | None, *, by: str) -> None:
    """Take a person's free words away until then, or give them back at once."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(muted_until=until)
        user.muted_until = until
        Trace.objects.create(user=user, what=Trace.What.MUTED if until else Trace.What.UNMUTED, by=by)


def give_role(user: User, role: Role, *, by: str) -> None:
    """Make a person a moderator or an administrator, or neither. Staff need a second factor."""
    staff, superuser = role != Role.PLAYER, role == Role.ADMINISTRATOR
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_staff=staff, is_superuser=superuser)
        user.is_staff, user.is_superuser = staff, superuser
        Trace.objects.create(user=user, what=Trace.What.ROLE, by=by)


def bar(user: User, until: datetime | None, *, by: str) -> None:
    """Shut ranked games to a person until then, or open them at once."""
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(barred_until=until)
        user.barred_until = until
        Trace.objects.create(user=user, what=Trace.What.BARRED if until else Trace.What.UNBARRED, by=by)
