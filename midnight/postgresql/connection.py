"""A connection to PostgreSQL that gives up on a server which does not answer."""

from typing import Any

import psycopg
from psycopg import errors

from games import deadlines


class Connection(psycopg.Connection[Any]):
    """Every question ends: with its answer, or with an `OperationalError` when the thread's deadline has passed.

    Then this connection is closed. What was asked last may still be done by the server, or may never have reached it.
    """

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        seconds = deadlines.seconds_left()
        if seconds is None or "timeout" in kwargs:
            return super().wait(gen, *args, **kwargs)
        try:
            return super().wait(gen, *args, **{**kwargs, "timeout": seconds})
        except errors._WaitTimeout:
            self.close()
            raise errors.ConnectionTimeout("the database gave no answer in time") from None
