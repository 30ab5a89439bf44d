"""Pages and the read API ask the database equally often however much there is: whatever is asked, by whomever."""

import math
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import middleware
from accounts.models import User
from games import archive, careers, ladder
from games.history import LENGTHS, RESULTS, Cursor
from games.ladder.boards import Key
from games.models import Game, Rating, Seat
from games.names import RULEBOOKS
from tests.games.finished import finished
from tests.games.finishes import finish, people

pytestmark = [pytest.mark.django_db(transaction=True)]

# The page of another player asks most.
MOST = 20


def play(cast: list[User], games: int) -> None:
    """Games of all kinds, ended an hour from each other."""
    for number in range(games):
        ended = timezone.now() - timedelta(hours=number)
        players = [cast[(number + seat) % len(cast)] for seat in range(2 + number % 3)]
        finish(players, pace="relaxed" if number % 4 == 3 else "live", ended=ended, listed=number % 5 != 4)
        finish(
            [cast[0], None], ended=ended, ranked=False, finish_seq=None, reason="void" if number % 2 else "bag_empty"
        )
    Seat.objects.filter(game__in=Game.objects.order_by("-pk")[: games // 3], user=cast[0]).update(conduct="left")
    ladder.rate_finished()
    careers.count_finished()


def addresses(game: Game, alice: User) -> Iterator[str]:
    """Everything there is to ask for, as a visitor and as Alice."""
    assert game.ended is not None
    name, place = quote(alice.name), Cursor(game.ended, game.pk)
    since, until = game.ended.date() - timedelta(days=3), game.ended.date() + timedelta(days=1)
    filters = [
        "",
        f"since={since}&until={until}",
        *(f"length={length}" for length, _ in LENGTHS),
        *(f"rulebook={rulebook}" for rulebook in RULEBOOKS),
        "pace=relaxed&result=void",
        f"player={name}",
        f"player={name}&opponent=Bob",
        *(f"player={name}&opponent=Bob&result={result}" for result in ("ahead", "behind")),
        *(f"player={name}&result={result}&pace=live" for result, _ in RESULTS if result in ("won", "lost", "void")),
    ]
    for asked in filters:
        yield f"/history/?{asked}"
        yield f"/history/?{asked}&after={place}"
        yield f"/history/?{asked}&before={place}"
        yield f"/api/1/games/?{asked}"
        yield f"/api/1/games/?{asked}&after={place}"
    for row in Rating.objects.filter(user=alice):
        for board, score in (("all", row.rating), ("season", row.season_gain)):
            yield f"/ladders/?pace={row.pace}&board={board}"
            yield f"/ladders/?pace={row.pace}&board={board}&after={Key(score, alice.pk)}"
            yield f"/api/1/ladders/{row.pace}/?board={board}"
            yield f"/api/1/ladders/{row.pace}/?board={board}&after={Key(score, alice.pk)}"
    yield from (
        f"/people/{name}/",
        f"/people/{name}/opponents/",
        f"/people/{name}/opponents/?after=1~0",
        "/people/Bob/",
    )
    yield from (f"/games/{game.code}/story/", f"/games/{game.code}/rating/", f"/games/{game.code}/record.json")
    yield from (f"/api/1/games/{game.code}/", f"/api/1/games/{game.code}/record/")
    yield from (f"/api/1/players/?name={name}", f"/api/1/players/{alice.pk}/", "/api/1/dumps/", "/data/")


def own_addresses(alice: User) -> Iterator[str]:
    yield from (f"/history/?player={quote(alice.name)}&result=left", "/letters/")


def questions(client: Client, asked: list[str]) -> dict[str, int]:
    found = {}
    for number, address in enumerate(asked):
        with CaptureQueriesContext(connection) as captured:
            # Another address each time: nobody asks too often.
            response = client.get(address, REMOTE_ADDR=f"10.1.{number // 250}.{number % 250}")
        assert response.status_code == 200, address
        found[address] = len(captured)
    return found


@pytest.mark.slow
def test_however_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first page of all notes that the person is here; on a slow machine a later one would do so again.
    monkeypatch.setattr(middleware, "NOTED_EVERY", math.inf)
    monkeypatch.setattr(middleware, "MOVED_EVERY", math.inf)
    cast = people("Alice", "Bob", "Charlie", "Dora")
    alice, visitor = Client(), Client()
    alice.force_login(cast[0], settings.AUTHENTICATION_BACKENDS[0])
    game = finished("fr-3-ranked", cast[:3])
    archive.archive(game.pk)
    play(cast, 8)
    alice.get("/data/")
    asked = list(addresses(game, cast[0]))
    own = [*asked, *own_addresses(cast[0])]
    few = questions(visitor, asked), questions(alice, own)
    play([*cast, *people(*(f"Player {number}" for number in range(30)))], 60)
    many = questions(visitor, asked), questions(alice, own)
    for before, after in zip(few, many, strict=True):
        assert {
            address: (before[address], after[address]) for address in before if before[address] < after[address]
        } == {}
        assert {a: n for a, n in after.items() if n > MOST} == {}
