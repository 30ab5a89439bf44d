"""Sockets. PROTOCOL.md says what travels over them."""

import asyncio
import logging
import math
import re
import secrets
from typing import Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable
from channels.consumer import AsyncConsumer
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language_from_request

from accounts import duties
from accounts.models import EndedSession, User
from games import allowance, log, opening, rules, tables
from games.frames import CloseCode, compact
from games.rules import commands
from games.rules.documents import Misread, member, members, parse, whole
from games.sentences import say
from games.table import AN_ID, COMMAND_ID, Table

logger = logging.getLogger(__name__)

MOST_BYTES = 4_096
MOST_UNREADABLE = 10
MOST_UNREAD_BYTES = 256 * 1024
QUIET_SECONDS = 10.0
MOST_EVENTS = 10**6

# Sentences are in one of these.
_LANGUAGES = frozenset(code for code, _ in settings.LANGUAGES)
_KEY = re.compile(r"[A-Za-z0-9]{1,20}")
_SHARE = re.compile(r"[0-9a-f]{64}")
_NONCE = re.compile(r"[0-9a-f]{32}")


class _Gone(Exception):
    """The page has gone."""


class _SentAway(Exception):
    """The page is to be closed."""

    def __init__(self, code: CloseCode, notice: str) -> None:
        self.code, self.notice = code, notice


