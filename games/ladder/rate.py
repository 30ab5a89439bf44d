"""Rating finished games: in the order of their ends, once, and by one process of any number at a time.

Who locks what: the ladder's row first, then the ratings of the players in the order of their ids. A ladder's row is
locked by nobody else, so that no game waits for it to end. Whatever is killed on the way leaves nothing behind, and
whoever comes next takes the same game again.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Self

from celery import current_app
from django.db import DataError, IntegrityError, transaction

from games import rating
from games.ladder.finished import Finished, finished, season_of
from games.models import Finish, Game, Ladder, Rating, RatingEvent
from games.rating import Standing

logger = logging.getLogger(__name__)

# What says that a game does not fit, whoever tries it and however often.
UNRATABLE = (IntegrityError, DataError, ArithmeticError, ValueError)


@dataclass(frozen=True, slots=True)
class Held:
    """A player's line on a ladder: what the next game starts from."""

    standing: Standing = field(default_factory=Standing)
    season: date = date.min
    season_gain: Decimal = Decimal("0.00")

    def after(self, change: rating.Change, ended: datetime) -> Self:
        # Two processes' clocks may disagree about the last minute of a season: it does not come back.
        season = max(self.season, season_of(ended))
        gain = change.after - change.before
        return replace(
            self,
            standing=Standing(change.after, change.games_before + 1),
            season=season,
            season_gain=gain if season > self.season else self.season_gain + gain,
        )


def ask_for_rating(game_id: int) -> None:
    """Have a worker rate this game; where the message is lost, the sweep finds the game."""
    ask_a_worker("games.tasks.rate_game", game_id)


def ask_a_worker(task: str, *words: int) -> None:
    """Have this done soon; whoever asks has a sweep behind them, and goes on when there is no queue."""
    try:
        current_app.send_task(task, words)
    except Exception as error:
        logger.debug("%s%r waits for the sweep: %s", task, words, error)


def rate_game(game_id: int) -> None:
    """Rate this game, and before it whatever ended earlier; nothing where that has been done."""
    game = Game.objects.filter(pk=game_id).exclude(finish_seq=None).values_list("pace", "finish_seq").first()
    if game is not None:
        pace, seq = game
        rate(pace, up_to=seq)


def rate_finished() -> int:
    """Rate what nobody has rated yet, on all ladders; the answer is how many games that were."""
    return sum(rate(pace) for pace in Game.Pace.values if unrated(pace))


def rate(pace: str, up_to: int | None = None) -> int:
    """Rate the games of one ladder up to that number."""
    done = 0
    while _rate_next(pace, up_to):
        done += 1
    return done


def unrated(pace: str) -> int:
    """How many games of a ladder have ended and wait for their turn."""
    last = Finish.objects.filter(pk=pace).values_list("last", flat=True).first() or 0
    rated_to = Ladder.objects.filter(pk=pace).values_list("rated_to", flat=True).first() or 0
    return max(0, last - rated_to)


def _rate_next(pace: str, up_to: int | None) -> bool:
    """Rate one game; False where none is left."""
    try:
        with transaction.atomic():
            ladder = locked(pace)
            games = finished(pace, ladder.rated_to, up_to=up_to)
            if not games:
                return False
            _settle(ladder, games[0], games[0].outcome)
            write(pace, ladder.generation, games)
    except UNRATABLE:
        logger.exception("The next game of the %s ladder cannot be rated", pace)
        return _park_next(pace, up_to)
    return True


def _park_next(pace: str, up_to: int | None) -> bool:
    """Put aside the game that cannot be rated: somebody has to look at it, and nobody waits for that."""
    with transaction.atomic():
        ladder = locked(pace)
        games = Game.objects.filter(pace=pace, finish_seq__gt=ladder.rated_to).order_by("finish_seq")
        if up_to is not None:
            games = games.filter(finish_seq__lte=up_to)
        game = games.first()
        if game is None or game.finish_seq is None:
            return False
        game.rated = Game.Rated.PARKED
        game.save(update_fields=["rated"])
        ladder.rated_to = game.finish_seq
        ladder.save(update_fields=["rated_to"])
    return True


def _settle(ladder: Ladder, game: Finished, outcome: Game.Rated) -> None:
    """Say what became of this game, and that it was its turn."""
    if outcome is Game.Rated.PARKED:
        logger.error("Game %d cannot be rated: its seats, people and places do not fit", game.game_id)
    Game.objects.filter(pk=game.game_id).update(rated=outcome)
    ladder.rated_to = game.seq
    ladder.save(update_fields=["rated_to"])


def locked(pace: str) -> Ladder:
    """The ladder's row, held until the transaction ends."""
    row = Ladder.objects.select_for_update().filter(pk=pace).first()
    if row is None:
        Ladder.objects.bulk_create([Ladder(pace=pace)], ignore_conflicts=True)
        row = Ladder.objects.select_for_update().get(pk=pace)
    return row


def write(pace: str, generation: int, games: Sequence[Finished]) -> None:
    """Append these games to the ledger of a generation and bring its ratings along."""
    counting = [game for game in games if game.counts]
    players = sorted({user_id for game in counting for user_id, _ in game.players})
    known = {
        row.user_id: row
        for row in Rating.objects.select_for_update()
        .filter(pace=pace, generation=generation, user__in=players)
        .order_by("user")
    }
    held = {
        user_id: Held(Standing(row.rating, row.games), row.season, row.season_gain) for user_id, row in known.items()
    }
    last_played: dict[int, datetime] = {}
    ledger: list[RatingEvent] = []
    for game in counting:
        changes = play(held, game)
        for user_id, change in changes:
            last_played[user_id] = game.ended
            ledger.append(
                RatingEvent(
                    game_id=game.game_id,
                    player_id=user_id,
                    generation=generation,
                    pace=pace,
                    finish_seq=game.seq,
                    at=game.ended,
                    before=change.before,
                    delta=change.delta,
                    after=change.after,
                    k=change.k,
                    games_before=change.games_before,
                    season=held[user_id].season,
                    season_gain=held[user_id].season_gain,
                    beaten=beaten(game, changes, user_id),
                )
            )
    RatingEvent.objects.bulk_create(ledger)
    rows = [
        Rating(
            pk=known[user_id].pk if user_id in known else None,
            user_id=user_id,
            pace=pace,
            generation=generation,
            rating=held[user_id].standing.rating,
            games=held[user_id].standing.games,
            last_played=last_played[user_id],
            season=held[user_id].season,
            season_gain=held[user_id].season_gain,
        )
        for user_id in players
    ]
    Rating.objects.bulk_create([row for row in rows if row.pk is None])
    Rating.objects.bulk_update(
        [row for row in rows if row.pk is not None], ["rating", "games", "last_played", "season", "season_gain"]
    )


def play(held: dict[int, Held], game: Finished) -> list[tuple[int, rating.Change]]:
    """What a game that counts does to its players, who are brought along."""
    before = [held.get(user_id, Held()) for user_id, _ in game.players]
    found = rating.changes([one.standing for one in before], [place for _, place in game.players], game.weight)
    for (user_id, _), one, change in zip(game.players, before, found, strict=True):
        held[user_id] = one.after(change, game.ended)
    return [(user_id, change) for (user_id, _), change in zip(game.players, found, strict=True)]


def beaten(game: Finished, changes: Sequence[tuple[int, rating.Change]], user_id: int) -> Decimal | None:
    """The best rating that this player was ahead of, if they won and strangers may see the game."""
    if not game.listed or (user_id, 1) not in game.players:
        return None
    return max(change.before for other, change in changes if other != user_id)
