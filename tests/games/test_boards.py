"""The boards of a ladder: everybody once and in one order, whoever is level with whom, and one's own place on them."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import closing
from accounts.models import User
from games import ladder
from games.ladder import boards
from games.ladder.boards import Board, Key
from games.ladder.finished import season_of
from games.models import Ladder, Milestone, Rating
from games.tasks import set_milestones

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

KINDS: tuple[Board, ...] = ("all", "season")
PLAYERS = 130


def rating(user: User, score: int, *, games: int = 10, played: datetime | None = None, season_ago: int = 0) -> Rating:
    """So many points, of all time and in the season."""
    now = timezone.now()
    return Rating(
        user=user,
        pace="live",
        generation=0,
        rating=Decimal(score),
        games=games,
        last_played=played or now,
        season=season_of(now - timedelta(days=season_ago)),
        season_gain=Decimal(score - 1_500),
    )


def rated(number: int, score: int, **fields: Any) -> User:
    """One more who plays."""
    user = User.objects.create_user(f"Player {number}")
    rating(user, score, **fields).save()
    return user


@pytest.fixture(params=[1_000, 10], ids=["short", "long"])
def crowd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[User]:
    """Best first: each score is that of seven people, who stand in the order in which they came.

    On a short board everybody is counted, on a long one from milestone to milestone.
    """
    monkeypatch.setattr(boards, "MILESTONE", request.param)
    Ladder.objects.create(pace="live")
    names = [f"Somebody {number}" for number in range(PLAYERS)]
    crowd = User.objects.bulk_create(User(name=name, folded_name=name.lower()) for name in names)
    Rating.objects.bulk_create(rating(user, 1_600 - number // 7) for number, user in enumerate(crowd))
    set_milestones()
    assert Milestone.objects.count() == 2 * (PLAYERS // request.param)
    return crowd


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


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_has_closed_their_account_is_on_no_board_before_they_come_back(crowd: list[User], kind: Board) -> None:
    gone, own = [crowd[0], crowd[9], crowd[60]], crowd[77]
    second = ladder.board("live", kind, timezone.now(), None, None).next
    for user in gone:
        closing.close(user)
    set_milestones()
    stay = [user for user in crowd if user not in gone]
    assert walk(kind) == [(place, user.pk) for place, user in enumerate(stay, start=1)]
    page = ladder.board("live", kind, timezone.now(), None, own.pk)
    assert (page.own_place, page.total) == (stay.index(own) + 1, len(stay))
    there = ladder.board("live", kind, timezone.now(), page.own_key, None)
    assert (there.first, there.rows[0].user_id) == (page.own_place, own.pk)
    # An address from before leads to those whom it led to.
    assert ladder.board("live", kind, timezone.now(), second, None).rows[0].user_id == crowd[boards.PAGE].pk
    closing.reopen(gone[0])
    for user in gone[1:]:
        closing.delete(user)
    set_milestones()
    assert walk(kind) == [(place, user.pk) for place, user in enumerate(crowd, start=1)]


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
    assert max(asked.values()) <= 20


def test_whoever_comes_after_the_milestones_were_set_is_listed_and_counted_with_the_next_ones(
    crowd: list[User],
) -> None:
    best, last = rated(400, 2_000), rated(401, 1_000)
    own = {user.pk: ladder.board("live", "all", timezone.now(), None, user.pk) for user in (best, last)}
    assert own[best.pk].rows[0].user_id == best.pk
    assert own[best.pk].own_place == 1
    assert PLAYERS < (own[last.pk].own_place or 0) <= PLAYERS + 2
    for _ in range(2):
        set_milestones()
        page = ladder.board("live", "all", timezone.now(), None, last.pk)
        assert (page.own_place, page.total) == (PLAYERS + 2, PLAYERS + 2)
    assert walk("all") == [(place, user.pk) for place, user in enumerate([best, *crowd, last], start=1)]


def test_milestones_of_another_generation_or_season_count_for_nothing(crowd: list[User]) -> None:
    Milestone.objects.update(generation=7, place=9_000)
    assert ladder.board("live", "all", timezone.now(), None, crowd[-1].pk).own_place == PLAYERS
    Milestone.objects.update(generation=0, season=season_of(timezone.now() - timedelta(days=100)))
    assert ladder.board("live", "season", timezone.now(), None, crowd[-1].pk).own_place == PLAYERS


def _key(kind: Board, user: User) -> Key:
    row = Rating.objects.get(user=user)
    return Key(row.season_gain if kind == "season" else row.rating, user.pk)
