"""What follows when Django or allauth did something: sessions end, and the account's history gets its line."""

from typing import Any

from allauth.account import signals as account
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from accounts import sessions
from accounts.models import EndedSession, Trace, User


@receiver(user_logged_out)
def signed_out(sender: object, request: HttpRequest | None, **kwargs: Any) -> None:
    if request is not None:
        sessions.end_current(request)


@receiver(account.password_changed)
def password_changed(sender: object, request: HttpRequest, user: User, **kwargs: Any) -> None:
    sessions.end_all(user, EndedSession.Reason.PASSWORD, keep=request)
    Trace.objects.create(user=user, what=Trace.What.PASSWORD)


@receiver(account.password_reset)
def password_reset(sender: object, user: User, **kwargs: Any) -> None:
    sessions.end_all(user, EndedSession.Reason.PASSWORD)
    Trace.objects.create(user=user, what=Trace.What.PASSWORD)


@receiver([account.email_confirmed, account.email_removed])
def mail_changed(sender: object, email_address: Any, **kwargs: Any) -> None:
    Trace.objects.create(user_id=email_address.user_id, what=Trace.What.MAIL)


@receiver(mfa.authenticator_added)
def factor_added(sender: object, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    note(user, authenticator, Trace.What.FACTOR_ADDED)


@receiver(mfa.authenticator_removed)
def factor_removed(sender: object, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    note(user, authenticator, Trace.What.FACTOR_REMOVED)


def note(user: User, authenticator: Authenticator, what: Trace.What) -> None:
    """Recovery codes come and go with the factor that they stand in for."""
    if authenticator.type != Authenticator.Type.RECOVERY_CODES:
        Trace.objects.create(user=user, what=what)
