"""What moderation keeps of a person when they leave, and what it gives them when they ask for their data."""

from typing import Any

from django.db.models import QuerySet
from django.dispatch import receiver

from accounts import export, signals
from accounts.models import User
from games.models import Act, Appeal, Glance, Ignored, Letter, Message, Report, What


@receiver(signals.deleted)
def forget(sender: object, user: User, **kwargs: Any) -> None:
    """Their words go, and what was written to them or about them; that they were reported or acted on stays, under the
    pseudonym."""
    Letter.objects.filter(person=user).delete()
    Appeal.objects.filter(person=user, decided=None).delete()
    Appeal.objects.filter(person=user).update(words="", answer="")
    Message.objects.filter(author=user).delete()
    Ignored.objects.filter(person=user).delete()
    Ignored.objects.filter(other=user).delete()
    Glance.objects.filter(person=user).delete()
    Act.objects.redact(user.pk)
    Report.objects.filter(reporter=user).update(words="")
    Report.objects.filter(about=user).update(said="")


@export.part("moderation")
def moderation(user: User) -> dict[str, Any]:
    """What they reported and said, what was done and written to them, and their answers; never who reported them."""
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
        "letters": [
            {
                "at": export.iso(letter.at),
                "kind": letter.kind,
                "about": letter.act.what if letter.act else None,
                "words": letter.words,
            }
            for letter in Letter.objects.filter(person=user).select_related("act").order_by("pk")
        ],
        "appeals": [
            {
                "at": export.iso(appeal.at),
                "against": appeal.act.what,
                "words": appeal.words,
                "decided": export.iso(appeal.decided),
                "granted": appeal.granted,
                "answer": appeal.answer,
            }
            for appeal in Appeal.objects.filter(person=user).select_related("act").order_by("pk")
        ],
        # What a program saw in their games; whom else a sign names is not theirs to know.
        "signs": [
            {
                "at": export.iso(glance.at),
                "until_game_of": export.iso(glance.last),
                "raised": [{"sign": one["key"], "value": one["value"], "of": one["of"]} for one in glance.raised],
                "stands_out": glance.stands_out,
            }
            for glance in Glance.objects.filter(person=user)
        ],
        "ignored": [
            {"name": ignored.other.name, "blocked": ignored.blocked}
            for ignored in Ignored.objects.filter(person=user).select_related("other").order_by("pk")
        ],
    }


def _told(user: User) -> QuerySet[Act]:
    """What was done to a person; a decision about them, and what came of that, is told to who reported, and its words
    are the log's."""
    done = Act.objects.filter(person=user).exclude(what=What.DECIDE).exclude(undoes__what=What.DECIDE)
    return done.order_by("pk")
