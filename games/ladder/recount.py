"""The proof that the live figures are what the games say: everything again from the first one on, in memory."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from games.ladder.finished import Finished, finished
from games.ladder.ledger import in_force
from games.ladder.rate import Held, beaten, play
from games.ladder.replay import replay
from games.models import Game, Generation, Ladder, Rating, RatingEvent, keep_proof
from games.rating import Standing

logger = logging.getLogger(__name__)

GAMES_AT_ONCE = 1_000
# How often the ratings are compared again because games were rated meanwhile.
MOST_TRIES = 5
# A ladder that is wrong somewhere is wrong in many places: the first ones tell enough.
MOST_DIFFERENCES = 20

Progress = Callable[[int], None]
# Player, before, delta, after, k, games before, beaten: one line of the ledger, as far as it was worked out.
Line = tuple[int, Decimal, Decimal, Decimal, int, int, Decimal | None]


@dataclass(slots=True)
class Recount:
    """What a recount of one ladder found; `differences` in words, for the log and for staff."""

    pace: str
    games: int = 0
    lines: int = 0
    differences: list[str] = field(default_factory=list)

    def differs(self, where: str, expected: object, found: object) -> None:
        if len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{self.pace}: {where}: the games say {expected}, kept is {found}")


def recount(pace: str, progress: Progress = lambda games: None) -> Recount:
    """Work out one ladder from its first game on and compare it with its ledger and its ratings; both stay as they are.

    A replay that is under way is brought to its end first, and one that begins meanwhile has it begin again. How much
    differs is kept for staff to see.
    """
    while True:
        replay()
        before = _generation(pace)
        found = _recount(pace, progress)
        if not found.differences or _generation(pace) == before:
            keep_proof(pace, len(found.differences))
            return found


def _recount(pace: str, progress: Progress) -> Recount:
    found = Recount(pace)
    held: dict[int, Held] = {}
    done = 0
    for _ in range(MOST_TRIES):
        last = rated_to(pace)
        done = _compare_ledger(found, held, done, last, progress)
        ratings = _kept(pace)
        if rated_to(pace) == last:
            _compare_ratings(found, held, ratings)
            break
    return found


def _generation(pace: str) -> int | None:
    """The newest generation of a ladder, be it in force or under way."""
    newest = Generation.objects.filter(pace=pace).order_by("-number")
    return newest.values_list("number", flat=True).first()


def recount_all() -> list[Recount]:
    """Recount every ladder, with an alarm on any difference."""
    found = [recount(pace) for pace in Game.Pace.values]
    for one in found:
        for difference in one.differences:
            logger.error("The recount differs: %s", difference)
    return found


def rated_to(pace: str) -> int:
    """The number of the last game of a ladder that was rated."""
    return Ladder.objects.filter(pk=pace).values_list("rated_to", flat=True).first() or 0


def _compare_ledger(found: Recount, held: dict[int, Held], done: int, last: int, progress: Progress) -> int:
    """Rate the games after `done` in memory, each beside its lines in the ledger; the answer is the last one."""
    while games := finished(found.pace, done, up_to=last, most=GAMES_AT_ONCE):
        kept = _lines(found.pace, games[0].seq, games[-1].seq)
        for game in games:
            found.games += 1
            expected = _expected(held, game)
            lines = kept.pop(game.seq, {})
            if expected != lines:
                found.differs(f"game {game.seq}", _told(expected.values()), _told(lines.values()))
            found.lines += len(lines)
        for seq, lines in kept.items():
            found.differs(f"game {seq}", "nothing", _told(lines.values()))
        done = games[-1].seq
        progress(len(games))
    return max(done, last)


def _expected(held: dict[int, Held], game: Finished) -> dict[int, Line]:
    """The lines of a game that counts; one that cannot be worked out has none, and is parked."""
    try:
        return dict(_worked_out(held, game)) if game.counts else {}
    except (ArithmeticError, ValueError):
        logger.exception("Game %d cannot be worked out", game.game_id)
        return {}


def _worked_out(held: dict[int, Held], game: Finished) -> Iterator[tuple[int, Line]]:
    changes = play(held, game)
    for user_id, change in changes:
        best = beaten(game, changes, user_id)
        yield (
            user_id,
            (user_id, change.before, change.delta, change.after, change.k, change.games_before, best),
        )


def _lines(pace: str, first: int, last: int) -> dict[int, dict[int, Line]]:
    """The ledger's lines that are in force, by game and player."""
    rows = RatingEvent.objects.filter(in_force(pace), finish_seq__range=(first, last))
    kept: dict[int, dict[int, Line]] = {}
    columns = ("player", "before", "delta", "after", "k", "games_before", "beaten")
    for seq, player, before, delta, after, k, games, best in rows.values_list("finish_seq", *columns):
        kept.setdefault(seq, {})[player] = (player, before, delta, after, k, games, best)
    return kept


def _kept(pace: str) -> dict[int, Held]:
    ladder = Ladder.objects.filter(pk=pace).first()
    rows = Rating.objects.filter(pace=pace, generation=ladder.generation if ladder else 0)
    return {
        user_id: Held(Standing(rating, games), season, season_gain)
        for user_id, rating, games, season, season_gain in rows.values_list(
            "user", "rating", "games", "season", "season_gain"
        )
    }


def _compare_ratings(found: Recount, held: dict[int, Held], kept: dict[int, Held]) -> None:
    for user_id in sorted(held.keys() | kept.keys()):
        if held.get(user_id) != kept.get(user_id):
            found.differs(f"player {user_id}", held.get(user_id), kept.get(user_id))


def _told(lines: Iterable[Line]) -> str:
    return "; ".join(f"player {player} {delta} to {after}" for player, _, delta, after, *_ in lines) or "nothing"
