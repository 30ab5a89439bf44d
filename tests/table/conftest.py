"""Tables as they run: web processes behind Daphne on the tests' database and Valkey, and pages that talk to them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio
from channels.db import database_sync_to_async
from django.conf import settings
from django.test import Client

from accounts.models import User
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import terms
from tests.browser.site import Site, running_site
from tests.settings import FOLDER, ON_POSTGRES, POSTGRES_FOLDER, VALKEY
from tests.table.page import Page

QUICK = replace(terms.DEFAULT_LIMITS["live"], hold_ms=0, countdown_ms=1_000)


def database_address() -> str:
    name = settings.DATABASES["default"]["NAME"]
    return f"postgres://midnight@/{name}?host={POSTGRES_FOLDER}" if ON_POSTGRES else f"sqlite:///{name}"


@pytest.fixture(scope="session")
def web(django_db_setup: None, valkey_server: object) -> Iterator[Site]:
    with running_site(FOLDER, database_address(), f"unix://{VALKEY}") as running:
        yield running


@pytest.fixture(scope="session")
def other_web(web: Site) -> Iterator[Site]:
    """A second web process on the same database."""
    with running_site(FOLDER, database_address(), f"unix://{VALKEY}") as running:
        yield running


@dataclass
class Match:
    """A game with people in its seats."""

    game: Game
    cookies: list[str]
    pages: list[Page] = field(default_factory=list)

    def page(self, web: Site, seat: int | None, key: str = "") -> Page:
        cookie = "" if seat is None else self.cookies[seat]
        page = Page(f"ws://localhost:{web.port}/ws/1/games/{self.game.code}", cookie, key or f"p{seat}")
        self.pages.append(page)
        return page

    async def sit_down(self, *webs: Site) -> list[Page]:
        """Every player's page, in these processes by turns, with the game begun."""
        pages = [self.page(webs[seat % len(webs)], seat) for seat in range(len(self.cookies))]
        await asyncio.gather(*(page.open() for page in pages))
        for seat, page in enumerate(pages):
            await page.send(do="nonce", nonce=f"{seat + 1:032x}")
        for page in pages:
            await page.until(lambda page: bool(page.sight))
        return pages

    async def search(self, *webs: Site) -> list[Page]:
        """The same, with the search on."""
        pages = await self.sit_down(*webs)
        for page in pages:
            await page.do("ready", on=True)
        for page in pages:
            await page.until(lambda page: page.sight["phase"] == "search")
        return pages

    async def close(self) -> None:
        await asyncio.gather(*(page.close() for page in self.pages))


NewMatch = Callable[..., Awaitable[Match]]


@pytest_asyncio.fixture
async def new_match(transactional_db: None) -> AsyncIterator[NewMatch]:
    matches: list[Match] = []

    def make(players: int, limits: terms.Limits, **options: Any) -> Match:
        people = [User.objects.create_guest() for _ in range(players)]
        seats = [NewSeat(character, person.pk) for character, person in zip(terms.CHARACTERS, people, strict=False)]
        return Match(open_game(seats, limits=limits, **options), [session_of(person) for person in people])

    async def new(players: int = 2, limits: terms.Limits = QUICK, **options: Any) -> Match:
        matches.append(await database_sync_to_async(make)(players, limits, **options))
        return matches[-1]

    yield new
    for match in matches:
        await match.close()


def session_of(person: User) -> str:
    client = Client()
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    return client.cookies[settings.SESSION_COOKIE_NAME].value
