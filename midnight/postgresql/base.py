"""Django's PostgreSQL, with a pool that gets over a server's restart or silence at once."""

from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.utils.asyncio import async_unsafe
from psycopg import OperationalError
from psycopg.errors import ConnectionTimeout

from games import deadlines
from midnight.postgresql.connection import Connection


class DatabaseWrapper(base.DatabaseWrapper):
    """No thread is given a connection that the server has forgotten, or waits longer for one than it wants to.

    psycopg's pool can look at each one before it gives it away (CONN_HEALTH_CHECKS), but pauses for longer and longer
    after every broken one: with more than a few, whoever comes first after a restart gives up waiting. We look at the
    one, and when it is broken have the pool look at all others in one go. When it is silent the others are too: looking
    at each would take a deadline each, so all are thrown away.
    """

    @property
    def pool(self) -> Any:
        if options := self.settings_dict["OPTIONS"].get("pool"):
            options.setdefault("connection_class", Connection)
        return super().pool

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if not self.pool:
            return super().get_new_connection(conn_params)
        self.isolation_level = IsolationLevel.READ_COMMITTED
        self.pool.open()
        connection = self._take_from_pool()
        try:
            self.pool.check_connection(connection)
        except OperationalError as error:
            self.pool.putconn(connection)
            if isinstance(error, ConnectionTimeout):
                self.pool.drain()
            else:
                self.pool.check()
            connection = self._take_from_pool()
        return connection

    def _take_from_pool(self) -> Any:
        return self.pool.getconn(_patience(self.pool))


def _patience(pool: Any) -> float:
    """How long a thread waits for a connection: as long as for an answer, where that is less than the pool's own."""
    seconds = deadlines.seconds_left()
    return float(pool.timeout if seconds is None else min(pool.timeout, seconds))
