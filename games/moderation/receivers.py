"""What moderation keeps of a person when they leave, and what it gives them when they ask for their data."""

from typing import Any

from django.db.models import QuerySet
from django.dispatch import receiver

from accounts import export, signals
from accounts.models import User
from games.models import Act, Ignored, Letter, Message, Report, What


@receiver(signals.deleted)
def forget(sender: object, user: User, **kwargs: Any) -> None:
    """Their words go; that they were reported or acted on stays, under the pseudonym."""
    Letter.objects.filter(person=user).delete()
    Message.objects.filter(author=user).delete()
    Ignored.objects.filter(person=user).delete()
    Ignored.objects.filter(other=user).delete()
    Report.objects.filter(reporter=user).update(words="")
    Report.objects.filter(about=user).update(said="")


@export.part("moderation")
def moderation(user: User) -> dict[str, Any]:
    """What they reported, what they said, and what was done to them; never who reported them."""
    return {
        "reports": [
            {"at": export.iso(report.at), "reason": report.reason, "words": report.words}
            for report in Report.objects.filter(reporter=user).order_by("pk")
        ],
        "messages": [
            {"at": export.iso(message.at), "words": message.words or message.preset}
            for message in Message.objects.filter(author=user).order_by("pk")
        ],
        "acts": [
            {
                "at": export.iso(act.at),
                "what": act.what,
                "reason": act.reason,
                "words": act.words,
                "until": export.iso(act.until),
            }
            for act in _told(user)
        ],
        "ignored": Ignored.objects.filter(person=user).count(),
    }


def _told(user: User) -> QuerySet[Act]:
    """What was done to a person; a decision about them, and what came of that, is told to who reported, and its words
    are the log's."""
    done = Act.objects.filter(person=user).exclude(what=What.DECIDE).exclude(undoes__what=What.DECIDE)
    return done.order_by("pk")
