"""Django's PostgreSQL, with a pool that gets over a server's restart at once."""

from typing import Any

from django.db.backends.postgresql import base
from django.utils.asyncio import async_unsafe
from psycopg import OperationalError


class DatabaseWrapper(base.DatabaseWrapper):
    """Nobody is given a connection that the server has forgotten.

    psycopg's pool can look at each one before it gives it away (CONN_HEALTH_CHECKS), but pauses for longer and longer
    after every broken one: with more than a few, whoever comes first after a restart gives up waiting. We look at the
    one, and when it is broken have the pool look at all others in one go.
    """

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if self.pool:
            try:
                self.pool.check_connection(connection)
            except OperationalError:
                self.pool.putconn(connection)
                self.pool.check()
                connection = super().get_new_connection(conn_params)
        return connection
