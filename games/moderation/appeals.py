"""Appeals: whom an act concerned answers to it once, and another moderator decides."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games.models import Act, Appeal, Letter, What
from games.moderation import letters, roles, sides, undoing
from games.moderation.pages import Page, page
from games.moderation.statements import can_be_appealed


def may_appeal(act: Act, person: User) -> bool:
    """Whether this act concerned this person, can be undone, and they have not answered it yet."""
    told = Letter.objects.filter(act=act, person=person).exists()
    return told and can_be_appealed(act) and not Appeal.objects.filter(act=act, person=person).exists()


def appeal(act: Act, person: User, words: str) -> Appeal:
    """Ask another moderator to look again."""
    if not may_appeal(act, person):
        raise ValidationError(_("You cannot appeal this, or you have done so."), code="cannot_appeal")
    try:
        with transaction.atomic():
            return Appeal.objects.create(act=act, person=person, words=words)
    except IntegrityError:
        raise ValidationError(_("You cannot appeal this, or you have done so."), code="cannot_appeal") from None


def open_ones(after: str = "") -> Page[Appeal]:
    """What waits for a decision, the oldest first: a page of it, after a place."""
    waiting = Appeal.objects.filter(decided=None).select_related("person", "act__person", "act__by", "act__game")
    waiting = waiting.prefetch_related("act__game__seats__user")
    return page(waiting, ("at", "id"), after)


def how_many() -> int:
    """How many wait."""
    return Appeal.objects.filter(decided=None).count()


def decide(waiting: Appeal, moderator: User, *, granted: bool, answer: str = "") -> Appeal:
    """Grant it, which undoes the act, or refuse it; ValidationError for whoever did the act or sat at its table."""
    roles.refuse_too_many(moderator, What.UNDO)
    with transaction.atomic():
        waiting = Appeal.objects.select_for_update().get(pk=waiting.pk)
        act = waiting.act
        if waiting.decided:
            raise ValidationError(_("This appeal is decided."), code="appeal_decided")
        if act.by_id == moderator.pk:
            raise ValidationError(_("Another moderator decides about your own acts."), code="own_act")
        roles.refuse_own_kind(moderator, waiting.person)
        sides.refuse_own_act(moderator, act)
        waiting.decided, waiting.decided_by = timezone.now(), moderator
        waiting.granted, waiting.answer = granted, answer
        waiting.save(update_fields=["decided", "decided_by", "granted", "answer"])
        if granted and not act.is_undone:
            undoing.undo(act, moderator, answer)
        elif not granted:
            letters.send(waiting.person, Letter.Kind.REFUSED, act=act, words=answer)
    return waiting
