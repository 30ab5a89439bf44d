"""The doorbell of the lobby, of rooms and of everybody signed in: it rings for whom it concerns and tells nothing."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import OperationalError
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts import moderation
from accounts.models import EndedSession, User
from accounts.sessions import EndWatch, ExpiryWatch
from games import clock, intervention, pace, quick, rooms, rules, steps, sweep
from games.listening import MOST_BEATS, RungConsumer
from games.models import Game, Room, Seat, Waiting
from games.rules import State
from games.rules.commands import Pass
from games.rules.terms import Pace
from games.tables import Tables
from midnight.asgi import application
from tests.games.in_rooms import begin
from tests.games.written import Written
from tests.people import established
from tests.sockets import PATIENCE, Socket
from tests.table.conftest import eventually
from tests.table.inside import InnerPage

RUNG = '{"type":"rung"}'


@pytest_asyncio.fixture(autouse=True)
async def layer(transactional_db: None) -> AsyncIterator[None]:
    yield
    await get_channel_layer().flush()  # type: ignore[union-attr]


@sync_to_async
def people(*names: str) -> list[User]:
    return [established(name) for name in names]


@sync_to_async
def cookie_of(person: User) -> str:
    client = Client()
    client.force_login(person)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


async def listening(where: str, person: User | None = None, origin: str = "") -> Socket:
    headers = [(b"origin", (origin or settings.SITE_URL).encode())]
    if person is not None:
        headers.append((b"cookie", (await cookie_of(person)).encode()))
    socket = Socket(application, f"/ws/1/news{where}", headers=headers)
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
    assert await lobby.receive_from() == RUNG
    await lobby.disconnect()


async def test_the_lobby_hears_who_begins_and_who_ends_to_wait_for_a_match() -> None:
    alice, bob = await people("Alice", "Bob")
    lobby = await listening("/lobby")
    for act in (lambda: quick.enter(alice, 2), lambda: quick.leave(alice.pk)):
        await sync_to_async(act)()
        assert await lobby.receive_from() == RUNG
    for person in (alice, bob):
        await sync_to_async(quick.enter)(person, 2)
        assert await lobby.receive_from() == RUNG
    assert await sync_to_async(quick.match)(2, timezone.now()) == 1
    assert await lobby.receive_from() == RUNG
    await lobby.disconnect()


async def test_whoever_waits_for_a_match_still_does_while_the_socket_of_that_page_is_open() -> None:
    alice, bob = await people("Alice", "Bob")
    for person in (alice, bob):
        await sync_to_async(quick.enter)(person, 2 if person == alice else 3)
    await Waiting.objects.aupdate(seen=timezone.now() - 2 * quick.GONE)
    queue, elsewhere = await listening("/quick", alice), await listening("", bob)

    async def seen() -> list[bool]:
        rows = [row async for row in Waiting.objects.order_by("players")]
        return [row.seen > timezone.now() - quick.GONE for row in rows]

    for _ in range(int(PATIENCE / 0.05)):
        if any(await seen()):
            break
        await asyncio.sleep(0.05)
    assert await seen() == [True, False]
    await queue.disconnect()
    await elsewhere.disconnect()


async def test_a_room_hears_of_itself_and_a_person_of_an_invitation() -> None:
    alice, bob = await people("Alice", "Bob")
    room, other = await opened(alice, public=False), await opened(bob, public=False)
    here, there, own = (
        await listening(f"/rooms/{room.code}"),
        await listening(f"/rooms/{other.code}"),
        await listening("", bob),
    )
    await sync_to_async(rooms.invite)(room, alice, "Bob")
    assert await here.receive_from() == RUNG
    assert await own.receive_from() == RUNG
    assert await there.receive_nothing(timeout=0.3)
    for socket in (here, there, own):
        await socket.disconnect()


async def test_a_beat_says_that_a_page_is_open_and_any_other_word_ends_it() -> None:
    (alice,) = await people("Alice")
    socket = await listening("/lobby", alice)
    await socket.send_to(text_data="beat")
    await eventually(lambda: sync_to_async(pace.has_page_open)(alice.pk))
    assert await socket.receive_nothing()
    await socket.send_to(text_data="hello")
    assert (await socket.receive_output())["code"] == 4400


async def test_beats_that_come_too_often_are_not_written_down_and_at_last_end_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[int | None] = []
    monkeypatch.setattr(pace, "note_page", noted.append)
    (alice,) = await people("Alice")
    for person in (alice, None):
        socket = await listening("/lobby", person)
        noted.clear()
        for _ in range(1 + MOST_BEATS):
            await socket.send_to(text_data="beat")
        await socket.send_to(text_data="beat")
        # What it said before has been heard by then, in the order in which it was said.
        assert (await socket.receive_output())["code"] == 4429
        assert noted == ([] if person is None else [alice.pk])


async def test_the_bell_falls_silent_with_the_session() -> None:
    (alice,) = await people("Alice")
    socket = await listening("", alice)
    await sync_to_async(moderation.suspend)(alice, timezone.now() + timedelta(days=1), by="Juve")
    closed = await socket.receive_output()
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


async def test_a_visitor_has_no_news_of_their_own() -> None:
    assert (await (await listening("")).receive_output())["code"] == 4404


async def test_pages_of_other_sites_hear_nothing() -> None:
    socket = Socket(application, "/ws/1/news/lobby", headers=[(b"origin", b"https://elsewhere.example")])
    assert not (await socket.connect())[0]


@sync_to_async
def trading(*people: User, pace: Pace = "relaxed") -> tuple[Game, int | None]:
    """A game in a room, in which one of these people is to trade, and whose turn it is."""
    _, game = begin(*people, pace=pace)
    play = Written(game)
    while not passes_on(play.state):
        play.step()
    return game, play.opened.sitters[play.state.in_turn() or 0].user_id


def passes_on(state: State) -> bool:
    """Whether somebody is to trade, after whom it is the other one's turn."""
    turn = state.in_turn()
    if turn is None:
        return False
    after = steps.steps_of(state, rules.decide(state, turn, Pass(), state.at))[-1].after
    return after.in_turn() == 1 - turn


