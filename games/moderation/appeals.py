"""Appeals: the person answers once to an act, and another moderator decides."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from games.models import Act, Appeal, Letter, What
from games.moderation import acts, letters, roles, sides


def may_appeal(act: Act, person: User) -> bool:
    return act.person_id == person.pk and act.may_be_undone and not hasattr(act, "appeal")


def appeal(act: Act, person: User, words: str) -> Appeal:
    """Ask another moderator to look again."""
    if not may_appeal(act, person):
        raise ValidationError(_("You cannot appeal this, or you have done so."), code="cannot_appeal")
    try:
        with transaction.atomic():
            return Appeal.objects.create(act=act, words=words)
    except IntegrityError:
        raise ValidationError(_("You cannot appeal this, or you have done so."), code="cannot_appeal") from None


def open_ones() -> QuerySet[Appeal]:
    """What waits for a decision, the oldest first."""
    return Appeal.objects.filter(decided=None).select_related("act__person", "act__by").order_by("at")


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
        if act.person is not None:
            roles.refuse_own_kind(moderator, act.person)
        sides.refuse_own_act(moderator, act)
        waiting.decided, waiting.decided_by = timezone.now(), moderator
        waiting.granted, waiting.answer = granted, answer
        waiting.save(update_fields=["decided", "decided_by", "granted", "answer"])
        if granted and not act.is_undone:
            acts.undo(act, moderator, answer)
        elif not granted and act.person is not None:
            letters.send(act.person, Letter.Kind.REFUSED, act=act, words=answer)
    return waiting
