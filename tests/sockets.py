"""Sockets of the application without a server. They are patient: on a busy machine what is to come comes late."""

from typing import Any

from channels.testing import WebsocketCommunicator

PATIENCE = 60


class Socket(WebsocketCommunicator):
    """It waits for whatever is to come, and looks only as long as it is told to for what is not."""

    async def connect(self, seconds: float = PATIENCE) -> tuple[bool, Any]:
        return await super().connect(seconds)

    async def receive_output(self, seconds: float = PATIENCE) -> dict[str, Any]:
        return dict(await super().receive_output(seconds))

    async def receive_from(self, seconds: float = PATIENCE) -> Any:
        return await super().receive_from(seconds)

    async def disconnect(self, code: int = 1000, seconds: float = PATIENCE) -> None:
        await super().disconnect(code, seconds)
