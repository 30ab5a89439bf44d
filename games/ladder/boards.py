"""Where people stand: single ratings, and the boards of each ladder."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, Self

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from games.ladder.finished import season_of
from games.models import Ladder, Rating
from games.rating import PROVISIONAL_GAMES, Standing

Board = Literal["all", "season"]
ACTIVE_DAYS = 90
PAGE = 50
KEY = re.compile(r"(-?\d{1,5}\.\d\d)~(\d{1,18})", re.ASCII)


def in_force() -> QuerySet[Rating]:
    """The ratings that count, of all ladders."""
    generation = Ladder.objects.filter(pk=OuterRef("pace")).values("generation")
    return Rating.objects.filter(generation=Coalesce(Subquery(generation), Value(0)))


def standing(user_id: int, pace: str) -> Standing:
    """What this person has on a ladder; a newcomer's start where there is nothing yet."""
    return standings([user_id], pace)[user_id]


def standings(user_ids: Iterable[int], pace: str) -> dict[int, Standing]:
    """The same for several people, with one question."""
    ids = list(user_ids)
    kept = in_force().filter(pace=pace, user__in=ids).values_list("user", "rating", "games")
    found = {user_id: Standing(rating, games) for user_id, rating, games in kept}
    return {user_id: found.get(user_id, Standing()) for user_id in ids}


@dataclass(frozen=True, slots=True)
class Key:
    """Where a page of a board begins: after this score and this person. Nobody is shown twice or left out by it."""

    score: Decimal
    user_id: int

    def __str__(self) -> str:
        return f"{self.score}~{self.user_id}"

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = KEY.fullmatch(text)
        return cls(Decimal(found[1]), int(found[2])) if found else None


@dataclass(frozen=True, slots=True)
class BoardPage:
    """Some lines of a board in their order, the number of the first one, and where its neighbours begin."""

    rows: list[Rating]
    first: int
    next: Key | None
    own_place: int | None
    own_key: Key | None
    total: int


def board(pace: str, kind: Board, now: datetime, after: Key | None, user_id: int | None) -> BoardPage:
    """A page of a leaderboard: who has enough rated games and played lately, the best first."""
    eligible = _eligible(pace, kind, now)
    column = "season_gain" if kind == "season" else "rating"
    ordered = eligible.order_by(f"-{column}", "user").select_related("user")
    if after is not None:
        ordered = ordered.filter(_behind(column, after))
    rows = list(ordered[: PAGE + 1])
    more = len(rows) > PAGE
    rows = rows[:PAGE]
    last = Key(getattr(rows[-1], column), rows[-1].user_id) if more else None
    first = 1 if after is None else 1 + eligible.filter(_up_to(column, after)).count()
    place, key = _own_place(eligible, column, user_id)
    return BoardPage(rows, first, last, place, key, eligible.count())


def _eligible(pace: str, kind: Board, now: datetime) -> QuerySet[Rating]:
    ladder = Ladder.objects.filter(pk=pace).values_list("generation", flat=True).first() or 0
    found = Rating.objects.filter(
        pace=pace,
        generation=ladder,
        games__gte=PROVISIONAL_GAMES,
        last_played__gte=now - timedelta(days=ACTIVE_DAYS),
    )
    return found.filter(season=season_of(now)) if kind == "season" else found


def _behind(column: str, place: Key) -> Q:
    # The first condition says nothing new, but an index understands it; so below.
    lower = Q(**{f"{column}__lt": place.score}) | Q(user__gt=place.user_id)
    return Q(**{f"{column}__lte": place.score}) & lower


def _up_to(column: str, place: Key) -> Q:
    """Everybody who is not behind this place."""
    higher = Q(**{f"{column}__gt": place.score}) | Q(user__lte=place.user_id)
    return Q(**{f"{column}__gte": place.score}) & higher


def _own_place(eligible: QuerySet[Rating], column: str, user_id: int | None) -> tuple[int | None, Key | None]:
    """Somebody's place on a board, and where a page begins that they are the first on."""
    own = eligible.filter(user=user_id).values_list(column, flat=True).first() if user_id else None
    if own is None or user_id is None:
        return None, None
    before = Key(own, user_id - 1)
    return 1 + eligible.filter(_up_to(column, before)).count(), before
