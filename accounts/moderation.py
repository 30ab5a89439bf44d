"""What staff may do to an account. Each act leaves a line in its history, with `by` as the person reads it.

What comes on top of a mute, a bar or a suspension that runs never shortens it; only its undoing does.
"""

from datetime import datetime

from django.db import transaction

from accounts import sessions, signals
from accounts.models import EndedSession, Role, Trace, User


def suspend(user: User, until: datetime, *, by: str) -> None:
    """Shut a person out until then: every session and socket of theirs ends, and signing in says until when."""
    with transaction.atomic():
        until = _lengthened(user, "suspended_until", until)
        _set(user, "suspended_until", until)
        sessions.end_all(user, EndedSession.Reason.SUSPENDED)
        Trace.objects.create(user=user, what=Trace.What.SUSPENDED, by=by)
        signals.send_on_commit(signals.suspended, User, user=user, until=until)


def lift(user: User, *, by: str, until: datetime | None = None) -> None:
    """End a suspension before its time: now, or at an earlier moment."""
    with transaction.atomic():
        _set(user, "suspended_until", until)
        Trace.objects.create(user=user, what=Trace.What.LIFTED, by=by)


def mute(user: User, until: datetime, *, by: str) -> None:
    """Take a person's free words away until then."""
    with transaction.atomic():
        _set(user, "muted_until", _lengthened(user, "muted_until", until))
        Trace.objects.create(user=user, what=Trace.What.MUTED, by=by)


def unmute(user: User, *, by: str, until: datetime | None = None) -> None:
    """Give a person's free words back before their time: now, or at an earlier moment."""
    with transaction.atomic():
        _set(user, "muted_until", until)
        Trace.objects.create(user=user, what=Trace.What.UNMUTED, by=by)


def bar(user: User, until: datetime, *, by: str) -> None:
    """Shut ranked games to a person until then."""
    with transaction.atomic():
        _set(user, "barred_until", _lengthened(user, "barred_until", until))
        Trace.objects.create(user=user, what=Trace.What.BARRED, by=by)


def unbar(user: User, *, by: str, until: datetime | None = None) -> None:
    """Open ranked games to a person before their time: now, or at an earlier moment."""
    with transaction.atomic():
        _set(user, "barred_until", until)
        Trace.objects.create(user=user, what=Trace.What.UNBARRED, by=by)


def give_role(user: User, role: Role, *, by: str) -> None:
    """Make a person a moderator or an administrator, or neither. Staff need a second factor.

    A role with more rights ends all earlier sessions of that person.
    """
    gains = role != Role.PLAYER and not (user.is_superuser or (user.is_staff and role == Role.MODERATOR))
    staff, superuser = role != Role.PLAYER, role == Role.ADMINISTRATOR
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(is_staff=staff, is_superuser=superuser)
        user.is_staff, user.is_superuser = staff, superuser
        if gains:
            sessions.end_all(user, EndedSession.Reason.SIGNED_OUT)
        Trace.objects.create(user=user, what=Trace.What.ROLE, by=by)


def _lengthened(user: User, field: str, until: datetime) -> datetime:
    """The later of that moment and what the row, locked by now, says already: two who act at once take nothing back."""
    running = User.objects.select_for_update(no_key=True).values_list(field, flat=True).get(pk=user.pk)
    return max(until, running or until)


def _set(user: User, field: str, until: datetime | None) -> None:
    User.objects.filter(pk=user.pk).update(**{field: until})
    setattr(user, field, until)


def sign_as(user: User, old: str, new: str) -> None:
    """What somebody did as staff stands in the histories of others under the name that they have now."""
    if user.is_staff or Trace.objects.filter(user=user, what=Trace.What.ROLE).exists():
        Trace.objects.filter(by=old).update(by=new)
