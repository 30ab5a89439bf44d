"""The doorbell at a page: a socket that says only that there is something to fetch."""

import asyncio
import contextlib
import logging
import math
import time
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError, InterfaceError

from accounts.models import EndedSession
from accounts.sessions import EndWatch
from games import news, pace, quick
from games.doorbell import Doorbell
from games.frames import CloseCode

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
BEAT = "beat"
# A page beats every 20 seconds. What it says more often is not written down, and so many more send it away.
NOTED_SECONDS = 10.0
MOST_BEATS = 20


class RungConsumer(AsyncWebsocketConsumer):
    """One page that hears rings. It ends with the session it was opened in, as a table's page does."""

    open: ClassVar[set["RungConsumer"]] = set()
    watch: ClassVar[asyncio.Task[None] | None] = None
    # Whether somebody waits for a match on this page.
    waits = False

    async def rings(self) -> list[str]:
        """The groups this page listens to; none where there is nothing to hear for it."""
        raise NotImplementedError

    async def connect(self) -> None:
        scope: dict[str, Any] = dict(self.scope)
        user = scope["user"]
        self.user_id = user.pk
        self.session_key = getattr(scope.get("token") or scope.get("session"), "session_key", None)
        self.session_epoch = getattr(user, "session_epoch", 0)
        self.heard: list[str] = []
        groups = await self.rings()
        for group in groups:
            await self.channel_layer.group_add(group, self.channel_name)
            self.heard.append(group)
        # It listens before it is open: a page looks as soon as it is, and what is rung from then on comes after it.
        # And it is accepted before it is closed: a browser never learns the code of a socket that was refused.
        await self.accept()
        if not groups:
            await self.close(CloseCode.NO_GAME)
            return
        RungConsumer.open.add(self)
        if RungConsumer.watch is None or RungConsumer.watch.done():
            RungConsumer.watch = asyncio.create_task(_see_who_is_out())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A page has nothing to say here; what it wants to say it posts."""
        await self.close(CloseCode.UNREADABLE)

    async def disconnect(self, code: int) -> None:
        RungConsumer.open.discard(self)
        for group in self.heard:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def rung(self, event: dict[str, Any]) -> None:
        await self.send(text_data='{"type":"rung"}')

    def is_of(self, ended: EndedSession) -> bool:
        return self.user_id == ended.user_id and ended.ends(self.session_key, self.session_epoch)


class NewsConsumer(RungConsumer):
    """A page of the lobby, of a room, or of anybody signed in. Its beat says that somebody has a page open."""

    noted = -math.inf
    beats = 0

    async def rings(self) -> list[str]:
        scope: dict[str, Any] = dict(self.scope)
        kwargs: dict[str, str] = scope["url_route"]["kwargs"]
        groups = [news.of_room(kwargs["code"])] if "code" in kwargs else []
        self.waits = kwargs.get("where") == news.QUEUE
        if kwargs.get("where") == news.LOBBY:
            groups.append(news.LOBBY)
        if self.user_id is not None:
            groups.append(news.of_person(self.user_id))
        await self._note()
        return groups

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        now = asyncio.get_running_loop().time()
        if text_data != BEAT:
            await self.close(CloseCode.UNREADABLE)
        elif now >= self.noted + NOTED_SECONDS:
            self.noted, self.beats = now, 0
            await self._note()
        else:
            self.beats += 1
            if self.beats > MOST_BEATS:
                await self.close(CloseCode.FLOOD)

    async def _note(self) -> None:
        if self.user_id is None:
            return
        await database_sync_to_async(pace.note_page)(self.user_id)


def _who_waits() -> set[int]:
    """The people on whose open pages one waits for a match."""
    return {page.user_id for page in RungConsumer.open if page.waits and page.user_id is not None}


async def _see_who_is_out() -> None:
    """Each second, and when the doorbell tells of one of them, as long as a page is open: close those whose session
    ended. And say for those who wait for a match that they still do."""
    ends, rung, fresh_until = EndWatch(), asyncio.Event(), 0.0

    def hear(person_id: int) -> None:
        if any(page.user_id == person_id for page in RungConsumer.open):
            rung.set()

    doorbell = Doorbell(ended=hear)
    try:
        while RungConsumer.open:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await rung.wait()
            rung.clear()
            try:
                if time.monotonic() >= fresh_until:
                    fresh_until = time.monotonic() + quick.BEAT_SECONDS
                    await database_sync_to_async(quick.keep_fresh)(_who_waits())
                ended = await database_sync_to_async(ends.look)()
            except (DatabaseError, InterfaceError) as error:
                logger.error("The database does not answer: %s", error)
                continue
            for page in [page for page in RungConsumer.open if any(page.is_of(end) for end in ended)]:
                RungConsumer.open.discard(page)
                await page.close(CloseCode.SIGNED_OUT)
    finally:
        # Before the wait: whoever comes meanwhile has the next one begin.
        RungConsumer.watch = None
        await doorbell.close()
