"""Guests: people who play without a name, and may take one later; those who stay away are forgotten."""

from datetime import datetime, timedelta

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import closing, sessions, signals
from accounts.looks import check
from accounts.models import TakenName, Trace, User, the_database_deciding
from accounts.signing import remember_mail

# A guest cannot sign in again: whoever was not seen for so long has lost the way back.
ABANDONED = timedelta(days=30)


class NoGuest(ValueError):
    """Somebody has a name already, or is gone: they pressed twice, or came back too late."""


def claim(guest: User, name: str, password: str, *, mail: str = "", request: HttpRequest | None = None) -> User:
    """Make a named account of a guest: the same row, so games, seats and sockets stay where they are.

    The session of `request` goes on, under a new key. ValidationError where the name is not allowed or taken.
    """
    old, name = guest.name, check(name)
    with transaction.atomic():
        if not User.objects.select_for_update().filter(pk=guest.pk, is_guest=True, deleted_at=None).exists():
            raise NoGuest(f"{guest} is no guest any more.")
        TakenName.objects.take(guest, name)
        guest.name, guest.is_guest, guest.renamed_at = name, False, None
        guest.set_password(password)
        with the_database_deciding():
            guest.save(update_fields=["name", "is_guest", "renamed_at", "password"])
        remember_mail(guest, mail)
        Trace.objects.create(user=guest, what=Trace.What.NAMED, at=timezone.now())
        if request is not None:
            sessions.go_on(request, guest)
        signals.send_on_commit(signals.named, User, user=guest, old=old)
    return guest


def delete_abandoned(now: datetime) -> int:
    """Delete guests not seen for 30 days, as closed accounts are; how many those were."""
    last_day = timezone.localdate(now) - ABANDONED
    gone = User.objects.filter(is_guest=True, deleted_at=None, closed_at=None, seen_on__lt=last_day)
    return closing.delete_among(gone.order_by("seen_on", "pk"))
