"""The chat's doorbell at a page: a socket that says only that there is something to fetch."""

import asyncio
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import EndedSession
from accounts.sessions import EndWatch
from games import chat
from games.frames import CloseCode

LOOK_SECONDS = 1.0


class TalkConsumer(AsyncWebsocketConsumer):
    """One page with its chat open. It ends with the session it was opened in, as a table's page does."""

    open: ClassVar[set["TalkConsumer"]] = set()
    watch: ClassVar[asyncio.Task[None] | None] = None

    async def connect(self) -> None:
        # Accepted before it is closed: a browser never learns the code of a socket that was refused.
        await self.accept()
        scope: dict[str, Any] = dict(self.scope)
        user = scope["user"]
        self.user_id = user.pk
        self.session_key = getattr(scope.get("token") or scope.get("session"), "session_key", None)
        self.session_epoch = getattr(user, "session_epoch", 0)
        self.group = ""
        place = await database_sync_to_async(chat.place_of)(scope["url_route"]["kwargs"]["channel"], user.pk)
        if place is None:
            await self.close(CloseCode.NO_GAME)
            return
        self.group = place.group
        await self.channel_layer.group_add(self.group, self.channel_name)
        TalkConsumer.open.add(self)
        if TalkConsumer.watch is None or TalkConsumer.watch.done():
            TalkConsumer.watch = asyncio.create_task(_see_who_is_out())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page has nothing to say here; what it wants to say it posts."""
        await self.close(CloseCode.UNREADABLE)

    async def disconnect(self, code: int) -> None:
        TalkConsumer.open.discard(self)
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def rung(self, event: dict[str, Any]) -> None:
        await self.send(text_data='{"type":"rung"}')

    def is_of(self, ended: EndedSession) -> bool:
        return self.user_id == ended.user_id and ended.ends(self.session_key, self.session_epoch)


async def _see_who_is_out() -> None:
    """Each second, as long as a page is open: close those whose session ended."""
    ends = EndWatch()
    while TalkConsumer.open:
        await asyncio.sleep(LOOK_SECONDS)
        ended = await database_sync_to_async(ends.look)()
        for page in [page for page in TalkConsumer.open if any(page.is_of(end) for end in ended)]:
            TalkConsumer.open.discard(page)
            await page.close(CloseCode.SIGNED_OUT)
