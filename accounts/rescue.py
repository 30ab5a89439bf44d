"""Help for somebody who lost their password, passkey or app."""

import logging

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import letters, sessions
from accounts.administrators import one_time_password
from accounts.models import EndedSession, Trace, User

log = logging.getLogger(__name__)


def rescue(user: User, *, by: str) -> str:
    """A one-time password, which leads to a new one before anything else.

    Second factors are gone, every session has ended, and who did it stands in the account's history and in the log.
    """
    password = one_time_password()
    with transaction.atomic():
        user.set_password(password)
        user.must_change_password = True
        user.save(update_fields=["password", "must_change_password"])
        Authenticator.objects.filter(user=user).delete()
        sessions.end_all(user, EndedSession.Reason.RESCUED)
        Trace.objects.create(user=user, what=Trace.What.RESCUED, by=by)
        letters.to_person(user, "accounts/letters/rescued")
    log.warning("%s gave back access to the account of %s.", by, user.name)
    return password
