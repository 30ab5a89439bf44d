"""Who may do what: every address, socket word and admin action against everybody, and none forgotten.

`matrix.py` holds the expected answers. A test finds the doors by itself, so a door that nobody has thought about fails.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib import admin
from django.core.cache import cache
from django.db import transaction
from django.test import AsyncClient, RequestFactory

from games import sweep, tables
from games.routing import websocket_urlpatterns
from games.rules import commands
from midnight.asgi import application
from tests.games.everybody import ROLES, Door, House, address, doors, house, letter_of, said
from tests.games.matrix import ACTIONS, ANSWERS, IN_THE_LOOP, SOCKETS, WORDS
from tests.sockets import PATIENCE, Socket

DOORS = doors()
# Pages of a table live in the event loop and read the database from other threads.
LOOPED = [door for door in DOORS if door.key in IN_THE_LOOP]
PLAIN = [door for door in DOORS if door.key not in IN_THE_LOOP]


def expected(door: Door) -> list[str]:
    return (ANSWERS | IN_THE_LOOP)[door.key].split()


# Addresses ------------------------------------------------------------------------------------------------------------


def test_every_address_has_its_line_and_every_line_its_address() -> None:
    assert {door.key for door in DOORS} == set(ANSWERS) | set(IN_THE_LOOP)
    assert not set(ANSWERS) & set(IN_THE_LOOP)
    assert len({door.key for door in DOORS}) == len(DOORS), "two addresses have one name"


def test_nobody_whom_signing_in_or_another_language_leads_to_an_address_finds_nothing_there() -> None:
    """Only what a page's own script posts is closed to whoever looks, and the administration's way out."""
    closed = {door.name for door in DOORS if "m" in expected(door)[0]}
    assert closed == {
        "games:talk_switch",
        "games:person_letter",
        "games:game_letter",
        "games:room_letter",
        "games:role_letter",
        "games:hide_letter",
        "admin:logout",
    }


@pytest.mark.slow
@pytest.mark.django_db
def test_every_address_answers_everybody_as_the_matrix_says() -> None:
    here = house()
    wrong = []
    for door in PLAIN:
        for method, answers in zip(("get", "post"), expected(door), strict=True):
            form = said(door, here) if method == "post" else {}
            found = ""
            for role in ROLES:
                cache.clear()
                with transaction.atomic():
                    found += letter_of(getattr(here.client(role), method)(address(door, here), form))
                    transaction.set_rollback(True)
            if found != answers:
                wrong.append(f"{door.key} {method}: {found}, not {answers}")
    assert not wrong, "\n".join(wrong)


@pytest_asyncio.fixture
async def here(transactional_db: None) -> AsyncIterator[House]:
    """A house with a game that has begun; whatever runs in this event loop is stopped again."""
    made = await sync_to_async(house)()
    await sync_to_async(sweep.wake)(made.game.pk)
    yield made
    await tables.stop_here()
    layer = get_channel_layer()
    assert layer is not None
    await layer.flush()


@pytest.mark.parametrize("door", LOOPED, ids=lambda door: door.key)
async def test_a_tables_page_answers_everybody_as_the_matrix_says(door: Door, here: House) -> None:
    for method, answers in zip(("get", "post"), expected(door), strict=True):
        found = ""
        for role in ROLES:
            client = AsyncClient()
            if role in here.people:
                await sync_to_async(client.force_login)(here.people[role])
            form = {"command": json.dumps({"do": "ready", "on": True})} if method == "post" else {}
            found += letter_of(await getattr(client, method)(address(door, here), form))
        assert found == answers, method


# Sockets --------------------------------------------------------------------------------------------------------------


async def socket_of(here: House, role: str, where: str) -> Socket:
    client = await sync_to_async(here.client)(role)
    key = client.cookies.get(settings.SESSION_COOKIE_NAME)
    headers = [(b"origin", settings.SITE_URL.encode())]
    if key is not None:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={key.value}".encode()))
    socket = Socket(application, where, headers=headers)
    assert (await socket.connect())[0]
    return socket


def test_every_socket_and_every_word_has_its_line() -> None:
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == {*SOCKETS, ""}
    assert set(WORDS) == {*commands.WORDS, "nonce", "beat"}


@pytest.mark.parametrize("role", ROLES)
async def test_a_socket_lets_in_whom_the_matrix_says(role: str, here: House) -> None:
    for route, answers in SOCKETS.items():
        code = here.room.code if "rooms" in route else here.game.code
        where = (
            route.replace("<slug:code>", code).replace("<slug:channel>", f"g-{code}").replace("<slug:where>", "lobby")
        )
        socket = await socket_of(here, role, f"/{where}")
        if "games/" in route:
            await socket.send_to(json.dumps({"do": "join", "page": "p1"}))
            assert (await heard(socket))["type"] == "welcome"
        answer = answers.split()[ROLES.index(role)]
        # Whoever is to be out is waited for.
        quiet = await socket.receive_nothing(timeout=0.2 if answer == "in" else PATIENCE)
        assert ("in" if quiet or "games/" in route else "out") == answer, route
        await socket.disconnect()


@pytest.mark.parametrize("role", ROLES)
async def test_a_word_is_heard_from_whom_the_matrix_says(role: str, here: House) -> None:
    socket = await socket_of(here, role, f"/ws/1/games/{here.game.code}")
    await socket.send_to(json.dumps({"do": "join", "page": "p1"}))
    for word, (fields, answers) in WORDS.items():
        about = {} if word in ("beat", "nonce") else {"id": f"c-{word}"}
        await socket.send_to(json.dumps({"do": word, **fields, **about}))
        assert await answer_to(socket, word) == answers.split()[ROLES.index(role)], word
    await socket.disconnect()


async def heard(socket: Socket) -> dict[str, Any]:
    message: dict[str, Any] = json.loads((await socket.receive_output())["text"])
    return message


async def answer_to(socket: Socket, word: str) -> str:
    """What the table says to that word: done, or the code of its refusal."""
    while True:
        message = await heard(socket)
        if message["type"] == "refused" and message.get("id", f"c-{word}") == f"c-{word}":
            return str(message["code"])
        if message["type"] == word or message.get("ack") == f"c-{word}":
            return "done"


# Admin actions --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_every_admin_action_is_for_whom_the_matrix_says() -> None:
    here = house()
    found: dict[str, str] = {}
    for model, one in admin.site._registry.items():
        for role in ROLES[1:]:
            request = RequestFactory().get("/")
            request.user = here.people[role]
            allowed = one.get_actions(request) if admin.site.has_permission(request) else {}
            for name in allowed:
                key = f"{model._meta.label_lower} {name}"
                found[key] = f"{found.get(key, '')} {role}".strip()
    assert found == ACTIONS
