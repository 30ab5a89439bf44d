"""The doorbell of the lobby, of rooms and of everybody signed in: it rings for whom it concerns and tells nothing."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest_asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts import moderation
from accounts.models import User
from games import pace, rooms
from games.models import Room
from midnight.asgi import application

RUNG = '{"type":"rung"}'


@pytest_asyncio.fixture(autouse=True)
async def layer(transactional_db: None) -> AsyncIterator[None]:
    yield
    await get_channel_layer().flush()  # type: ignore[union-attr]


@sync_to_async
def people(*names: str) -> list[User]:
    return [User.objects.create_user(name) for name in names]


@sync_to_async
def cookie_of(person: User) -> str:
    client = Client()
    client.force_login(person)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


async def listening(where: str, person: User | None = None, origin: str = "") -> WebsocketCommunicator:
    headers = [(b"origin", (origin or settings.SITE_URL).encode())]
    if person is not None:
        headers.append((b"cookie", (await cookie_of(person)).encode()))
    socket = WebsocketCommunicator(application, f"/ws/1/news{where}", headers=headers)
    assert (await socket.connect())[0]
    return socket


@sync_to_async
def opened(person: User, *, public: bool = True) -> Room:
    return rooms.open_room(person, public=public)


async def test_the_lobby_hears_of_public_rooms_and_of_no_others() -> None:
    alice, bob = await people("Alice", "Bob")
    lobby = await listening("/lobby")
    await opened(alice, public=False)
    assert await lobby.receive_nothing(timeout=0.3)
    await opened(bob)
    assert await lobby.receive_from(timeout=5) == RUNG
    await lobby.disconnect()


async def test_a_room_hears_of_itself_and_a_person_of_an_invitation() -> None:
    alice, bob = await people("Alice", "Bob")
    room, other = await opened(alice, public=False), await opened(bob, public=False)
    here, there, own = (
        await listening(f"/rooms/{room.code}"),
        await listening(f"/rooms/{other.code}"),
        await listening("", bob),
    )
    await sync_to_async(rooms.invite)(room, alice, "Bob")
    assert await here.receive_from(timeout=5) == RUNG
    assert await own.receive_from(timeout=5) == RUNG
    assert await there.receive_nothing(timeout=0.3)
    for socket in (here, there, own):
        await socket.disconnect()


async def test_a_beat_says_that_a_page_is_open_and_any_other_word_ends_it() -> None:
    (alice,) = await people("Alice")
    socket = await listening("/lobby", alice)
    await socket.send_to(text_data="beat")
    assert await socket.receive_nothing(timeout=0.3)
    assert await sync_to_async(pace.has_page_open)(alice.pk)
    await socket.send_to(text_data="hello")
    assert (await socket.receive_output(timeout=5))["code"] == 4400


async def test_the_bell_falls_silent_with_the_session() -> None:
    (alice,) = await people("Alice")
    socket = await listening("", alice)
    await sync_to_async(moderation.suspend)(alice, timezone.now() + timedelta(days=1), by="Juve")
    closed = await socket.receive_output(timeout=5)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


async def test_a_visitor_has_no_news_of_their_own() -> None:
    assert (await (await listening("")).receive_output(timeout=5))["code"] == 4404


async def test_pages_of_other_sites_hear_nothing() -> None:
    socket = WebsocketCommunicator(application, "/ws/1/news/lobby", headers=[(b"origin", b"https://elsewhere.example")])
    assert not (await socket.connect())[0]
