"""Changing one's name: seldom, and never to somebody else's."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _

from accounts import letters, looks, moderation, signals
from accounts.models import TakenName, Trace, User, the_database_deciding

PAUSE = timedelta(days=30)


def may_change_at(user: User) -> datetime | None:
    """From when on the name may be changed again; None where it may be now."""
    if user.renamed_at is None or user.renamed_at + PAUSE <= timezone.now():
        return None
    return user.renamed_at + PAUSE


def change(user: User, name: str, *, by: str = "") -> None:
    """Give a person another name; the old one stays theirs, to return to.

    ValidationError where the name is not allowed, is taken, or was changed within the last 30 days. That pause binds
    whoever renames themselves, not staff (`by`), who may give a name of the house's own.
    """
    name = looks.check(name, of_the_house=bool(by))
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if not by and (wait := may_change_at(user)):
            raise ValidationError(
                _("You can change your name again on %(day)s."),
                code="name_too_soon",
                params={"day": date_format(wait, "DATE_FORMAT")},
            )
        old, user.name = user.name, name
        if old == name:
            raise ValidationError(_("That is your name already."), code="name_same")
        TakenName.objects.take(user, name)
        if not by:
            user.renamed_at = timezone.now()
        with the_database_deciding():
            user.save(update_fields=["name", "renamed_at"])
        moderation.sign_as(user, old, name)
        Trace.objects.create(user=user, what=Trace.What.RENAMED, by=by)
        # What staff does is told by the moderators' letter.
        if not by:
            letters.to_person(user, "accounts/letters/renamed", old=old)
        signals.send_on_commit(signals.renamed, User, user=user, old=old)
