"""How long a session of staff lasts: what it may do to others is worth stealing, so it ends early.

It ends twelve hours after it was first used as staff's, and an hour after its last use. What a page asks for by itself
is no use of it: a page that is left open does not keep the session.
"""

import time
from datetime import timedelta

from django.http import HttpRequest

from accounts.models import User

LONGEST = timedelta(hours=12)
LONGEST_UNUSED = timedelta(hours=1)
# Use is noted so seldom: each note is a row written.
NOTED_EVERY = timedelta(minutes=1)
BEGAN, USED = "staff_began", "staff_used"


def is_over(request: HttpRequest, user: User) -> bool:
    """Whether this session of staff is too old, or was not used for too long; if not, note that it is used."""
    if not (user.is_staff or user.is_superuser):
        return False
    now, session = time.time(), request.session
    began, used = session.setdefault(BEGAN, now), session.setdefault(USED, now)
    if now - began > LONGEST.total_seconds() or now - used > LONGEST_UNUSED.total_seconds():
        return True
    if now - used > NOTED_EVERY.total_seconds() and not _asked_by_itself(request):
        session[USED] = now
    return False


def _asked_by_itself(request: HttpRequest) -> bool:
    return request.method == "GET" and request.headers.get("HX-Request") == "true"
