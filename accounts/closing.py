"""Leaving: an account is closed first, which can be undone for 30 days, and then deleted, which cannot.

What a deleted person played stays, under a pseudonym: other people's games are theirs too. Nothing else does, and the
name is never given to anybody again.
"""

import logging
import secrets
from datetime import datetime, timedelta
from functools import partial

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import letters, moderation, sessions, signals
from accounts.models import ApiToken, EndedSession, TakenName, Trace, User

log = logging.getLogger(__name__)

GRACE = timedelta(days=30)
MOST_AT_ONCE = 500
PSEUDONYM_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def refuse_last_administrator(user: User) -> None:
    """For the transaction in which somebody leaves: two administrators who leave at once do so one after the other."""
    if not user.is_superuser:
        return
    left = User.objects.select_for_update(no_key=True).filter(is_superuser=True, closed_at=None, deleted_at=None)
    if all(one.pk == user.pk for one in left.order_by("pk")):
        raise ValidationError(
            _("You are the last administrator. Make somebody else one first."), code="last_administrator"
        )


def close(user: User) -> None:
    """Shut the account: every session ends, nobody finds it. Signing in within 30 days opens it again."""
    with transaction.atomic():
        refuse_last_administrator(user)
        user.closed_at = timezone.now()
        user.save(update_fields=["closed_at"])
        Trace.objects.create(user=user, what=Trace.What.CLOSED)
        letters.to_person(user, "accounts/letters/closed", until=user.closed_at + GRACE)
        sessions.end_all(user, EndedSession.Reason.CLOSED)
        signals.send_on_commit(signals.closed, User, user=user)


def reopen(user: User) -> bool:
    """Take the closing back; False where it was taken back already, or a worker has just deleted the account."""
    with transaction.atomic():
        closed = User.objects.filter(pk=user.pk, closed_at__isnull=False, deleted_at=None)
        if not closed.update(closed_at=None):
            return False
        user.closed_at = None
        Trace.objects.create(user=user, what=Trace.What.REOPENED)
        letters.to_person(user, "accounts/letters/reopened")
    return True


def delete(user: User) -> None:
    """Take the person out of the account, at once and for good. The row stays, for the games that point at it."""
    with transaction.atomic():
        refuse_last_administrator(user)
        user = User.objects.select_for_update().get(pk=user.pk)
        if user.deleted_at:
            return
        sessions.end_all(user, EndedSession.Reason.DELETED)
        # A letter that is kept as a file would keep the address.
        if not letters.are_kept():
            letters.to_person(user, "accounts/letters/deleted")
        transaction.on_commit(partial(letters.forget, _addresses_of(user)), robust=True)
        EmailAddress.objects.filter(user=user).delete()
        Authenticator.objects.filter(user=user).delete()
        ApiToken.objects.filter(user=user).delete()
        blank = User(name=free_pseudonym())
        moderation.sign_as(user, user.name, blank.name)
        Trace.objects.filter(user=user).delete()
        TakenName.objects.filter(holder=user).update(holder=None)
        user.groups.clear()
        user.user_permissions.clear()
        kept = {"id", "session_epoch", "is_guest", "name", "folded_name"}
        for field in User._meta.concrete_fields:
            if field.attname not in kept:
                setattr(user, field.attname, getattr(blank, field.attname))
        user.name = blank.name
        user.deleted_at = timezone.now()
        user.set_unusable_password()
        user.save()
        signals.deleted.send(User, user=user)


def _addresses_of(user: User) -> list[str]:
    return list(EmailAddress.objects.filter(user=user).values_list("email", flat=True))


def free_pseudonym() -> str:
    while True:
        name = "Former " + "".join(secrets.choice(PSEUDONYM_ALPHABET) for _ in range(7))
        if not User.objects.filter(name=name).exists():
            return name


def delete_due(now: datetime) -> int:
    """Delete the accounts that were closed 30 days ago; how many those were, `MOST_AT_ONCE` at most."""
    return delete_among(User.objects.filter(closed_at__lte=now - GRACE, deleted_at=None).order_by("closed_at", "pk"))


def delete_among(gone: QuerySet[User]) -> int:
    """Delete whoever of these is one of them still when their turn comes; how many those were, `MOST_AT_ONCE` at most.

    Who cannot be deleted stays, and holds nobody else up.
    """
    return sum(_delete_if_among(gone, pk) for pk in list(gone.values_list("pk", flat=True)[:MOST_AT_ONCE]))


def _delete_if_among(gone: QuerySet[User], pk: int) -> bool:
    """Looked at again under the lock: they may have come back, or another worker was faster."""
    try:
        with transaction.atomic():
            user = gone.select_for_update().filter(pk=pk).first()
            if user is not None:
                delete(user)
    except Exception:
        log.exception("The account %s could not be deleted", pk)
        return False
    return user is not None