class TableConsumer(AsyncConsumer):
    """One page's connection to one table.

    A plain loop instead of Channels' dispatch: every message of a dispatching consumer hops to the one thread that all
    synchronous work of the process shares, and a race cannot wait for somebody's slow query.
    """

    user_id: int | None = None
    seat: int | None = None
    key = ""
    joined_ms = 0
    session_key: str | None = None
    session_epoch = 0
    browser_session: str | None = None

    async def __call__(
        self,
        scope: Any,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        self.scope = scope
        self._receive, self._send = receive, scope.get("straight", send)
        self._open = True
        self._clock = asyncio.get_running_loop().time
        # What it takes to let a page in is not the page's silence.
        self._alive = math.inf
        self._unreadable = 0
        self._sent_bytes = self._read_bytes = 0
        self._mark, self._marked_bytes = "", 0
        self._language = _language(scope)
        await receive()
        # Accepted before it is closed: a browser never learns the code of a socket that was refused.
        await self._put({"type": "websocket.accept", "subprotocol": None, "headers": []})
        try:
            await self._serve()
        except _Gone:
            pass
        except _SentAway as away:
            await self.end(away.code, away.notice)
        except log.Unwritten:
            await self.end(CloseCode.FAULT, "fault")
        finally:
            self._open = False

    async def _serve(self) -> None:
        here = await tables.here()
        code = self.scope["url_route"]["kwargs"]["code"]
        if await here.table(code) is None:
            raise _SentAway(CloseCode.NO_GAME, "no_game")
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                after = await self._introduction()
        except TimeoutError:
            raise _SentAway(CloseCode.QUIET, "quiet") from None
        # Asked for again: the table may have been dropped meanwhile, since nobody looked at it.
        table = await here.table(code)
        if here.stopping:
            raise _SentAway(CloseCode.STOPPING, "stopping")
        if table is None:
            raise _SentAway(CloseCode.NO_GAME, "no_game")
        await self._recognise(here, table)
        self._allowance = table.allowance(self.seat)
        try:
            if not await table.join(self, after):
                raise _SentAway(CloseCode.FAULT, "fault")
            self._alive = self._clock()
            while True:
                await self._take(table)
        finally:
            table.leave(self)

    async def _recognise(self, here: tables.Tables, table: Table) -> None:
        """Know who this is, and which seat they have."""
        scope: dict[str, Any] = dict(self.scope)
        user, by_token = scope["user"], "token" in scope
        if by_token and scope["token"] is None:
            raise _SentAway(CloseCode.SIGNED_OUT, "bad_token")
        self.user_id = user.pk
        self.session_key = scope["token" if by_token else "session"].session_key
        self.session_epoch = getattr(user, "session_epoch", 0)
        self.browser_session = None if by_token or self.user_id is None else self.session_key
        if self.user_id is not None and await here.reader.run(_has_duty, user):
            raise _SentAway(CloseCode.NOT_ALLOWED, "duty")
        self.seat = table.opened.seat_of(self.user_id)
        if by_token and self.seat is not None:
            if table.opened.ranked:
                raise _SentAway(CloseCode.NOT_ALLOWED, "people_only")
            await here.reader.run(opening.mark_program, table.opened.game_id, self.seat)

    async def _introduction(self) -> int | None:
        """What the page says first: its own name, its language, and the number of the last event it has."""
        try:
            said = await self._read()
            if member(said, "do", "the first message") != "join":
                raise Misread("not_join", 'the first message must be {"do": "join", …}')
            self.key = _matching(_KEY, said, "page", "letters and digits")
            language = said.get("language")
            if isinstance(language, str) and language in _LANGUAGES:
                self._language = language
            return None if said.get("after") is None else whole(said["after"], '"after"', 0, MOST_EVENTS)
        except Misread as wrong:
            await self._not_understood("", str(wrong), 0)
            raise _SentAway(CloseCode.UNREADABLE, "unreadable_page") from None

    async def _take(self, table: Table) -> None:
        """One message: a beat, a share, a nonce or a command."""
        command_id = ""
        try:
            said = await self._read()
            word = member(said, "do", "a message")
            if not self._allowance.take():
                return await self._hold_back(said.get("id"), table.head)
            if word == "beat":
                return await self._beat(table, said)
            if word == "share":
                return await self._share(table, said)
            if word == "nonce":
                return await self._nonce(table, said)
            command_id = _matching(COMMAND_ID, said, "id", AN_ID)
            command = commands.read({name: value for name, value in said.items() if name != "id"})
        except (Misread, rules.Malformed) as wrong:
            return await self._not_understood(command_id, str(wrong), table.head)
        if self.seat is None:
            return await self.refuse(command_id, "no_seat", {}, table.head)
        return table.play(self, self.seat, command, command_id)

    async def _beat(self, table: Table, said: dict[str, object]) -> None:
        """Say that the line holds. Whoever says the mark of the answer before has read everything up to it."""
        if said.get("mark", "") == self._mark:
            self._alive = self._clock()
            self._read_bytes = self._marked_bytes
            self._mark, self._marked_bytes = secrets.token_urlsafe(6), self._sent_bytes
        beat = {"type": "beat", "at": table.at(), "head": table.head, "mark": self._mark}
        await self.tell(compact(beat))

    async def _share(self, table: Table, said: dict[str, object]) -> None:
        share = _matching(_SHARE, said, "share", "64 lower-case hex digits")
        if self.seat is None:
            return await self.refuse("", "no_seat", {}, table.head)
        return table.commit_share(self, self.seat, share)

    async def _nonce(self, table: Table, said: dict[str, object]) -> None:
        nonce = _matching(_NONCE, said, "nonce", "32 lower-case hex digits")
        if self.seat is None:
            return await self.refuse("", "no_seat", {}, table.head)
        return table.give_nonce(self, self.seat, bytes.fromhex(nonce))

    async def _hold_back(self, command_id: object, head: int) -> None:
        if self._allowance.is_abused:
            raise _SentAway(CloseCode.FLOOD, "flood_page")
        known = command_id if isinstance(command_id, str) and COMMAND_ID.fullmatch(command_id) else ""
        await self.refuse(known, "flood", {"most": allowance.MOST_COMMANDS}, head)

    async def _not_understood(self, command_id: str, problem: str, head: int) -> None:
        self._unreadable += 1
        await self.refuse(command_id, "unreadable", {"problem": problem}, head)
        if self._unreadable >= MOST_UNREADABLE:
            raise _SentAway(CloseCode.UNREADABLE, "unreadable_page")

    async def _read(self) -> dict[str, object]:
        """The next message, which must be an object; `_Gone` when there is none."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect" or not self._open:
            raise _Gone
        frame = message.get("text")
        if not isinstance(frame, str):
            raise Misread("binary", "messages are text, not bytes")
        if len(frame.encode()) > MOST_BYTES:
            raise Misread("too_big", f"a message has at most {MOST_BYTES:,} bytes")
        return members(parse(frame), "a message")

    # What the table asks of a page.

    async def tell(self, frame: str) -> None:
        if not self._open:
            return
        self._sent_bytes += len(frame)
        if self._sent_bytes - self._read_bytes > MOST_UNREAD_BYTES:
            await self.end(CloseCode.QUIET, "quiet")
        else:
            await self._put({"type": "websocket.send", "text": frame, "bytes": None})

    async def refuse(self, command_id: str, code: str, values: dict[str, int | str], head: int) -> None:
        message: dict[str, object] = {"type": "refused", "code": code, "head": head}
        if command_id:
            message["id"] = command_id
        message["text"] = say(code, values, self._language)
        await self.tell(compact(message))

    async def notify(self, code: str) -> None:
        await self.tell(self._notice(code))

    async def end(self, code: CloseCode, notice: str) -> None:
        if not self._open:
            return
        self._open = False
        await self._put({"type": "websocket.send", "text": self._notice(notice), "bytes": None})
        await self._put({"type": "websocket.close", "code": int(code), "reason": None})

    def _notice(self, code: str) -> str:
        return compact({"type": "notice", "code": code, "text": say(code, {}, self._language)})

    async def _put(self, message: Any) -> None:
        try:
            await self._send(message)
        except Exception as error:
            # The line is just breaking, which we hear of in a moment. The table has others to tell.
            logger.info("A page could not be told: %s", error)

    def is_quiet(self) -> bool:
        """Whether this page has not been heard of for too long."""
        return self._clock() - self._alive > QUIET_SECONDS

    def is_of(self, ended: EndedSession) -> bool:
        """Whether this page was opened in a session that has ended."""
        return self.user_id == ended.user_id and ended.ends(self.session_key, self.session_epoch)


def _has_duty(user: User) -> bool:
    return duties.first_duty(user) is not None


async def nowhere(_: Any, receive: ASGIReceiveCallable, send: Any) -> None:
    """Refuses a socket at an address that is none."""
    await receive()
    await send({"type": "websocket.close"})


def _matching(pattern: re.Pattern[str], said: dict[str, object], name: str, wanted: str) -> str:
    value = member(said, name, "a message")
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Misread("bad_text", f'"{name}" must be {wanted}')
    return value


def _language(scope: Any) -> str:
    """The language of the site that fits this connection best."""
    user = scope.get("user")
    if getattr(user, "language", ""):
        return str(user.language)
    request = HttpRequest()
    request.COOKIES = scope.get("cookies", {})
    for name, value in scope.get("headers", ()):
        if name == b"accept-language":
            request.META["HTTP_ACCEPT_LANGUAGE"] = value.decode("latin-1")
    return get_language_from_request(request)
