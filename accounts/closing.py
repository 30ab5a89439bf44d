"""Leaving: an account is closed first, which can be undone for 30 days, and then deleted, which cannot.

What a deleted person played stays, under a pseudonym: other people's games are theirs too. Nothing else does, and the
name is never given to anybody again.
"""

import secrets
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import sessions, signals
from accounts.models import ApiToken, EndedSession, TakenName, Trace, User

GRACE = timedelta(days=30)
PSEUDONYM_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def refuse_last_administrator(user: User) -> None:
    others = User.objects.filter(is_superuser=True, closed_at=None, deleted_at=None).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise ValidationError(
            _("You are the last administrator. Make somebody else one first."), code="last_administrator"
        )


def close(user: User) -> None:
    """Shut the account: every session ends, nobody finds it. Signing in within 30 days opens it again."""
    refuse_last_administrator(user)
    with transaction.atomic():
        user.closed_at = timezone.now()
        user.save(update_fields=["closed_at"])
        Trace.objects.create(user=user, what=Trace.What.CLOSED)
        sessions.end_all(user, EndedSession.Reason.CLOSED)


def reopen(user: User) -> None:
    with transaction.atomic():
        user.closed_at = None
        user.save(update_fields=["closed_at"])
        Trace.objects.create(user=user, what=Trace.What.REOPENED)


def delete(user: User) -> None:
    """Take the person out of the account, at once and for good. The row stays, for the games it points at."""
    refuse_last_administrator(user)
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if user.deleted_at:
            return
        sessions.end_all(user, EndedSession.Reason.DELETED)
        EmailAddress.objects.filter(user=user).delete()
        Authenticator.objects.filter(user=user).delete()
        ApiToken.objects.filter(user=user).delete()
        Trace.objects.filter(user=user).delete()
        TakenName.objects.filter(holder=user).update(holder=None)
        user.groups.clear()
        user.user_permissions.clear()
        blank = User(name=free_pseudonym())
        kept = {"id", "session_epoch", "is_guest", "name", "folded_name"}
        for field in User._meta.concrete_fields:
            if field.attname not in kept:
                setattr(user, field.attname, getattr(blank, field.attname))
        user.name = blank.name
        user.deleted_at = timezone.now()
        user.set_unusable_password()
        user.save()
        signals.deleted.send(User, user=user)


def free_pseudonym() -> str:
    while True:
        name = "Former " + "".join(secrets.choice(PSEUDONYM_ALPHABET) for _ in range(7))
        if not User.objects.filter(name=name).exists():
            return name


def delete_due(now: datetime) -> int:
    """Delete the accounts that were closed 30 days ago; how many those were."""
    due = User.objects.filter(closed_at__lte=now - GRACE, deleted_at=None)
    count = 0
    for user in due.iterator():
        delete(user)
        count += 1
    return count
