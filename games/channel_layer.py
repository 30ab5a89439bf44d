"""Channels' groups over Valkey: push messages to the pages of any web process.

channels_redis keeps who belongs to which group. Its lines to Valkey are ours, since its own wait without a limit for a
host that has vanished, and one command that waits holds up all others.
"""

import asyncio
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer, RedisSingleShardConnection

from games.valkey import Publisher, Subscriber


class Line(RedisSingleShardConnection):  # type: ignore[misc]
    """Where an event loop's groups meet Valkey. Nothing here raises, and nothing waits for a Valkey that is away."""

    def __init__(self, loop_layer: Any) -> None:
        super().__init__({}, loop_layer)
        self._publisher: Publisher | None = None
        self._subscriber: Subscriber | None = None

    async def publish(self, channel: str, message: bytes) -> None:
        self._publisher = self._publisher or Publisher()
        await self._publisher.publish(channel, message)

    async def subscribe(self, channel: str) -> None:
        self._subscriber = self._subscriber or Subscriber(self._hear)
        await self._subscriber.subscribe(channel)

    async def unsubscribe(self, channel: str) -> None:
        if self._subscriber is not None:
            await self._subscriber.unsubscribe(channel)

    async def flush(self) -> None:
        publisher, subscriber = self._publisher, self._subscriber
        self._publisher = self._subscriber = None
        await asyncio.gather(*(end.close() for end in (publisher, subscriber) if end is not None))

    def _hear(self, channel: str, data: bytes) -> None:
        self._receive_message({"channel": channel, "data": data})


class ChannelLayer(RedisPubSubChannelLayer):  # type: ignore[misc]
    """The layer for settings.CHANNEL_LAYERS, without any configuration. Messages may be lost; none comes twice."""

    def _get_layer(self) -> Any:
        loop_layer = super()._get_layer()
        if not isinstance(loop_layer._shards[0], Line):
            loop_layer._shards = [Line(loop_layer)]
        return loop_layer
