"""What a player's page shows: all of it from columns and from the ledger, in a fixed number of questions.

Who has played thousands of games waits no longer than others: what is counted over all of them was counted as they
ended (`careers.py`), and a chart shows the latest ones and says so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import Q, QuerySet
from django.utils import formats

from accounts.models import User
from games import charts, history
from games.charts import Chart
from games.ladder import boards, ledger
from games.models import Career, Figures, Game, Opponent, RatingEvent, Seat
from games.rating import Standing

# A chart is of so many games, the latest ones.
LATEST = 100
RATED_GAMES = 100
BEST_WINS = 5
OPPONENTS = 10
OPPONENTS_A_PAGE = 50
RECENT_GAMES = 5
MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class LadderLine:
    """Where somebody stands on one ladder, and the way there: the last rated games, the oldest first."""

    pace: Game.Pace
    standing: Standing
    events: Sequence[RatingEvent]

    @property
    def more(self) -> bool:
        """Whether there were rated games before these."""
        return self.standing.games > len(self.events)

    @property
    def chart(self) -> Chart | None:
        """The rating after each of these games; one game alone draws no line."""
        if not self.events:
            return None
        values = [float(self.events[0].before), *(float(event.after) for event in self.events)]
        moments = [event.at for event in self.events]
        return charts.curve([moments[0], *moments], values, around=100, name=_day)


@dataclass(frozen=True, slots=True)
class BestWin:
    """A rated game that was won, and who stood highest of those who lost it."""

    game: Game
    opponent: User
    standing: Standing


@dataclass(frozen=True, slots=True)
class Searches:
    """How fast the hand was in the latest games, in tiles stashed a minute; `only` where there were more of them."""

    chart: Chart | None
    speeds: Sequence[tuple[datetime, float]]
    only: int | None


@dataclass(frozen=True, slots=True)
class Profile:
    career: Career
    plan: str
    ladders: Sequence[LadderLine]
    best_wins: Sequence[BestWin]
    opponents: Sequence[Opponent]
    more_opponents: bool
    searches: Searches
    recent: history.Page
    # How often this person stayed, left, was missing, was removed: for their own eyes only.
    conduct: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Played:
    """One seat that the player has had; the figures are None until the game is archived."""

    ended: datetime
    listed: bool
    stashes: int | None
    searched_ms: int | None


SHOWN = ("at", "before", "delta", "after", "game__code", "game__listed")


def profile(player: User, viewer: int | None) -> Profile:
    """The page of this player for whoever asks."""
    in_force = ledger.spans_by_pace(Game.Pace.values)
    career = Career.objects.filter(pk=player.pk).first() or Career()
    played = _played(player)
    asked: dict[str, Any] = {"player": player}
    only = LATEST if len(played) > LATEST else None
    if only:
        # Nobody looks through thousands of games that are not listed for the few that are.
        asked["since"] = played.pop().ended.date()
    opponents = list(_opponents(player)[: OPPONENTS + 1])
    own = player.pk == viewer
    ladders = _ladders(player, in_force)
    # The latest games are among the latest rated ones, if they are rated.
    lines = {event.game_id: event for line in ladders for event in line.events}
    return Profile(
        career=career,
        plan=_favourite_plan(career),
        ladders=ladders,
        best_wins=_best_wins(player, in_force),
        opponents=opponents[:OPPONENTS],
        more_opponents=len(opponents) > OPPONENTS,
        # When a game that is not listed was played is for its players; of rated ones the ladder tells everybody.
        searches=_searches([one for one in played if one.listed or own], only),
        recent=history.page(asked, viewer=viewer, size=RECENT_GAMES, lines=lines),
        conduct=[(str(kind.label), getattr(career, kind)) for kind in Seat.Conduct] if own else (),
    )


def _played(player: User) -> list[Played]:
    """The latest games, the last one first, and one more than are shown where there are more; no walkovers."""
    seats = Seat.objects.filter(user=player, ended__isnull=False, game__rounds__gt=0).order_by("-ended", "-game_id")
    rows = seats.values_list("ended", "game__listed", "figures__stashes", "figures__searched_ms")
    return [Played(ended, listed, *figures) for ended, listed, *figures in rows[: LATEST + 1] if ended]


def _favourite_plan(career: Career) -> str:
    best = max(Figures.Plan.values, key=lambda plan: getattr(career, plan))
    return best if getattr(career, best) else ""


def _ladders(player: User, in_force: dict[str, list[ledger.Span]]) -> list[LadderLine]:
    kept = {row.pace: Standing(row.rating, row.games) for row in boards.in_force().filter(user=player).order_by("pace")}
    lines = []
    for pace in Game.Pace:
        shown = (
            ledger.lines_of(player.pk, pace, in_force[pace]).select_related("game").only(*SHOWN).order_by("-finish_seq")
        )
        events = list(shown[:RATED_GAMES])
        lines.append(LadderLine(pace, kept.get(pace, Standing()), events[::-1]))
    return lines


def _best_wins(player: User, in_force: dict[str, list[ledger.Span]]) -> list[BestWin]:
    won: list[RatingEvent] = []
    for pace in Game.Pace.values:
        beaten = ledger.lines_of(player.pk, pace, in_force[pace]).filter(beaten__isnull=False)
        won += beaten.order_by("-beaten", "-finish_seq")[:BEST_WINS]
    won.sort(key=lambda line: (line.beaten, line.at), reverse=True)
    games = {line.game_id: line for line in won[:BEST_WINS]}
    found = {}
    for line in RatingEvent.objects.filter(game__in=games).exclude(player=player).select_related("game", "player"):
        own = games[line.game_id]
        if (line.generation, line.before) == (own.generation, own.beaten) and line.game.listed:
            found[line.game_id] = BestWin(line.game, line.player, Standing(line.before, line.games_before))
    return [found[game] for game in games if game in found]


def _opponents(player: User) -> QuerySet[Opponent]:
    """Everybody whom this player has met, whom most often first."""
    return Opponent.objects.filter(user=player).select_related("opponent").order_by("-games", "opponent_id")


@dataclass(frozen=True, slots=True)
class Met:
    """A place in a list of opponents: after the one who was met so often and has this id."""

    games: int
    opponent_id: int

    def __str__(self) -> str:
        return f"{self.games}~{self.opponent_id}"

    @classmethod
    def read(cls, text: str) -> Self | None:
        found = re.fullmatch(r"(\d{1,9})~(\d{1,18})", text, re.ASCII)
        return cls(int(found[1]), int(found[2])) if found else None


def opponents(player: User, after: Met | None) -> tuple[list[Opponent], Met | None]:
    """A page of everybody whom this player has met, and where the next one begins."""
    found = _opponents(player)
    if after:
        found = found.filter(Q(games__lt=after.games) | Q(opponent__gt=after.opponent_id), games__lte=after.games)
    rows = list(found[: OPPONENTS_A_PAGE + 1])
    rows, more = rows[:OPPONENTS_A_PAGE], len(rows) > OPPONENTS_A_PAGE
    return rows, Met(rows[-1].games, rows[-1].opponent_id) if more else None


def _searches(played: Sequence[Played], only: int | None) -> Searches:
    speeds = [
        (one.ended, round(one.stashes * MINUTE_MS / one.searched_ms, 1))
        for one in reversed(played)
        if one.searched_ms and one.stashes is not None
    ]
    chart = None
    if len(speeds) > 1:
        moments, values = zip(*speeds, strict=True)
        chart = charts.curve(moments, values, around=5, name=_day)
    return Searches(chart, speeds, only)


def _day(moment: datetime) -> str:
    return formats.date_format(moment, "SHORT_DATE_FORMAT")
