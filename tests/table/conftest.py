"""Tables as they run: web processes behind Daphne on the tests' database and Valkey, and pages that talk to them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import pytest_asyncio
import redis
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import connection
from django.test import Client

from accounts.models import User
from games import log, opening, rules, shares
from games.doorbell import CHANNEL
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import events, terms
from games.rules.fairness import share_of
from games.rules.judge import judge
from games.rules.record import make_record, write_record
from games.tables import Tables
from midnight.asgi import application
from tests.browser.site import Site, running_site
from tests.settings import FOLDER, ON_POSTGRES, POSTGRES_FOLDER, VALKEY
from tests.sockets import Socket
from tests.table.inside import InnerPage
from tests.table.page import Page, Picture

QUICK = replace(terms.DEFAULT_LIMITS["live"], hold_ms=0, countdown_ms=1_000)


def database_address(name: str = "") -> str:
    name = name or settings.DATABASES["default"]["NAME"]
    return f"postgres://midnight@/{name}?host={POSTGRES_FOLDER}" if ON_POSTGRES else f"sqlite:///{name}"


@pytest.fixture(autouse=True)
def nothing_unforeseen() -> Iterator[None]:
    """Whatever a test does to the web processes, they foresaw it: no traceback in their log."""
    file = FOLDER / "web.log"
    before = file.stat().st_size if file.exists() else 0
    yield
    if file.exists():
        with file.open() as log:
            log.seek(before)
            said = log.read()
        assert "Traceback" not in said, said


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="module")
def first_web(django_db_setup: None, valkey_server: object) -> Iterator[Site]:
    with running_site(FOLDER, database_address(), f"unix://{VALKEY}") as running:
        yield running


@pytest.fixture(scope="module")
def second_web(first_web: Site) -> Iterator[Site]:
    with running_site(FOLDER, database_address(), f"unix://{VALKEY}") as running:
        yield running


@pytest.fixture
def web(first_web: Site, request: pytest.FixtureRequest) -> Iterator[Site]:
    yield first_web
    renew_after_failure(first_web, request)


@pytest.fixture
def other_web(second_web: Site, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A second web process on the same database."""
    yield second_web
    renew_after_failure(second_web, request)


def renew_after_failure(site: Site, request: pytest.FixtureRequest) -> None:
    """Whatever a test that failed did to a web process, the next one does not fail of it."""
    if request.node.stash.get(FAILED, False):
        site.stop()
        site.start()


@dataclass
class Match:
    """A game with people in its seats."""

    game: Game
    cookies: list[str]
    pages: list[Page] = field(default_factory=list)

    def page(self, web: Site, seat: int | None, key: str = "") -> Page:
        cookie = "" if seat is None else self.cookies[seat]
        page = Page(f"ws://localhost:{web.port}/ws/1/games/{self.game.code}", cookie, key or f"p{seat}")
        page.seat = seat
        self.pages.append(page)
        return page

    async def begun_inside(self, *processes: Tables) -> list[InnerPage]:
        """Every player's page in the test's own process, before these tables by turns, with the game begun."""
        pages = [InnerPage(seat) for seat in range(len(self.cookies))]
        for page in pages:
            await processes[0].reader.run(shares.give, self.game.pk, page.seat or 0, bytes(16))
        for seat, page in enumerate(pages):
            await page.join(processes[seat % len(processes)], self.game)
        for page in pages:
            await page.until(lambda page: bool(page.sight))
        return pages

    async def inside(self, *processes: Tables) -> list[InnerPage]:
        """The same, with the search on."""
        pages = await self.begun_inside(*processes)
        for page in pages:
            await page.do("ready", on=True)
        for page in pages:
            await page.until(lambda page: page.sight["phase"] == "search")
        return pages

    async def sit_down(self, *webs: Site) -> list[Page]:
        """Every player's page, in these processes by turns, with the game begun."""
        pages = [self.page(webs[seat % len(webs)], seat) for seat in range(len(self.cookies))]
        await asyncio.gather(*(page.open() for page in pages))
        nonces = [(seat + 1).to_bytes(16, "big") for seat in range(len(pages))]
        for page, nonce in zip(pages, nonces, strict=True):
            await page.send(do="share", share=share_of(nonce))
        for page, nonce in zip(pages, nonces, strict=True):
            await page.until(lambda page: bool(page.shares))
            await page.send(do="nonce", nonce=nonce.hex())
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

    async def faults(self) -> list[str]:
        """What the judge finds wrong with the game as the log has it; one that still runs is ended there."""
        return await database_sync_to_async(faults_in)(self.game.pk)

    async def in_the_log(self, *seats: int | None) -> list[str]:
        """What each of these seats may see of the game as the log has it: what a reload would show."""

        def look() -> list[str]:
            opened = opening.find_by_id(self.game.pk)
            assert opened is not None
            state = rules.replay(opened.terms(), log_of(self.game.pk))
            return [json.dumps(rules.sight(state, seat), sort_keys=True) for seat in seats]

        return await database_sync_to_async(look)()

    async def all_see_the_log(self, pages: Sequence[Picture], seconds: float = 30) -> None:
        """Within so long every page shows what a reload would show."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            logged = await self.in_the_log(*(page.sight["seat"] for page in pages))
            if [as_shown(page) for page in pages] == logged:
                return
            if asyncio.get_running_loop().time() > end:
                assert [as_shown(page) for page in pages] == logged
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        await asyncio.gather(*(page.close() for page in self.pages))


NewMatch = Callable[..., Awaitable[Match]]


@pytest_asyncio.fixture
async def new_match(transactional_db: None) -> AsyncIterator[NewMatch]:
    matches: list[Match] = []

    def make(players: int, limits: terms.Limits, bots: Sequence[str] = (), **options: Any) -> Match:
        people = [User.objects.create_guest() for _ in range(players)]
        characters = iter(terms.CHARACTERS)
        seats = [NewSeat(next(characters), person.pk) for person in people]
        seats += [NewSeat(next(characters), strength=strength) for strength in bots]
        return Match(open_game(seats, limits=limits, **options), [session_of(person) for person in people])

    async def new(players: int = 2, limits: terms.Limits = QUICK, **options: Any) -> Match:
        matches.append(await database_sync_to_async(make)(players, limits, **options))
        return matches[-1]

    yield new
    for match in matches:
        await match.close()
    # What a test asked for with the async ORM left its thread's connection open.
    await database_sync_to_async(lambda: connection.close())()


def log_of(game_id: int) -> list[events.Event]:
    return [
        events.read({**json.loads(line.body), "seq": line.seq, "at": line.at}) for line in log.since(game_id, 0).lines
    ]


def faults_in(game_id: int) -> list[str]:
    opened = opening.find_by_id(game_id)
    assert opened is not None
    happened = log_of(game_id)
    state = rules.replay(opened.terms(), happened)
    if state.phase != "over":
        happened += rules.void(state, "server", state.at)
    names = [sitter.name for sitter in opened.sitters]
    shares = None if opened.place is None else opened.shares()
    record = make_record("test", "2026-01-31T20:00:00Z", opened.terms(), names, happened, shares, opened.place)
    return [str(fault) for fault in judge(write_record(record))]


def session_of(person: User) -> str:
    client = Client()
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    return client.cookies[settings.SESSION_COOKIE_NAME].value


async def line_of(match: Match, seat: int | None, path: str) -> Socket:
    """A connection to the application in the test's own process, of whoever sits there."""
    headers = [(b"origin", settings.SITE_URL.encode())]
    if seat is not None:
        headers.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={match.cookies[seat]}".encode()))
    line = Socket(application, path, headers=headers)
    assert (await line.connect())[0]
    return line


