"""The ranked games of a ladder in the order of their ends, and which of them count."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple

from games.models import Game, Seat

Rated = Game.Rated
# A live game whose server was gone for longer, all absences together, is the server's fault, and nobody's loss. Time in
# which a server lived and stood still does not count: a player may have kept it busy to be spared a defeat. Staff sees
# those games (games/troubles.py) and may take them out of the ratings.
MOST_LOST_MS = 60_000


class Sat(NamedTuple):
    """One seat of a finished game, as far as a rating goes."""

    kind: str
    user_id: int | None
    is_guest: bool | None
    place: int | None


@dataclass(frozen=True, slots=True)
class Finished:
    """One ranked game whose turn has come; `players` are ids and places in the order of ids."""

    game_id: int
    seq: int
    ended: datetime
    outcome: Game.Rated
    voided: bool
    listed: bool
    players: tuple[tuple[int, int], ...]
    weight: int = 100

    @property
    def counts(self) -> bool:
        return self.outcome is Rated.RATED and not self.voided


def finished(pace: str, after: int, *, up_to: int | None = None, most: int = 1) -> list[Finished]:
    """The next games of a ladder after that number: two questions, however many."""
    games = Game.objects.filter(pace=pace, finish_seq__gt=after).order_by("finish_seq")
    if up_to is not None:
        games = games.filter(finish_seq__lte=up_to)
    of_end = ("reason", "rounds", "traded", "weight", "lost_ms", "voided", "listed", "rated")
    rows = list(games.values_list("id", "finish_seq", "ended", *of_end)[:most])
    seats: defaultdict[int, list[Sat]] = defaultdict(list)
    sat = Seat.objects.filter(game__in=[row[0] for row in rows]).order_by("number")
    for game_id, kind, user_id, is_guest, place in sat.values_list("game", "kind", "user", "user__is_guest", "place"):
        seats[game_id].append(Sat(kind, user_id, is_guest, place))
    found = []
    for game_id, seq, ended, reason, rounds, traded, weight, lost_ms, voided, listed, rated in rows:
        if ended is None or seq is None:
            raise ValueError(f"game {game_id} has a number and no end")
        outcome = outcome_of(pace, reason, rounds if traded else 0, lost_ms, seats[game_id], weight)
        if rated == Rated.COMPANY:
            # Whoever was a guest then may have an account by now: what was decided stands.
            outcome = Rated.COMPANY
        players = sorted((seat.user_id, seat.place) for seat in seats[game_id] if seat.user_id and seat.place)
        found.append(Finished(game_id, seq, ended, outcome, voided is not None, listed, tuple(players), weight))
    return found


def outcome_of(
    pace: str, reason: str, rounds: int, lost_ms: int, seats: Sequence[Sat], weight: int = 100
) -> Game.Rated:
    """What its ladder makes of a ranked game that ended like this; `rounds` are full ones, none where nothing was
    traded."""
    if reason == "void":
        return Rated.VOID
    if rounds < 1:
        return Rated.SHORT
    if pace == Game.Pace.LIVE and lost_ms > MOST_LOST_MS:
        return Rated.FAULT
    if any(seat.kind != Seat.Kind.HUMAN or seat.is_guest for seat in seats):
        return Rated.COMPANY
    places = sorted(seat.place or 0 for seat in seats)
    whole = 2 <= len(seats) <= 4 and places == list(range(1, len(seats) + 1))
    if not whole or not all(seat.user_id for seat in seats):
        return Rated.PARKED
    return Rated.RATED if weight else Rated.REPEAT


def season_of(moment: datetime) -> date:
    """The first day of the season: a quarter of the year."""
    day = moment.astimezone(UTC).date()
    return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
