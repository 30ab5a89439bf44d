"""Tokens: a program plays in its owner's name, without the owner's password and without a browser's session.

A token is good as long as the sessions of its time are: a new password, a suspension or signing out everywhere ends it.
"""

import hashlib
import secrets

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import duties, sessions
from accounts.models import ApiToken, EndedSession, Trace, User

MOST = 10
# So that whoever finds one in a log or a public file knows what it is.
PREFIX = "midnight_"


def make(user: User, name: str) -> tuple[ApiToken, str]:
    """A new token and its secret, which nobody can be shown again; ValidationError where there are too many."""
    secret = PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if listed(user).count() >= MOST:
            raise ValidationError(_("You have %(most)d tokens. Please revoke one first."), params={"most": MOST})
        token = ApiToken.objects.create(user=user, name=name, mark=_mark(secret), epoch=user.session_epoch)
        Trace.objects.create(user=user, what=Trace.What.TOKEN_MADE)
    return token, secret


def listed(user: User) -> "QuerySet[ApiToken]":
    """The person's tokens that are good, the newest first."""
    return ApiToken.objects.filter(user=user, epoch=user.session_epoch).order_by("-pk")


def revoke(user: User, pk: int) -> bool:
    """End a token and what is connected by it; False where this person has none with that number."""
    with transaction.atomic():
        token = ApiToken.objects.filter(user=user, pk=pk).first()
        if token is None:
            return False
        sessions.tell(user, EndedSession.Reason.SIGNED_OUT, session_key=token.session_key)
        token.delete()
        Trace.objects.create(user=user, what=Trace.What.TOKEN_REVOKED)
    return True


def holder(secret: str) -> ApiToken | None:
    """The token with this secret, with its person, if it is good and nothing stands before the person's playing."""
    token = ApiToken.objects.select_related("user").filter(mark=_mark(secret)).first()
    if token is None or token.epoch != token.user.session_epoch:
        return None
    user = token.user
    if user.is_gone or duties.first_duty(user):
        return None
    today = timezone.localdate()
    if token.used_on != today:
        ApiToken.objects.filter(pk=token.pk).update(used_on=today)
    return token


def forget_ended() -> None:
    """Throw away tokens that ended with their sessions."""
    ApiToken.objects.exclude(epoch=F("user__session_epoch")).delete()


def _mark(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
