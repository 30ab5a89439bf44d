"""What a player's page shows: all of it from columns and from the ledger, in a fixed number of questions.

Who has played thousands of games waits no longer than others: what is counted is the latest games, and the page says
so. Where somebody stands comes from their row on the ladder, which has counted every game.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import formats

from accounts.models import User
from games import charts, history
from games.charts import Chart
from games.ladder import boards, ledger
from games.models import Game, RatingEvent, Seat
from games.rating import Standing

# So many of the latest games are counted.
LATEST = 200
RATED_GAMES = 100
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
    def more(self) -> bool:
        """Whether there were rated games before these."""
        return self.standing.games > len(self.events)

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
    """How fast the hand was in the games that are counted, in tiles stashed a minute, and what it went for."""

    chart: Chart | None
    speeds: Sequence[tuple[datetime, float]]
    plan: str
    plan_games: int


@dataclass(frozen=True, slots=True)
class Totals:
    """The games with a result among those that are counted."""

    games: int
    won: int
    most_points: int | None
    completed: int
    uniques: int


@dataclass(frozen=True, slots=True)
class Profile:
    # How many games are counted, where there are more than that.
    only: int | None
    ladders: Sequence[LadderLine]
    totals: Totals
    best_wins: Sequence[BestWin]
    opponents: Sequence[Opponent]
    searches: Searches
    recent: history.Page
    # How often this person stayed, left, was missing, was removed: for their own eyes only.
    conduct: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Played:
    """One seat that the player has had; the figures are None until the game is archived."""

    game: int
    ended: datetime
    place: int | None
    points: int | None
    conduct: str
    plan: str | None
    stashes: int | None
    searched_ms: int | None
    completed: int | None
    uniques: int | None


PLAYED = ("game", "ended", "place", "points", "conduct")
SHOWN = ("at", "before", "delta", "after", "game__code", "game__listed")
COUNTED = ("plan", "stashes", "searched_ms", "completed", "uniques")


def profile(player: User, viewer: int | None) -> Profile:
    """The page of this player for whoever asks."""
    in_force = {pace: ledger.spans(pace) for pace in Game.Pace.values}
    played = _played(player)
    asked: dict[str, Any] = {"player": player}
    only = LATEST if len(played) > LATEST else None
    if only:
        # Nobody looks through thousands of games that are not listed for the few that are.
        asked["since"] = played.pop().ended.date()
    return Profile(
        only=only,
        ladders=_ladders(player, in_force),
        totals=_totals(played),
        best_wins=_best_wins(player, played, in_force),
        opponents=_opponents(player, played),
        searches=_searches(played),
        recent=history.page(asked, viewer=viewer, size=RECENT_GAMES),
        conduct=_conduct(played) if player.pk == viewer else (),
    )


def _played(player: User) -> list[Played]:
    """The latest games, the last one first, and one more than are counted where there are more."""
    seats = Seat.objects.filter(user=player, ended__isnull=False).order_by("-ended", "-game_id")
    rows = seats.values_list(*PLAYED, *(f"figures__{name}" for name in COUNTED))
    return [Played(*row) for row in rows[: LATEST + 1]]


def _ladders(player: User, in_force: dict[str, list[ledger.Span]]) -> list[LadderLine]:
    kept = {row.pace: Standing(row.rating, row.games) for row in boards.in_force().filter(user=player).order_by("pace")}
    lines = []
    for pace in Game.Pace:
        # The pace is said once more, or SQLite would walk along each generation instead of along the player's games.
        latest = RatingEvent.objects.filter(ledger.in_force(pace, in_force[pace]), player=player, pace=pace)
        shown = latest.select_related("game").only(*SHOWN).order_by("-finish_seq")
        events = list(shown[:RATED_GAMES])
        lines.append(LadderLine(pace, kept.get(pace, Standing()), events[::-1]))
    return lines


def _totals(played: Sequence[Played]) -> Totals:
    placed = [one for one in played if one.place is not None]
    return Totals(
        games=len(placed),
        won=sum(one.place == 1 for one in placed),
        most_points=max((one.points for one in placed if one.points is not None), default=None),
        completed=sum(one.completed or 0 for one in placed),
        # Figures count points; a unique piece is three of them (R6.1).
        uniques=sum(one.uniques or 0 for one in placed) // 3,
    )


def _best_wins(player: User, played: Sequence[Played], in_force: dict[str, list[ledger.Span]]) -> list[BestWin]:
    won = [one.game for one in played if one.place == 1]
    beaten = RatingEvent.objects.filter(game__in=won, game__listed=True, game__rated=Game.Rated.RATED).exclude(
        player=player
    )
    lines = beaten.order_by("-before", "-finish_seq").values_list("pk", "pace", "generation", "finish_seq")
    # Asked for the lines in force, SQLite would look through the whole ladder; those of few games are soon told apart.
    held = [
        pk
        for pk, pace, generation, seq in lines
        if any(span.generation == generation and span.holds(seq) for span in in_force[pace])
    ]
    best = RatingEvent.objects.select_related("game", "player").in_bulk(held[:BEST_WINS])
    wins = [best[pk] for pk in held[:BEST_WINS]]
    return [BestWin(event.game, event.player, Standing(event.before, event.games_before)) for event in wins]


def _opponents(player: User, played: Sequence[Played]) -> list[Opponent]:
    places = {one.game: one.place for one in played if one.place is not None}
    others = Seat.objects.filter(game__in=list(places), user__isnull=False).exclude(user=player)
    games, ahead, behind = Counter[int](), Counter[int](), Counter[int]()
    for user_id, game_id, place in others.values_list("user", "game", "place"):
        if place is None:
            continue
        games[user_id] += 1
        ahead[user_id] += places[game_id] < place
        behind[user_id] += places[game_id] > place
    met = sorted(games, key=lambda user_id: (-games[user_id], user_id))[:OPPONENTS]
    users = User.objects.in_bulk(met)
    return [Opponent(users[user_id], games[user_id], ahead[user_id], behind[user_id]) for user_id in met]


def _searches(played: Sequence[Played]) -> Searches:
    plans = Counter(one.plan for one in played if one.plan)
    plan, games = min(plans.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    speeds = [
        (one.ended, round(one.stashes * MINUTE_MS / one.searched_ms, 1))
        for one in reversed(played)
        if one.searched_ms and one.stashes is not None
    ]
    chart = None
    if len(speeds) > 1:
        chart = charts.curve([_day(ended) for ended, _ in speeds], [speed for _, speed in speeds], around=5)
    return Searches(chart, speeds, plan, games)


def _conduct(played: Sequence[Played]) -> list[tuple[str, int]]:
    counted = Counter(one.conduct for one in played)
    return [(str(conduct.label), counted[conduct]) for conduct in Seat.Conduct]


def _day(moment: datetime) -> str:
    return formats.date_format(moment, "SHORT_DATE_FORMAT")
