"""What a player's page shows: all of it from columns and from the ledger, in a fixed number of questions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Q, Sum
from django.utils import formats

from accounts.models import User
from games import charts, history
from games.charts import Chart
from games.ladder import boards, ledger
from games.models import Figures, Game, RatingEvent, Seat
from games.rating import Standing

RATED_GAMES = 100
SEARCHES = 50
BEST_WINS = 5
OPPONENTS = 10
RECENT_GAMES = 5
MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class LadderLine:
    """Where somebody stands on one ladder, and the way there: the last rated games, the oldest first."""

    pace: Game.Pace
    standing: Standing
    events: Sequence[RatingEvent]

    @property
    def chart(self) -> Chart | None:
        """The rating after each of these games; one game alone draws no line."""
        if not self.events:
            return None
        values = [float(self.events[0].before), *(float(event.after) for event in self.events)]
        dates = [_day(event.at) for event in self.events]
        return charts.curve([dates[0], *dates], values, around=100)


@dataclass(frozen=True, slots=True)
class BestWin:
    """A rated game that was won against somebody who stood high."""

    game: Game
    opponent: User
    standing: Standing


@dataclass(frozen=True, slots=True)
class Opponent:
    """How often two people met, and who was ahead."""

    user: User
    games: int
    ahead: int
    behind: int


@dataclass(frozen=True, slots=True)
class Searches:
    """How fast the hand was in the last games, in tiles stashed a minute, and what it went for."""

    chart: Chart | None
    speeds: Sequence[tuple[datetime, float]]
    plan: str
    plan_games: int


@dataclass(frozen=True, slots=True)
class Totals:
    """All finished games with a result."""

    games: int
    won: int
    most_points: int | None
    completed: int
    uniques: int


@dataclass(frozen=True, slots=True)
class Profile:
    ladders: Sequence[LadderLine]
    totals: Totals
    best_wins: Sequence[BestWin]
    opponents: Sequence[Opponent]
    searches: Searches
    recent: history.Page
    # How often this person stayed, left, was missing, was removed: for their own eyes only.
    conduct: Sequence[tuple[str, int]]


def profile(player: User, viewer: int | None) -> Profile:
    """The page of this player for whoever asks."""
    in_force = {pace: ledger.spans(pace) for pace in Game.Pace.values}
    return Profile(
        ladders=_ladders(player, in_force),
        totals=_totals(player),
        best_wins=_best_wins(player, in_force),
        opponents=_opponents(player),
        searches=_searches(player),
        recent=history.page({"player": player}, viewer=viewer, size=RECENT_GAMES),
        conduct=_conduct(player) if player.pk == viewer else (),
    )


def _ladders(player: User, in_force: dict[str, list[ledger.Span]]) -> list[LadderLine]:
    kept = {row.pace: Standing(row.rating, row.games) for row in boards.in_force().filter(user=player).order_by("pace")}
    lines = []
    for pace in Game.Pace:
        latest = RatingEvent.objects.filter(ledger.in_force(pace, in_force[pace]), player=player)
        events = list(latest.select_related("game").order_by("-finish_seq")[:RATED_GAMES])
        lines.append(LadderLine(pace, kept.get(pace, Standing()), events[::-1]))
    return lines


def _totals(player: User) -> Totals:
    found = Seat.objects.filter(user=player, ended__isnull=False, place__isnull=False).aggregate(
        games=Count("pk"),
        won=Count("pk", filter=Q(place=1)),
        most_points=Max("points"),
        completed=Sum("figures__completed"),
        uniques=Sum("figures__uniques"),
    )
    # Figures count points; a unique piece is three of them (R6.1).
    return Totals(
        found["games"], found["won"], found["most_points"], found["completed"] or 0, (found["uniques"] or 0) // 3
    )


def _best_wins(player: User, in_force: dict[str, list[ledger.Span]]) -> list[BestWin]:
    counting = Q(pk__in=[])
    for pace, spans in in_force.items():
        counting |= ledger.in_force(pace, spans)
    won = Seat.objects.filter(user=player, place=1, ended__isnull=False, game__rated=Game.Rated.RATED)
    beaten = RatingEvent.objects.filter(counting, game__in=won.values("game"), game__listed=True).exclude(player=player)
    best = beaten.select_related("game", "player").order_by("-before", "-finish_seq")[:BEST_WINS]
    return [BestWin(event.game, event.player, Standing(event.before, event.games_before)) for event in best]


def _opponents(player: User) -> list[Opponent]:
    met = (
        Seat.objects.filter(game__seats__user=player, user__isnull=False, place__isnull=False)
        .exclude(user=player)
        .values("user")
        .annotate(
            games=Count("pk"),
            ahead=Count("pk", filter=Q(place__gt=F("game__seats__place"))),
            behind=Count("pk", filter=Q(place__lt=F("game__seats__place"))),
        )
        .order_by("-games", "user")[:OPPONENTS]
    )
    rows = list(met)
    users = User.objects.in_bulk([row["user"] for row in rows])
    return [Opponent(users[row["user"]], row["games"], row["ahead"], row["behind"]) for row in rows]


def _searches(player: User) -> Searches:
    searched = Figures.objects.filter(seat__user=player, seat__ended__isnull=False)
    plans: dict[str, int] = dict(
        searched.exclude(plan="").values_list("plan").annotate(games=Count("pk")).order_by("-games", "plan")[:1]
    )
    latest = searched.filter(searched_ms__gt=0).order_by("-seat__ended", "-seat__game")
    rows = latest.values_list("seat__ended", "stashes", "searched_ms")[:SEARCHES]
    speeds = [(ended, round(stashes * MINUTE_MS / ms, 1)) for ended, stashes, ms in reversed(rows) if ended]
    chart = None
    if len(speeds) > 1:
        chart = charts.curve([_day(ended) for ended, _ in speeds], [speed for _, speed in speeds], around=5)
    plan, games = next(iter(plans.items()), ("", 0))
    return Searches(chart, speeds, plan, games)


def _conduct(player: User) -> list[tuple[str, int]]:
    counted: defaultdict[str, int] = defaultdict(int)
    seats = Seat.objects.filter(user=player, ended__isnull=False).exclude(conduct="")
    counted.update(seats.values_list("conduct").annotate(games=Count("pk")).order_by())
    return [(str(conduct.label), counted[conduct]) for conduct in Seat.Conduct]


def _day(moment: datetime) -> str:
    return formats.date_format(moment, "SHORT_DATE_FORMAT")
