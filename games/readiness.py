"""Whether this web process can take players: it can store a move, and is not about to stop."""

from games import tables

# The process's own row is written every second. When it is older than this, other processes have taken its games.
ROW_SECONDS = 3.0


def why_not_ready() -> str:
    """Return why no visitor should be sent to this process now, or "" where nothing speaks against it.

    Call it in the event loop. It waits for nothing and asks no other process. Tables that are not running are started.
    """
    here = tables.started_here()
    return "starting" if here is None else why_no_moves(here)


def why_no_moves(here: tables.Tables) -> str:
    """Return why no move can be stored by these tables, or ""."""
    if here.stopping:
        return "stopping"
    if here.storing.row_age() > ROW_SECONDS or here.storing.cannot_append():
        return "no writes"
    return ""
