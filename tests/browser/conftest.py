"""A real Chromium before the real site. A test asks for `page`, or for `open_page` where it needs several people.

Tests are `async def` and share one event loop; the database is the one of the test process, so a test makes what it
needs with the (async) ORM, and finds it empty at its start.
"""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from accounts.models import User
from tests.browser.site import Site, running_site
from tests.browser.watch import Watch
from tests.services import installed
from tests.settings import FOLDER, VALKEY

HERE = Path(__file__).parent
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# How long a page may take for anything: it is right or it is not, and a busy machine changes nothing of that.
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)
OpenPage = Callable[..., Awaitable[Page]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="module")
def site(django_db_setup: None, valkey_server: object) -> Iterator[Site]:
    """The site behind Daphne, on this process's test database and Valkey."""
    database = f"sqlite:///{settings.DATABASES['default']['NAME']}"
    with running_site(FOLDER, database, f"unix://{VALKEY}") as running:
        yield running


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    program = installed("chromium", os.environ.get("CHROMIUM", ""), "chromium-browser", "google-chrome", "chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture
def watch(site: Site) -> Watch:
    """Everything that went wrong on this test's pages."""
    return Watch(site.url)


def session_of(person: User) -> str:
    """The key of a session that this person has just begun: nobody asks for the password again for a while."""
    client = Client()
    client.force_login(person)
    session = client.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"method": "signed_in", "at": time.time(), "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(person.pk)
    session.save()
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Browser, site: Site, watch: Watch, transactional_db: None) -> AsyncIterator[OpenPage]:
    """`await open_page()` is a new person's browser; it takes what Playwright's new_context takes, and `person`, who is
    then signed in.

    The test fails when any of its pages complains: on the console, of the CSP, of a request that failed or that went
    to another host.
    """
    contexts: list[BrowserContext] = []

    async def new_page(*, person: User | None = None, **options: Any) -> Page:
        context = await chromium.new_context(base_url=site.url, **{"locale": "en-GB", **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        await watch.over(context)
        if person:
            session = await sync_to_async(session_of)(person)
            await context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site.url}])
        return await context.new_page()

    yield new_page
    for context in contexts:
        await context.close()
    assert not watch.unexpected(), "\n".join(watch.unexpected())


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage) -> Page:
    """A visitor's page on a laptop."""
    return await open_page()
