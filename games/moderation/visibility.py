"""What a moderator may read of what people said: what was said to them too, and what was reported."""

from accounts.models import User
from games import chat
from games.models import Act, Message, Report
from games.moderation import sides

# In what an act keeps for its undo: the words that it hid.
WORDS = "said"
# A message stands in few cases; of its reports so many are looked at.
MOST_REPORTS = 20


def may_read(moderator: User, message: Message) -> bool:
    """Whether this message is shown to this moderator: in its channel, or by a case in which they have no side.

    A moderator who may not read a message may not act on it either: the act would keep the words for them.
    """
    return chat.may_read(message, moderator.pk) or _is_reported_to(moderator, message.pk)


def may_read_act(moderator: User, act: Act) -> bool:
    """Whether the words that an act keeps are for this moderator. Hidden words stay readable for those to whom they
    were said; once the message is forgotten, only a report shows them."""
    if act.message is None or _is_reported_to(moderator, act.message):
        return True
    message = Message.objects.filter(pk=act.message).first()
    return message is not None and chat.was_said_to(message, moderator.pk)


def _is_reported_to(moderator: User, message_id: int) -> bool:
    reports = Report.objects.filter(message=message_id).select_related("case")
    return any(not sides.is_involved(report.case, moderator) for report in reports.order_by("pk")[:MOST_REPORTS])
