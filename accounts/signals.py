"""What happens to people, told to whoever has to act on it.

`signed_out`, `suspended`, `closed`, `renamed` and `named` are sent after the commit, and a receiver that fails stops
nobody. `joined` is sent within the request that makes somebody, before they see anything. `deleted` is sent within the
transaction, so that a person and what other apps keep of them go together or not at all.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.dispatch import Signal

log = logging.getLogger(__name__)

joined = Signal()  # user, request. Somebody is new, named or a guest.
signed_out = Signal()  # ended: EndedSession. Sessions, and the sockets that hang on them, are over.
suspended = Signal()  # user, until. Their sessions have ended too.
closed = Signal()  # user. Their sessions have ended too; they may open the account again for 30 days.
renamed = Signal()  # user, old. Whoever shows the name shows the new one from now on.
named = Signal()  # user, old. A guest became a named account; row, session and sockets are the same.
deleted = Signal()  # user. The row is a pseudonym by now.


def send_on_commit(signal: Signal, sender: Callable[..., Any], **facts: Any) -> None:
    def send() -> None:
        for receiver, result in signal.send_robust(sender, **facts):
            if isinstance(result, Exception):
                log.error("%r failed: %r", receiver, result, exc_info=result)

    transaction.on_commit(send)