async def around(game: Game, *people: User) -> list[Socket]:
    """Pages that may change with a game: one of each of these people, and one of its room that somebody looks at."""
    assert game.room is not None
    return [*[await listening("", person) for person in people], await listening(f"/rooms/{game.room.code}")]


async def test_whose_turn_it_is_and_whose_it_was_hear_so_at_once_when_somebody_plays() -> None:
    alice, bob = await people("Alice", "Bob")
    game, first = await trading(alice, bob)
    pages = await around(game, alice, bob)
    tables = Tables()
    await tables.start()
    seat = await Seat.objects.aget(game=game, user=first)
    page = await InnerPage(seat.number).join(tables, game)
    await page.do("pass")
    for one in pages:
        assert await one.receive_from() == RUNG
    owing = [bool(await sync_to_async(pace.owed)(one.pk)) for one in (alice, bob)]
    assert owing == [first == bob.pk, first == alice.pk]
    await tables.stop()
    for one in pages:
        await one.disconnect()


async def test_they_hear_it_when_the_clock_or_staff_moves_a_game_that_no_web_process_has() -> None:
    alice, bob = await people("Alice", "Bob")
    game, first = await trading(alice, bob)
    pages = await around(game, alice, bob)
    now = await sync_to_async(clock.database_now)()
    due = (await Game.objects.aget(pk=game.pk)).wake_at or 0
    await Game.objects.filter(pk=game.pk).aupdate(wake_at=now, started_ms=F("started_ms") - (due - now))
    assert await sync_to_async(sweep.wake_overdue)() == 1
    for one in pages:
        assert await one.receive_from() == RUNG
    assert await sync_to_async(intervention.void)(game.pk)
    for one in (pages[1] if first == alice.pk else pages[0], pages[2]):
        assert await one.receive_from() == RUNG
    for one in pages:
        await one.disconnect()


async def test_a_rematch_rings_at_every_page_of_the_others() -> None:
    alice, bob = await people("Alice", "Bob")

    @sync_to_async
    def played() -> Room:
        room, game = begin(alice, bob)
        Written(game).play()
        return room

    room = await played()
    page = await listening("/lobby", bob)
    await sync_to_async(rooms.agree)(room, alice)
    assert await page.receive_from() == RUNG
    await page.disconnect()


async def test_a_live_players_other_pages_hear_of_each_turn() -> None:
    alice, bob = await people("Alice", "Bob")
    game, first = await trading(alice, bob, pace="live")
    at_table, away = (alice, bob) if first == alice.pk else (bob, alice)
    pages = [await listening("", person) for person in (at_table, away)]
    tables = Tables()
    await tables.start()
    seat = await Seat.objects.aget(game=game, user=at_table.pk)
    table_page = await InnerPage(seat.number).join(tables, game)
    await table_page.do("pass")
    assert await pages[1].receive_from() == RUNG
    assert await pages[0].receive_nothing(timeout=0.3)
    await tables.stop()
    for page in pages:
        await page.disconnect()


async def suspended(person: User) -> None:
    await sync_to_async(moderation.suspend)(person, timezone.now() + timedelta(days=1), by="Juve")


async def test_a_page_that_cannot_be_closed_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob = await people("Alice", "Bob")
    first, second, other = await listening("", alice), await listening("/lobby", alice), await listening("", bob)
    failed, close = [], RungConsumer.close

    async def fails_once(page: RungConsumer, code: int | None = None, reason: str | None = None) -> None:
        if not failed:
            failed.append(page)
            raise RuntimeError("the line is just breaking")
        await close(page, code, reason)

    monkeypatch.setattr(RungConsumer, "close", fails_once)
    await suspended(alice)
    told = [asyncio.create_task(socket.receive_output()) for socket in (first, second)]
    (closed, *_), still = await asyncio.wait(told, return_when=asyncio.FIRST_COMPLETED)
    assert (await closed)["code"] == 4401
    for task in still:
        task.cancel()
    # And the watch goes on.
    await suspended(bob)
    assert (await other.receive_output())["code"] == 4401
    assert len(failed) == 1


async def test_a_look_that_fails_is_not_the_last_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (alice,) = await people("Alice")
    socket = await listening("", alice)
    look, asked = ExpiryWatch.look, []

    def fails_once(watch: ExpiryWatch, keys: set[str]) -> set[str]:
        asked.append(watch)
        if len(asked) == 1:
            raise RuntimeError("out of luck")
        return look(watch, keys)

    monkeypatch.setattr(ExpiryWatch, "look", fails_once)
    await suspended(alice)
    assert (await socket.receive_output())["code"] == 4401
    assert "A look at the pages failed" in caplog.messages


async def test_a_look_that_the_database_does_not_answer_is_not_the_last_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (alice,) = await people("Alice")
    socket = await listening("", alice)
    answer, asked = EndWatch.look, []

    def look(watch: EndWatch) -> list[EndedSession]:
        asked.append(watch)
        if len(asked) == 1:
            raise OperationalError("cut off")
        return answer(watch)

    monkeypatch.setattr(EndWatch, "look", look)
    await sync_to_async(moderation.suspend)(alice, timezone.now() + timedelta(days=1), by="Juve")
    assert (await socket.receive_output())["code"] == 4401
    assert "The database does not answer: cut off" in caplog.messages
