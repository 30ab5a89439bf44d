"""The sign of life of one process: told from a thread of its own, together with how long the event loop stands still.

A loop that has too much to do cannot say that it lives. If only the loop said so, the other processes would take a busy
one for dead, and a visitor who keeps it busy could take its games away from it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection, connections

from games.stalls import Stalls

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
TURN_SECONDS = 0.25
# A database that does not answer must not keep a process from ending.
LAST_BEAT_SECONDS = 5.0


class Heartbeat:
    """Calls `beat` every second with the milliseconds for which the event loop that started it has stood still."""

    def __init__(self, beat: Callable[[int], None], stalls: Stalls) -> None:
        self._beat = beat
        self._stalls = stalls
        self._turning: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Begin, from the event loop that is to be watched."""
        self._turn()
        self._thread.start()

    def fall_silent(self) -> None:
        """No beat begins after this."""
        self._stopped.set()
        if self._turning is not None:
            self._turning.cancel()

    async def stop(self) -> None:
        """Fall silent, and wait a while for the last beat to be written."""
        self.fall_silent()
        if self._turning is not None:
            await asyncio.to_thread(self._thread.join, LAST_BEAT_SECONDS)

    def stands_still_ms(self) -> int:
        """For how long the event loop has not turned, but for the pause between two of its turns."""
        return self._stalls.still_ms(TURN_SECONDS)

    def _turn(self) -> None:
        self._stalls.turned()
        self._turning = asyncio.get_running_loop().call_later(TURN_SECONDS, self._turn)

    def _run(self) -> None:
        while not self._stopped.wait(BEAT_SECONDS):
            try:
                self._beat(self.stands_still_ms())
                self._stalls.stored()
            except (DatabaseError, InterfaceError) as error:
                # Each look of the tables says so too, and louder.
                logger.debug("The heartbeat could not be written: %s", error)
                connection.close()
            except Exception:
                logger.exception("A heartbeat failed")
        connections.close_all()
