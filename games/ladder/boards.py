"""Where people stand: single ratings, and the boards of each ladder."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, Self, get_args

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value, Window
from django.db.models.functions import Coalesce, RowNumber

from accounts.models import User
from games.ladder.finished import season_of
from games.models import Game, Ladder, Milestone, Rating
from games.rating import PROVISIONAL_GAMES, Standing

Board = Literal["all", "season"]
ACTIVE_DAYS = 90
PAGE = 50
# Every so manieth place of a board is noted down.
MILESTONE = 1_000
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
    """A page of a leaderboard: who has enough rated games and played lately, the best first; nobody whose account is
    closed.

    The order is exact, and so are the places of a thousand people; among more, a place is what it was a minute ago.
    """
    listed = _Listed.on(pace, kind, now)
    ordered = listed.rows.order_by(f"-{listed.column}", "user").select_related("user")
    if after is not None:
        ordered = ordered.filter(_behind(listed.column, after))
    rows = list(ordered[: PAGE + 1])
    more = len(rows) > PAGE
    rows = rows[:PAGE]
    own = listed.key_before(user_id)
    return BoardPage(
        rows,
        first=1 if after is None else 1 + listed.count(after),
        next=Key(getattr(rows[-1], listed.column), rows[-1].user_id) if more else None,
        own_place=1 + listed.count(own) if own else None,
        own_key=own,
        total=listed.count(None),
    )


def set_milestones(now: datetime) -> None:
    """Note who stands at every so manieth place of each board: the places of others are counted from there."""
    for pace in Game.Pace.values:
        for kind in get_args(Board):
            listed = _Listed.on(pace, kind, now)
            place = Window(RowNumber(), order_by=[F(listed.column).desc(), F("user").asc()])
            noted = listed.rows.annotate(place=place, rest=F("place") % MILESTONE).filter(rest=0)
            found = [
                Milestone(
                    pace=pace,
                    board=kind,
                    generation=listed.generation,
                    season=season_of(now),
                    place=number,
                    score=score,
                    user_id=user_id,
                )
                for number, score, user_id in noted.values_list("place", listed.column, "user")
            ]
            with transaction.atomic():
                # Two at once leave them twice, which changes nothing.
                Milestone.objects.filter(pace=pace, board=kind).delete()
                Milestone.objects.bulk_create(found)


@dataclass(frozen=True, slots=True)
class _Listed:
    """Who is on a board, by what they are ordered, and the milestones along it."""

    rows: QuerySet[Rating]
    column: str
    generation: int
    milestones: QuerySet[Milestone]

    @classmethod
    def on(cls, pace: str, kind: Board, now: datetime) -> Self:
        generation = Ladder.objects.filter(pk=pace).values_list("generation", flat=True).first() or 0
        season = season_of(now)
        rows = Rating.objects.filter(
            pace=pace,
            generation=generation,
            games__gte=PROVISIONAL_GAMES,
            last_played__gte=now - timedelta(days=ACTIVE_DAYS),
        ).exclude(Exists(User.objects.filter(pk=OuterRef("user"), closed_at__isnull=False, deleted_at__isnull=True)))
        milestones = Milestone.objects.filter(pace=pace, board=kind, generation=generation, season=season)
        if kind == "all":
            return cls(rows, "rating", generation, milestones)
        return cls(rows.filter(season=season), "season_gain", generation, milestones)

    def count(self, up_to: Key | None) -> int:
        """How many stand up to this place, or in all: those up to the last milestone, and the few behind it."""
        rows, milestones = self.rows, self.milestones
        if up_to is not None:
            rows, milestones = rows.filter(_up_to(self.column, up_to)), milestones.filter(_up_to("score", up_to))
        last = milestones.order_by("-place").first()
        if last is None:
            return rows.count()
        return last.place + rows.filter(_behind(self.column, Key(last.score, last.user_id))).count()

    def key_before(self, user_id: int | None) -> Key | None:
        """Where a page begins that this person is the first on."""
        own = self.rows.filter(user=user_id).values_list(self.column, flat=True).first() if user_id else None
        return None if own is None or user_id is None else Key(own, user_id - 1)


def _behind(column: str, place: Key) -> Q:
    # The first condition says nothing new, but an index understands it; so below.
    lower = Q(**{f"{column}__lt": place.score}) | Q(user__gt=place.user_id)
    return Q(**{f"{column}__lte": place.score}) & lower


def _up_to(column: str, place: Key) -> Q:
    """Everybody who is not behind this place."""
    higher = Q(**{f"{column}__gt": place.score}) | Q(user__lte=place.user_id)
    return Q(**{f"{column}__gte": place.score}) & higher
