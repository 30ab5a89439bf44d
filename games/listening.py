"""The doorbell at a page: a socket that says only that there is something to fetch."""

import asyncio
import contextlib
import logging
import math
import time
from typing import Any, ClassVar

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from accounts.models import EndedSession
from accounts.sessions import EndWatch, ExpiryWatch
from games import log, news, pace, quick
from games.doorbell import Doorbell
from games.frames import CloseCode
from games.models import Room
from games.pulse import pulse

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
BEAT = "beat"
# A page beats every 20 seconds. What it says more often is not written down, and so many more send it away.
NOTED_SECONDS = 10.0
MOST_BEATS = 20
LONGEST_CODE = Room._meta.get_field("code").max_length or 0


class RungConsumer(AsyncWebsocketConsumer):
    """One page that hears rings. It ends with the session it was opened in, as a table's page does."""

    open: ClassVar[set["RungConsumer"]] = set()
    watch: ClassVar[asyncio.Task[None] | None] = None
    # Whether somebody waits for a match on this page.
    waits = False
    # Whether it was told to close: what it still says, and what still rings, is nothing to it.
    ended = False

    async def rings(self) -> list[str]:
        """The groups this page listens to; none where there is nothing to hear for it."""
        raise NotImplementedError

    async def hear(self, text: str | None) -> None:
        """The page said this; None for bytes. A page says nothing here: what it wants to say it posts."""
        await self.end(CloseCode.UNREADABLE)

    async def connect(self) -> None:
        scope: dict[str, Any] = dict(self.scope)
        user, by_token = scope["user"], "token" in scope
        holder = scope["token"] if by_token else scope.get("session")
        self.user_id = user.pk
        self.session_key = getattr(holder, "session_key", None)
        self.session_epoch = getattr(user, "session_epoch", 0)
        self.browser_session = None if by_token or self.user_id is None else self.session_key
        self.heard: list[str] = []
        groups = await self.rings()
        for group in groups:
            await self.channel_layer.group_add(group, self.channel_name)
            self.heard.append(group)
        # It listens before it is open: a page looks as soon as it is, and what is rung from then on comes after it.
        # And it is accepted before it is closed: a browser never learns the code of a socket that was refused.
        await self.accept()
        if by_token and holder is None:
            await self.end(CloseCode.SIGNED_OUT)
        elif not groups:
            await self.end(CloseCode.NO_GAME)
        else:
            RungConsumer.open.add(self)
            if RungConsumer.watch is None or RungConsumer.watch.done():
                RungConsumer.watch = asyncio.create_task(_see_who_is_out())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self.ended:
            await self.hear(text_data)

    async def disconnect(self, code: int) -> None:
        RungConsumer.open.discard(self)
        for group in self.heard:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def rung(self, event: dict[str, Any]) -> None:
        if not self.ended:
            await self.send(text_data='{"type":"rung"}')

    async def end(self, code: CloseCode) -> None:
        """Close this page, once, with a code of PROTOCOL.md. It never raises: the other pages have their turn too."""
        if self.ended:
            return
        self.ended = True
        RungConsumer.open.discard(self)
        try:
            # The server knows numbers only: it takes an enum for no close code at all.
            await self.close(int(code))
        except Exception as error:
            logger.info("A page could not be closed: %s", error)

    def is_of(self, ended: EndedSession) -> bool:
        return self.user_id == ended.user_id and ended.ends(self.session_key, self.session_epoch)


class NewsConsumer(RungConsumer):
    """A page of the lobby, of a room, or of anybody signed in. Its beat says that somebody has a page open."""

    noted = -math.inf
    beats = 0

    async def rings(self) -> list[str]:
        scope: dict[str, Any] = dict(self.scope)
        kwargs: dict[str, str] = scope["url_route"]["kwargs"]
        groups = [news.of_room(kwargs["code"])] if _may_be_room(kwargs.get("code")) else []
        self.waits = kwargs.get("where") == news.QUEUE
        if kwargs.get("where") == news.LOBBY:
            groups.append(news.LOBBY)
        if self.user_id is not None:
            groups.append(news.of_person(self.user_id))
        await self._note()
        return groups

    async def hear(self, text: str | None) -> None:
        now = asyncio.get_running_loop().time()
        if text != BEAT:
            await self.end(CloseCode.UNREADABLE)
        elif now >= self.noted + NOTED_SECONDS:
            self.noted, self.beats = now, 0
            await self._note()
        else:
            self.beats += 1
            if self.beats > MOST_BEATS:
                await self.end(CloseCode.FLOOD)

    async def _note(self) -> None:
        if self.user_id is None:
            return
        await database_sync_to_async(pace.note_page)(self.user_id)


def _may_be_room(code: str | None) -> bool:
    """Whether a room may have this address: a longer word would name no group."""
    return code is not None and len(code) <= LONGEST_CODE


def _who_waits() -> set[int]:
    """The people on whose open pages one waits for a match."""
    return {page.user_id for page in RungConsumer.open if page.waits and page.user_id is not None}


async def _see_who_is_out() -> None:
    """Each second, and when the doorbell tells of one of them, as long as a page is open: close those whose session
    ended. And say for those who wait for a match that they still do."""
    ends, expiries, rung, fresh_until = EndWatch(), ExpiryWatch(), asyncio.Event(), 0.0

    def hear(person_id: int) -> None:
        if any(page.user_id == person_id for page in RungConsumer.open):
            rung.set()

    doorbell = Doorbell(ended=hear)
    # A thread of its own: the one that all pages share may be busy for longer than a session may outlive its end.
    reader = log.Reader()
    try:
        while RungConsumer.open:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await rung.wait()
            rung.clear()
            try:
                if time.monotonic() >= fresh_until:
                    fresh_until = time.monotonic() + quick.BEAT_SECONDS
                    await reader.run(quick.keep_fresh, _who_waits())
                await _end_pages(reader, ends, expiries)
            except log.Unwritten as error:
                logger.error("The database does not answer: %s", error)
            except Exception:
                # One fault must not end the watch over everybody's pages.
                pulse.failed()
                logger.exception("A look at the pages failed")
    finally:
        # Before the wait: whoever comes meanwhile has the next one begin.
        RungConsumer.watch = None
        await doorbell.close()
        await asyncio.to_thread(reader.close)


async def _end_pages(reader: log.Reader, ends: EndWatch, expiries: ExpiryWatch) -> None:
    """Close the pages whose session was ended, or has expired."""
    keys = {page.browser_session for page in RungConsumer.open if page.browser_session}
    ended, expired = await reader.run(lambda: (ends.look(), expiries.look(keys)))
    ends_of: dict[int, list[EndedSession]] = {}
    for end in ended:
        ends_of.setdefault(end.user_id, []).append(end)
    for page in list(RungConsumer.open):
        if page.browser_session in expired or any(page.is_of(end) for end in ends_of.get(page.user_id or 0, ())):
            await page.end(CloseCode.SIGNED_OUT)
