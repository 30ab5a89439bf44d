"""Which lines of the ledger are in force: each generation from its first game on, until a later one takes over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q, QuerySet

from games.models import Game, Generation, RatingEvent


@dataclass(frozen=True, slots=True)
class Span:
    """The games of a ladder, `first` to `last`, for which this generation is in force; the newest has no last one."""

    generation: int
    first: int
    last: int | None

    def holds(self, seq: int) -> bool:
        return self.first <= seq and (self.last is None or seq <= self.last)


def spans(pace: str) -> list[Span]:
    """The generations in force on a ladder, the newest first."""
    return spans_by_pace([pace])[pace]


def spans_by_pace(paces: Sequence[str]) -> dict[str, list[Span]]:
    """Return the generations in force on each of these ladders, the newest first, in one query."""
    known = Generation.objects.filter(pace__in=paces, state=Generation.State.CURRENT).order_by("-number")
    rows = list(known.values_list("pace", "number", "from_seq"))
    return {pace: _spans([(number, first) for of, number, first in rows if of == pace]) for pace in paces}


def _spans(generations: Sequence[tuple[int, int]]) -> list[Span]:
    found: list[Span] = []
    for number, first in [*generations, (0, 1)]:
        # An older one ends where the ones after it begin.
        last = found[-1].first - 1 if found else None
        if last is None or first <= last:
            found.append(Span(number, first, last))
    return found


def in_force(pace: str, within: Sequence[Span] | None = None) -> Q:
    """The lines of the ledger that count."""
    condition = Q(pk__in=[])
    for span in spans(pace) if within is None else within:
        part = Q(pace=pace, generation=span.generation, finish_seq__gte=span.first)
        condition |= part if span.last is None else part & Q(finish_seq__lte=span.last)
    return condition


def lines_of(user_id: int, pace: str, within: Sequence[Span] | None = None) -> QuerySet[RatingEvent]:
    """The lines of the ledger that count for this player."""
    # The pace is said once more, or SQLite would walk along each generation instead of along the player's games.
    return RatingEvent.objects.filter(in_force(pace, within), player=user_id, pace=pace)


def lines_in(
    games: Iterable[Game], user_id: int, known: Mapping[int, RatingEvent] | None = None
) -> dict[int, RatingEvent]:
    """The lines that count for this player in these games, by the game's id; none for a game that is not rated.

    `known` are lines in force of this player that the caller has already: nothing is asked for where they are enough.
    """
    rated = [game for game in games if game.rated == Game.Rated.RATED and game.voided is None]
    if not rated:
        return {}
    if known is not None and all(game.pk in known for game in rated):
        return {game.pk: known[game.pk] for game in rated}
    within = spans_by_pace(sorted({game.pace for game in rated}))
    # By the games alone: with the player in it, SQLite would walk along all games that this player was rated in.
    lines = RatingEvent.objects.filter(game__in=[game.pk for game in rated])
    own = [line for line in lines if line.player_id == user_id]
    return {line.game_id: line for line in own if any(_is_in(line, span) for span in within[line.pace])}


def _is_in(line: RatingEvent, span: Span) -> bool:
    return line.generation == span.generation and span.holds(line.finish_seq)


def last_lines(pace: str, user_ids: Sequence[int], before: int) -> list[RatingEvent]:
    """The line of each of these players that was the last one in force before that game."""
    lines = RatingEvent.objects.filter(in_force(pace), player__in=user_ids, finish_seq__lt=before)
    last = dict(lines.values_list("player").annotate(seq=Max("finish_seq")).order_by())
    candidates = lines.filter(finish_seq__in=last.values())
    return [line for line in candidates if last[line.player_id] == line.finish_seq]
