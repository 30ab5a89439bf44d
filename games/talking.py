"""The chat's doorbell at a page."""

from typing import Any

from channels.db import database_sync_to_async

from games import chat, news
from games.listening import RungConsumer


class TalkConsumer(RungConsumer):
    """One page with its chat open. In a room it hears of the room too: whoever sits down or stands up there changes
    sides, and hears the other side from then on."""

    async def rings(self) -> list[str]:
        scope: dict[str, Any] = dict(self.scope)
        channel = scope["url_route"]["kwargs"]["channel"]
        place = await database_sync_to_async(chat.place_of)(channel, self.user_id)
        if place is None:
            return []
        return [place.group] if place.room is None else [place.group, news.of_room(place.room.code)]

    async def rung(self, event: dict[str, Any]) -> None:
        if len(self.heard) > 1:
            await self.listen()
        await super().rung(event)
