"""The chat's doorbell at a page."""

from typing import Any

from channels.db import database_sync_to_async

from games import chat
from games.listening import RungConsumer


class TalkConsumer(RungConsumer):
    """One page with its chat open."""

    async def rings(self) -> list[str]:
        scope: dict[str, Any] = dict(self.scope)
        channel = scope["url_route"]["kwargs"]["channel"]
        place = await database_sync_to_async(chat.place_of)(channel, self.user_id)
        return [] if place is None else [place.group]
