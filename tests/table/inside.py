"""Pages inside of the test's own process, before tables that run there too, on the tests' database and Valkey."""

import asyncio
from collections.abc import Callable
from typing import Any

from accounts.models import EndedSession
from games.frames import CloseCode
from games.models import Game
from games.rules import commands
from games.table import Table
from games.tables import Tables
from tests.table.page import Message, Picture


class InnerPage(Picture):
    """A page without a socket. It notes what it is told, and `do` waits for the answer."""

    def __init__(self, seat: int | None, key: str = "") -> None:
        super().__init__()
        self.user_id: int | None = None
        self.seat = seat
        self.key = key or f"p{seat}"
        self.joined_ms = 0
        self.browser_session: str | None = None
        self.closed: CloseCode | None = None
        self.refused: list[str] = []
        self._table: Table | None = None
        self._answers: dict[str, asyncio.Future[Message]] = {}
        self._commands = 0
        self._changed = asyncio.Event()

    async def join(self, tables: Tables, game: Game, after: int | None = None) -> "InnerPage":
        self._table = await tables.table(game.code)
        assert self._table is not None
        self.closed = None
        await self._table.join(self, after)
        return self

    def leave(self) -> None:
        assert self._table is not None
        self._table.leave(self)

    async def settle(self) -> None:
        """Everything that this page asked for is done."""
        assert self._table is not None
        await self._table.settle()

    def ask(self, command: commands.Command, command_id: str = "") -> "asyncio.Future[Message]":
        assert self._table is not None
        assert self.seat is not None
        self._commands += 1
        command_id = command_id or f"{self.key}-{self._commands}"
        self._answers[command_id] = asyncio.get_running_loop().create_future()
        self._table.play(self, self.seat, command, command_id)
        return self._answers[command_id]

    def ask_for(self, word: str, command_id: str = "", **fields: Any) -> "asyncio.Future[Message]":
        return self.ask(commands.read({"do": word, **fields}), command_id)

    async def do(self, word: str, command_id: str = "", **fields: Any) -> Message:
        async with asyncio.timeout(30):
            return await self.ask_for(word, command_id, **fields)

    def commit(self, share: str) -> None:
        assert self._table is not None
        assert self.seat is not None
        self._table.commit_share(self, self.seat, share)

    def give_nonce(self, nonce: bytes) -> None:
        assert self._table is not None
        assert self.seat is not None
        self._table.give_nonce(self, self.seat, nonce)

    async def until(self, holds: Callable[["InnerPage"], bool], seconds: float = 30) -> None:
        """Wait for what the page shows."""
        async with asyncio.timeout(seconds):
            while not holds(self):
                self._changed.clear()
                await self._changed.wait()

    # What the table asks of a page.

    async def tell(self, frame: str) -> None:
        message = self.take(frame)
        self._changed.set()
        answer = self._answers.pop(message.get("ack") or message.get("id") or "", None)
        if answer and not answer.done():
            answer.set_result(message)

    async def refuse(self, command_id: str, code: str, values: dict[str, int | str], head: int) -> None:
        self.refused.append(code)
        self._changed.set()
        answer = self._answers.pop(command_id, None)
        if answer and not answer.done():
            answer.set_result({"type": "refused", "id": command_id, "code": code, "head": head})

    async def notify(self, code: str) -> None:
        self.of_moves.append(code)
        self._changed.set()

    async def end(self, code: CloseCode, notice: str) -> None:
        self.closed = code
        self._changed.set()
        self.notices.append(notice)
        if code == CloseCode.STOPPING:
            self.leave()

    def is_quiet(self) -> bool:
        return False

    def is_of(self, ended: EndedSession) -> bool:
        return False
