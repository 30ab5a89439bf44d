"""A gentle stop: the games of this process go on in another one before its pages are told to come back.

The successor loads the games first, while they are still played here; only then they change hands, in one transaction.
So a page that comes to the successor finds its table ready. Where no other process can take the games they stay with
this one: the next process finds that it is gone, and for how long.
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping
from itertools import cycle

from games import log, servers
from games.doorbell import Doorbell

logger = logging.getLogger(__name__)

# How long games may take to be loaded elsewhere. They are played here meanwhile.
PREPARE_SECONDS = 2.5
GIVE_SECONDS = 1.5


class Handover:
    """Gives the games of the process `server` to others: `prepare`, then, with their tables closed, `give`."""

    def __init__(self, server: int, reader: log.Reader, doorbell: Doorbell) -> None:
        self._server = server
        self._reader = reader
        self._doorbell = doorbell
        # By successor: all games it is to keep, and those whose tables it is to load.
        self._shares: Mapping[int, list[int]] = {}
        self._tables: dict[int, list[int]] = {}
        self._missing: set[int] = set()
        self._all_loaded = asyncio.Event()

    async def prepare(self, alive: Collection[int], loaded_here: Collection[int]) -> None:
        """Choose who takes which game and wait, within limits, until they have loaded those that are loaded here."""
        try:
            async with asyncio.timeout(PREPARE_SECONDS):
                self._shares = await self._reader.run(self._choose, alive)
                for server, game_ids in self._shares.items():
                    self._tables[server] = [game_id for game_id in game_ids if game_id in loaded_here]
                    self._missing.update(self._tables[server])
                if self._missing:
                    self._offer()
                    await self._all_loaded.wait()
        except TimeoutError:
            logger.warning("%d games are handed over before they are loaded elsewhere.", len(self._missing))
        except log.Unwritten as error:
            logger.error("No game can be handed over: %s", error)

    def loaded(self, game_ids: Iterable[int]) -> None:
        """Note that another process has loaded these games."""
        self._missing.difference_update(game_ids)
        if not self._missing:
            self._all_loaded.set()

    async def give(self) -> None:
        """Let the successors keep the games from now on. No table of this process may write any more."""
        if not self._shares:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_SECONDS):
                try:
                    await self._reader.run(servers.give, self._shares, self._server)
                except log.Unwritten as error:
                    logger.error("No game was handed over: %s", error)
                    return
                self._offer()
                await self._doorbell.flush()

    def _offer(self) -> None:
        for server, game_ids in self._tables.items():
            self._doorbell.offer(game_ids, server)

    def _choose(self, alive: Collection[int]) -> dict[int, list[int]]:
        successors = servers.successors(self._server, alive)
        shares: dict[int, list[int]] = {}
        if successors:
            for game_id, server in zip(servers.kept_games(self._server), cycle(successors), strict=False):
                shares.setdefault(server, []).append(game_id)
        return shares
