"""Every socket of the site, over a real server: it ends with its session, and its page hears the code that says why."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import pytest
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from accounts import closing, moderation, sessions, tokens
from accounts.models import EndedSession, User
from games import chat, listening, opening, routing
from games.frames import CloseCode
from games.models import Game, Room
from games.rooms import open_room
from games.rules import terms
from tests.browser.site import Site
from tests.sockets import PATIENCE
from tests.table.conftest import QUICK, session_of

pytestmark = [pytest.mark.django_db(transaction=True)]


@dataclass
class Visitor:
    """A person with a game and a room, and a browser that knows them."""

    person: User
    game: Game
    room: Room
    cookie: str

    def doors(self) -> dict[str, str]:
        """Each kind of socket by its route, at an address where this person has something to hear."""
        return {
            "ws/1/games/<slug:code>": f"/ws/1/games/{self.game.code}",
            "ws/1/talk/<slug:channel>": f"/ws/1/talk/{chat.channel_of(self.game)}",
            "ws/1/news": "/ws/1/news",
            "ws/1/news/rooms/<slug:code>": f"/ws/1/news/rooms/{self.room.code}",
            "ws/1/news/<slug:where>": "/ws/1/news/lobby",
            "while waiting for a match": "/ws/1/news/quick",
        }


@pytest.fixture
def visitor() -> Visitor:
    people = [User.objects.create_user(name, "pommes de terre") for name in ("Alice", "Bob")]
    seats = [opening.NewSeat(character, one.pk) for one, character in zip(people, terms.CHARACTERS, strict=False)]
    room = open_room(people[0])
    return Visitor(people[0], opening.open_game(seats, limits=QUICK), room, session_of(people[0]))


def by_cookie(visitor: Visitor, web: Site) -> dict[str, str]:
    return {"Origin": web.url, "Cookie": f"{settings.SESSION_COOKIE_NAME}={visitor.cookie}"}


@asynccontextmanager
async def all_doors(web: Site, visitor: Visitor, headers: dict[str, str]) -> AsyncIterator[list[ClientConnection]]:
    """A socket of each kind, open for good: each has been told what is told at its beginning."""
    async with AsyncExitStack() as stack:
        lines = []
        for address in visitor.doors().values():
            line = connect(f"ws://localhost:{web.port}{address}", additional_headers=headers)
            lines.append(await stack.enter_async_context(line))
        await lines[0].send(json.dumps({"do": "join", "page": "p"}))
        assert json.loads(await lines[0].recv())["type"] == "welcome"
        yield lines


async def close_code(line: ClientConnection) -> int | None:
    """With what the server ends this connection, whatever it says before."""
    async with asyncio.timeout(PATIENCE):
        try:
            while True:
                await line.recv()
        except ConnectionClosed:
            return line.close_code


def browser_of(visitor: Visitor) -> Client:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = visitor.cookie
    return client


def sign_out(visitor: Visitor) -> None:
    browser_of(visitor).post("/account/sign-out/")


def sign_out_everywhere(visitor: Visitor) -> None:
    browser_of(visitor).post("/account/sessions/end/", {"here_too": "yes"})


def change_the_password(visitor: Visitor) -> None:
    words = {"oldpassword": "pommes de terre", "password1": "vin de pays rouge"}
    browser_of(visitor).post("/account/password/", words)


def be_suspended(visitor: Visitor) -> None:
    moderation.suspend(visitor.person, timezone.now() + timedelta(days=1), by="test")


def close_the_account(visitor: Visitor) -> None:
    closing.close(visitor.person)


def be_deleted(visitor: Visitor) -> None:
    closing.delete(visitor.person)


def end_that_one_session(visitor: Visitor) -> None:
    sessions.tell(visitor.person, EndedSession.Reason.SIGNED_OUT, session_key=visitor.cookie)


WAYS: list[Callable[[Visitor], None]] = [
    sign_out,
    sign_out_everywhere,
    change_the_password,
    be_suspended,
    close_the_account,
    be_deleted,
    end_that_one_session,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_every_socket_closes_with_its_session(
    web: Site, visitor: Visitor, way: Callable[[Visitor], None]
) -> None:
    async with all_doors(web, visitor, by_cookie(visitor, web)) as lines:
        await database_sync_to_async(way)(visitor)
        codes = await asyncio.gather(*map(close_code, lines))
    assert codes == [CloseCode.SIGNED_OUT] * len(lines)


async def test_every_socket_closes_when_its_session_expires(web: Site, visitor: Visitor) -> None:
    await database_sync_to_async(expires_in)(visitor, timedelta(seconds=4))
    async with all_doors(web, visitor, by_cookie(visitor, web)) as lines:
        codes = await asyncio.gather(*map(close_code, lines))
    assert codes == [CloseCode.SIGNED_OUT] * len(lines)


async def test_a_session_that_was_prolonged_keeps_its_sockets(web: Site, visitor: Visitor) -> None:
    await database_sync_to_async(expires_in)(visitor, timedelta(seconds=4))
    async with all_doors(web, visitor, by_cookie(visitor, web)) as lines:
        await database_sync_to_async(expires_in)(visitor, timedelta(days=1))
        news = [asyncio.create_task(close_code(line)) for line in lines[1:]]
        _, still_open = await asyncio.wait(news, timeout=6)
        assert len(still_open) == len(news)
        await database_sync_to_async(sign_out)(visitor)
        assert await asyncio.gather(*news) == [CloseCode.SIGNED_OUT] * len(news)


def expires_in(visitor: Visitor, time: timedelta) -> None:
    assert Session.objects.filter(session_key=visitor.cookie).update(expire_date=timezone.now() + time)


async def test_every_socket_closes_with_its_token(web: Site, visitor: Visitor) -> None:
    token, secret = await database_sync_to_async(tokens.make)(visitor.person, "My bot")
    async with all_doors(web, visitor, {"Authorization": f"Bearer {secret}"}) as lines:
        assert await database_sync_to_async(tokens.revoke)(visitor.person, token.pk)
        codes = await asyncio.gather(*map(close_code, lines))
    assert codes == [CloseCode.SIGNED_OUT] * len(lines)


async def test_a_bad_token_is_told_so_at_every_door(web: Site, visitor: Visitor) -> None:
    for address in visitor.doors().values():
        line = await opened(web, address, {"Authorization": "Bearer midnight_guess"})
        await say(line, json.dumps({"do": "join", "page": "p"}))
        assert await close_code(line) == CloseCode.SIGNED_OUT, address


async def opened(web: Site, address: str, headers: dict[str, str]) -> ClientConnection:
    return await connect(f"ws://localhost:{web.port}{address}", additional_headers=headers)


async def say(line: ClientConnection, *words: str | bytes) -> None:
    """Say all of this, or what there is time for until the line is closed."""
    with suppress(ConnectionClosed):
        for word in words:
            await line.send(word)


def test_no_kind_of_socket_is_missing_here(visitor: Visitor) -> None:
    known = {str(pattern.pattern) for pattern in routing.websocket_urlpatterns} - {""}
    assert known <= visitor.doors().keys()


async def test_a_word_that_no_page_says_is_answered_with_its_code(web: Site, visitor: Visitor) -> None:
    headers = by_cookie(visitor, web)
    doors = list(visitor.doors().values())
    for word in ("nonsense", b"\0\xff"):
        for address in doors[1:]:
            line = await opened(web, address, headers)
            # More than one: the second arrives while the line is being closed.
            await say(line, word, word)
            assert await close_code(line) == CloseCode.UNREADABLE, address


async def test_beats_without_a_pause_are_answered_with_their_code(web: Site, visitor: Visitor) -> None:
    line = await opened(web, "/ws/1/news/lobby", by_cookie(visitor, web))
    await say(line, *[listening.BEAT] * (10 * listening.MOST_BEATS))
    assert await close_code(line) == CloseCode.FLOOD


@pytest.mark.parametrize(
    "address",
    [
        "/ws/1/news",
        "/ws/1/news/no-such-place",
        f"/ws/1/news/{'x' * 500}",
        f"/ws/1/news/rooms/{'x' * 500}",
        "/ws/1/talk/g-none",
        f"/ws/1/talk/r-{'x' * 500}",
        "/ws/1/games/none",
        f"/ws/1/games/{'x' * 500}",
    ],
)
async def test_where_nothing_is_to_be_heard_a_visitor_is_told_so(
    web: Site, transactional_db: None, address: str
) -> None:
    assert await close_code(await opened(web, address, {"Origin": web.url})) == CloseCode.NO_GAME
