"""How long the questions of a web process may take: a page is of no use after that, and holds a connection.

A worker, a migration and a command may ask for as long as they need: no visitor waits for them.
"""

from typing import Any

from django.conf import settings

from games import deadlines

STATEMENT_SECONDS = 10
LOCK_SECONDS = 5
# Between two statements of a transaction a web process computes for milliseconds. One that was frozen must not keep
# locks, or no other process could go on with its games.
IDLE_SECONDS = 5
# The server gives up first, and says why. This is for a server that says nothing.
ANSWER_SECONDS = 12


def apply() -> None:
    """Set these limits for this process; call it before the first question."""
    deadlines.bound_every_question(ANSWER_SECONDS)
    for one in settings.DATABASES.values():
        if one["ENGINE"] == "midnight.postgresql":
            one["OPTIONS"]["options"] = _with_limits(one["OPTIONS"])


def _with_limits(options: dict[str, Any]) -> str:
    limits = {
        "statement_timeout": STATEMENT_SECONDS,
        "lock_timeout": LOCK_SECONDS,
        "idle_in_transaction_session_timeout": IDLE_SECONDS,
    }
    ours = " ".join(f"-c {name}={seconds}s" for name, seconds in limits.items())
    # The operator's own come last, and count.
    return f"{ours} {options.get('options', '')}".strip()
