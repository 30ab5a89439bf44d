"""Who looks after the site, and how much one of them may do in a short time."""

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games.models import Act, Appeal, What

HOUR = timedelta(hours=1)
# A stolen session does little. What is not named here counts among all acts only.
MOST_ACTS = 60
MOST_OF: dict[str, int] = {
    What.SUSPEND: 10,
    What.RENAME: 15,
    What.CLOSE_ROOM: 30,
    What.END_GAME: 20,
    What.VOID_GAME: 10,
    What.ROLE: 5,
}
# The code of the refusal.
TOO_MANY = "too_many_acts"


def is_moderator(user: object) -> bool:
    return isinstance(user, User) and user.is_staff


def is_administrator(user: object) -> bool:
    return isinstance(user, User) and user.is_staff and user.is_superuser


def refuse_too_many(by: User, what: What) -> None:
    """ValidationError where this moderator has done so much within the hour that it may not be them."""
    since = timezone.now() - HOUR
    lately = Act.objects.filter(by=by, at__gt=since)
    # A refused appeal has no line in the log of acts.
    refused = Appeal.objects.filter(decided_by=by, decided__gt=since, granted=False)
    if lately.count() + refused.count() >= MOST_ACTS or (
        what in MOST_OF and lately.filter(what=what).count() >= MOST_OF[what]
    ):
        raise ValidationError(_("That is enough for one hour. Ask another moderator."), code=TOO_MANY)


def refuse_all_but_administrators(by: User) -> None:
    if not is_administrator(by):
        raise ValidationError(_("Only an administrator gives and takes roles."), code="not_administrator")


def hold_for_role(by: User, person: User) -> User:
    """The person as they are now, locked with whoever gives them a role: of two administrators who take each other's
    role at once, one is too late."""
    both = User.objects.select_for_update(no_key=True).filter(pk__in=[by.pk, person.pk]).order_by("pk")
    held = {one.pk: one for one in both}
    refuse_all_but_administrators(held[by.pk])
    return held[person.pk]


def refuse_own_kind(by: User, person: User) -> None:
    """Nobody acts on themselves, and only an administrator acts on a moderator."""
    if by.pk == person.pk:
        raise ValidationError(_("Nobody decides about themselves."), code="about_yourself")
    if person.is_staff and not is_administrator(by):
        raise ValidationError(_("Only an administrator acts on a moderator."), code="about_staff")
