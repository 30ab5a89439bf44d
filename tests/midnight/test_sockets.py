"""Sockets open for our own pages only."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.conf import settings

from games import tables
from midnight.asgi import application
from tests.sockets import Socket

pytestmark = [pytest.mark.django_db(transaction=True)]
NO_GAME = "/ws/1/games/no-such-game"


@pytest_asyncio.fixture(autouse=True)
async def nothing_runs_on() -> AsyncIterator[None]:
    yield
    await tables.stop_here()


async def is_let_in(*headers: tuple[bytes, bytes]) -> bool:
    """Whoever passes the door is told that there is no such game; whoever does not is sent away before."""
    page = Socket(application, NO_GAME, headers=list(headers))
    connected, _ = await page.connect()
    await page.disconnect()
    return connected


@pytest.mark.parametrize("origin", ["http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]:8000"])
async def test_a_page_of_ours_is_let_in(origin: str) -> None:
    assert settings.SITE_URL == "http://localhost:8000"
    assert await is_let_in((b"origin", origin.encode()))


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://localhost:8000",
        "http://localhost:8001",
        "http://localhost",
        "http://localhost.evil.example:8000",
        "http://evil.localhost:8000",
        "null",
        "",
        "nonsense",
    ],
)
async def test_another_page_is_not(origin: str) -> None:
    assert not await is_let_in((b"origin", origin.encode()))


async def test_who_says_no_origin_is_not() -> None:
    assert not await is_let_in()
