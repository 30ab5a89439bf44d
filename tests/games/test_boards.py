"""The boards of a ladder: everybody once and in one order, whoever is level with whom, and one's own place on them."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games import ladder
from games.ladder import boards
from games.ladder.boards import Board, Key
from games.ladder.finished import season_of
from games.models import Ladder, Rating

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

KINDS: tuple[Board, ...] = ("all", "season")
PLAYERS = 130


def rated(number: int, score: int, *, games: int = 10, played: datetime | None = None, season_ago: int = 0) -> User:
    """Somebody with so many points, of all time and in the season."""
    user = User.objects.create_user(f"Player {number}")
    now = timezone.now()
    Rating.objects.create(
        user=user,
        pace="live",
        generation=0,
        rating=Decimal(score),
        games=games,
        last_played=played or now,
        season=season_of(now - timedelta(days=season_ago)),
        season_gain=Decimal(score - 1_500),
    )
    return user


@pytest.fixture
def crowd() -> list[User]:
    """Best first: each score is that of seven people, who stand in the order in which they came."""
    Ladder.objects.create(pace="live")
    return [rated(number, 1_600 - number // 7) for number in range(PLAYERS)]


def walk(kind: Board) -> list[tuple[int, int]]:
    """Places and people, page after page."""
    found: list[tuple[int, int]] = []
    after: Key | None = None
    while True:
        page = ladder.board("live", kind, timezone.now(), after, None)
        found += [(place, row.user_id) for place, row in enumerate(page.rows, start=page.first)]
        if page.next is None:
            return found
        assert Key.read(str(page.next)) == page.next
        after = page.next


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_is_listed_once_whoever_is_level(crowd: list[User], kind: Board) -> None:
    assert boards.PAGE < PLAYERS
    assert walk(kind) == [(place, user.pk) for place, user in enumerate(crowd, start=1)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [1, 3, 7, 8, 77, PLAYERS])
def test_ones_own_place_is_where_the_list_has_it_and_leads_there(crowd: list[User], kind: Board, place: int) -> None:
    own = crowd[place - 1]
    page = ladder.board("live", kind, timezone.now(), None, own.pk)
    assert (page.own_place, page.total) == (place, PLAYERS)
    there = ladder.board("live", kind, timezone.now(), page.own_key, own.pk)
    assert (there.first, there.rows[0].user_id) == (place, own.pk)
    assert there.own_place == place


def test_whoever_is_not_on_a_board_has_no_place_there(crowd: list[User]) -> None:
    young = rated(200, 1_900, games=9)
    away = rated(201, 1_900, played=timezone.now() - timedelta(days=91))
    last_season = rated(202, 1_900, season_ago=100)
    now = timezone.now()
    for user, listed in ((young, set()), (away, set()), (last_season, {"all"})):
        places = {kind: ladder.board("live", kind, now, None, user.pk).own_place for kind in KINDS}
        assert {kind for kind, place in places.items() if place} == listed
        assert ladder.board("relaxed", "all", now, None, user.pk).own_place is None
    assert ladder.board("live", "all", now, None, last_season.pk).own_place == 1


def test_a_page_stays_where_it_was_when_whoever_it_followed_has_gone(crowd: list[User]) -> None:
    first = ladder.board("live", "all", timezone.now(), None, None)
    before = ladder.board("live", "all", timezone.now(), first.next, None)
    Rating.objects.filter(user=first.rows[-1].user).delete()
    rated(300, 2_000)
    after = ladder.board("live", "all", timezone.now(), first.next, None)
    assert [row.user_id for row in after.rows] == [row.user_id for row in before.rows]
    assert after.first == before.first


def test_every_page_asks_the_database_equally_often(crowd: list[User]) -> None:
    client = Client()
    client.force_login(crowd[100], settings.AUTHENTICATION_BACKENDS[0])
    client.get("/ladders/")
    asked = {}
    for kind in KINDS:
        for place in (0, 1, 60, PLAYERS - 1):
            key = f"&after={_key(kind, crowd[place - 1])}" if place else ""
            with CaptureQueriesContext(connection) as questions:
                page = client.get(f"/ladders/?board={kind}{key}").content.decode()
            asked[kind, place] = len(questions)
            assert f"You are number 101 of {PLAYERS}." in page
    # The number of the first line is asked for where it is not the first of all.
    assert len({number for (_, place), number in asked.items() if place}) == 1
    assert max(asked.values()) <= 12


def _key(kind: Board, user: User) -> Key:
    row = Rating.objects.get(user=user)
    return Key(row.season_gain if kind == "season" else row.rating, user.pk)
