"""Guests: people who play without a name, and may take one later."""

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import sessions, signals
from accounts.looks import check
from accounts.models import TakenName, Trace, User, the_database_deciding
from accounts.signing import remember_mail


def claim(guest: User, name: str, password: str, *, mail: str = "", request: HttpRequest | None = None) -> User:
    """Make a named account of a guest: the same row, so games, seats and sockets stay where they are.

    The session of `request` goes on under its own key. ValidationError where the name is not allowed or taken.
    """
    if not guest.is_guest:
        raise ValueError(f"{guest} has a name already.")
    old, name = guest.name, check(name)
    with transaction.atomic():
        TakenName.objects.take(guest, name)
        guest.name, guest.is_guest, guest.renamed_at = name, False, None
        guest.set_password(password)
        with the_database_deciding():
            guest.save(update_fields=["name", "is_guest", "renamed_at", "password"])
        remember_mail(guest, mail)
        Trace.objects.create(user=guest, what=Trace.What.NAMED, at=timezone.now())
        if request is not None:
            sessions.keep_in_step(request, guest)
        signals.send_on_commit(signals.named, User, user=guest, old=old)
    return guest
