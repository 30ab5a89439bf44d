"""A file as a test's client takes it."""

from typing import Any

from asgiref.sync import async_to_sync


def whole(answer: Any) -> bytes:
    """All of an answer that comes block by block."""

    async def take() -> bytes:
        return b"".join([block async for block in answer.streaming_content])

    return async_to_sync(take)()
