"""A player's page costs the database no more however much somebody has played.

SQLite counts its steps, which are the same every time: so this is looked at there, and needs neither many games nor
a clock.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection

from accounts.models import User
from games import careers, ladder, lobby, pace, profiles
from games.models import Figures, Game, Seat
from tests.games.finishes import FIRST_END, finish, people

pytestmark = pytest.mark.django_db(transaction=True)

FEW, MANY = 12, 120


@pytest.fixture(autouse=True)
def _few_games_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "LATEST", 5)
    monkeypatch.setattr(profiles, "RATED_GAMES", 5)


def play(players: list[User], first: int, last: int, listed: bool) -> None:
    """One game a day, each of them rated and with its figures."""
    for number in range(first, last):
        finish(players, ended=FIRST_END + timedelta(days=number), listed=listed)
    ladder.rate_finished()
    numbers = [field.attname for field in Figures._meta.concrete_fields if field.attname not in {"seat_id", "plan"}]
    Figures.objects.bulk_create(
        Figures(seat=seat, plan=Figures.Plan.SAFE, **dict.fromkeys(numbers, 3))
        for seat in Seat.objects.filter(figures=None)
    )
    careers.count_finished()


def steps(work: Callable[[], object]) -> int:
    """What the database does for this, step by step: of more steps at a time, a query that was asked before has some
    left over."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.connection.set_progress_handler(count, 1)
    try:
        work()
    finally:
        connection.connection.set_progress_handler(None, 0)
    return taken


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
@pytest.mark.slow
def test_the_work_does_not_grow_with_the_games(listed: bool) -> None:
    cast = people("Alice", "Bob", "Charlie")
    play(cast, 0, FEW, listed)
    for game in Game.objects.order_by("pk")[:2]:
        ladder.void_game(game.pk, None)
        ladder.replay()
    pages = [partial(profiles.profile, cast[0], viewer) for viewer in (None, cast[0].pk)]
    before = [steps(page) for page in pages]
    play(cast, FEW, MANY, listed)
    after = [steps(page) for page in pages]
    assert min(before) > 500
    for few, many in zip(before, after, strict=True):
        assert many < 1.1 * few


@pytest.mark.slow
def test_whose_turn_it_is_is_found_without_looking_at_finished_games() -> None:
    cast = people("Alice", "Bob", "Charlie")
    asked = [partial(pace.owed, cast[0].pk), partial(lobby.running_games, cast[0].pk)]
    play(cast, 0, FEW, listed=True)
    before = [steps(one) for one in asked]
    play(cast, FEW, MANY, listed=True)
    assert [steps(one) for one in asked] == before