async def at_table(match: Match, seat: int | None) -> Socket:
    """One that has joined; whoever asks for it stops the tables (`tables.stop_here`)."""
    line = await line_of(match, seat, f"/ws/1/games/{match.game.code}")
    await line.send_json_to({"do": "join", "page": f"p{seat}"})
    assert json.loads((await line.receive_output())["text"])["type"] == "welcome"
    return line


NewTables = Callable[[], Awaitable[Tables]]


@pytest_asyncio.fixture
async def new_tables(transactional_db: None) -> AsyncIterator[NewTables]:
    """As many as a test asks for, each as a process of its own would have them, all in the test's event loop."""
    running: list[Tables] = []

    async def new() -> Tables:
        running.append(Tables())
        await running[-1].start()
        return running[-1]

    yield new
    for tables in running:
        await tables.stop()


Listening = Callable[[int], Awaitable[None]]


@pytest.fixture
def listening_begun(valkey: redis.Redis) -> Listening:
    """Waits until so many listen to the doorbell; nobody of the test before does."""
    valkey.execute_command("CLIENT", "KILL", "TYPE", "pubsub")

    async def begun(ears: int) -> None:
        async def listen() -> bool:
            return dict(valkey.pubsub_numsub(CHANNEL)) == {CHANNEL.encode(): ears}

        await eventually(listen)

    return begun


def skip(tables: Tables, ms: float) -> None:
    """Time passes for these tables, and nobody was away meanwhile."""
    assert tables.clock._ahead is not None
    tables.clock._ahead += ms


def stand_still(tables: Tables, ms: float) -> None:
    """Time passes for these tables, and their event loop has not turned meanwhile."""
    skip(tables, ms)
    tables.stalls._turned -= ms / 1000
    for table in tables._tables.values():
        table._learned -= ms / 1000


async def same_as_reload(page: Page) -> None:
    """A live page equals a reloaded page."""
    fresh = Page(page.address, page.headers.get("Cookie", "").removeprefix("sessionid="), "reload")
    await fresh.open()
    shown = as_shown(page)
    if page.sight["seat"] is not None:
        # The other one has taken its seat, politely; it takes it back.
        await page.open()
    await fresh.close()
    assert shown == as_shown(fresh)


async def eventually(holds: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Wait for what is true outside of any page; look ten times a second."""
    for _ in range(int(seconds * 10)):
        if await holds():
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(holds)


def garage(picture: Picture) -> list[int]:
    """The tiles that anybody may lift: those of the garage that lie among the others."""
    return [
        spot
        for spot, tile in enumerate(picture.sight["tiles"])
        if tile["place"] == "garage" and tile["lies"] in ("down", "up")
    ]


def as_shown(picture: Picture) -> str:
    return json.dumps(picture.sight, sort_keys=True)
