"""Taking a game out of the ratings, or back in: the ladder is replayed from there as a new generation.

The new generation is written in small pieces beside the one in force, which goes on rating what ends meanwhile. When
nothing is missing any more, one short transaction puts it in force. The old lines stay in the ledger.

Who locks what: the ladder's row first, then the generations that are under way, then the game. A replay that has read
a game that is to be taken out is waited for, so that it is seen to have counted it.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from games.ladder.finished import Finished, finished
from games.ladder.ledger import last_lines
from games.ladder.rate import UNRATABLE, ask_a_worker, locked, write
from games.models import Game, Generation, Ladder, Rating

logger = logging.getLogger(__name__)

# What one transaction of a replay takes: a SQLite database is free again after some milliseconds.
GAMES_A_PIECE = 20
PLAYERS_A_PIECE = 100
PAUSE_SECONDS = 0.02


def void_game(game_id: int, by: int | None) -> bool:
    """Take a game out of the ratings; False where it is out already, or counts for no ladder."""
    with transaction.atomic():
        place = _held_place(game_id)
        changed = Game.objects.filter(pk=game_id, voided=None)
        return bool(place and changed.update(voided=timezone.now(), voided_by=by) and place.replay())


def restore_game(game_id: int) -> bool:
    """Let a game count again that was taken out; False where it counts."""
    with transaction.atomic():
        place = _held_place(game_id)
        changed = Game.objects.filter(pk=game_id).exclude(voided=None)
        return bool(place and changed.update(voided=None, voided_by=None) and place.replay())


def replay_from(game_id: int) -> bool:
    """Have a ladder replayed from a game on, whose result somebody has put right."""
    with transaction.atomic():
        place = _held_place(game_id)
        return bool(place and place.replay())


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a game stands on its ladder, whose row and replays are locked: nobody rates the game meanwhile."""

    seq: int
    ladder: Ladder
    building: list[Generation]

    def replay(self) -> bool:
        """Have everything from this game on worked out again, unless its turn is still to come there."""
        if self.seq > self.ladder.rated_to:
            return True
        pace, first = self.ladder.pace, self.seq
        for generation in self.building:
            if generation.rated_to < self.seq:
                return True
            generation.state = Generation.State.DROPPED
            generation.save(update_fields=["state"])
            first = min(first, generation.from_seq)
        newest = Generation.objects.filter(pace=pace).order_by("-number")
        number = newest.values_list("number", flat=True).first() or 0
        Generation.objects.create(pace=pace, number=number + 1, from_seq=first, rated_to=first - 1)
        transaction.on_commit(partial(ask_a_worker, "games.tasks.replay_ladders"))
        return True


def _held_place(game_id: int) -> _Place | None:
    """The place of this game, held until the transaction ends; None where it counts for no ladder."""
    game = Game.objects.filter(pk=game_id).first()
    if game is None or game.finish_seq is None:
        return None
    ladder = locked(game.pace)
    building = Generation.objects.select_for_update().filter(pace=game.pace, state=Generation.State.BUILDING)
    return _Place(game.finish_seq, ladder, list(building.order_by("number")))


def replay() -> int:
    """Work out the generations that are under way, to their end; the answer is how many were put in force."""
    under_way = Generation.objects.filter(state=Generation.State.BUILDING).order_by("pace", "number")
    done = sum(_build(pk, pace) for pk, pace in under_way.values_list("pk", "pace"))
    _clear_out()
    return done


def _build(pk: int, pace: str) -> bool:
    """Piece by piece until it is in force; False where somebody else has done it, or another takes its place."""
    nothing_left = False
    while True:
        with transaction.atomic():
            # The ladder before the generation, as whoever voids a game locks them.
            ladder = locked(pace) if nothing_left else None
            generation = _held(pk)
            if generation is None:
                return False
            rated_to = ladder.rated_to if ladder else Ladder.objects.get(pk=pace).rated_to
            if not (_seed(generation) or _follow(generation, rated_to)):
                if ladder is not None:
                    _put_in_force(generation, ladder)
                    return True
                nothing_left = True
        if connection.vendor == "sqlite":
            time.sleep(PAUSE_SECONDS)


def _held(pk: int) -> Generation | None:
    """This generation while it is under way, locked: two workers take turns."""
    under_way = Generation.objects.select_for_update().filter(pk=pk, state=Generation.State.BUILDING)
    return under_way.first()


def _seed(generation: Generation) -> bool:
    """Take over what some more players had before the first game; False where all have theirs."""
    if generation.seeded:
        return False
    ratings = Rating.objects.filter(pace=generation.pace, generation=Ladder.objects.get(pk=generation.pace).generation)
    players = list(
        ratings.filter(user__gt=generation.seeded_to).order_by("user").values_list("user", flat=True)[:PLAYERS_A_PIECE]
    )
    Rating.objects.bulk_create(
        Rating(
            user_id=line.player_id,
            pace=generation.pace,
            generation=generation.number,
            rating=line.after,
            games=line.games_before + 1,
            last_played=line.at,
            season=line.season,
            season_gain=line.season_gain,
        )
        for line in last_lines(generation.pace, players, generation.from_seq)
    )
    if players:
        generation.seeded_to = players[-1]
    generation.seeded = len(players) < PLAYERS_A_PIECE
    generation.save(update_fields=["seeded_to", "seeded"])
    return True


def _follow(generation: Generation, rated_to: int) -> bool:
    """Rate some more games of those that the ladder has rated; False where none is left."""
    games = finished(generation.pace, generation.rated_to, up_to=rated_to, most=GAMES_A_PIECE)
    if not games:
        return False
    _write(generation, games)
    generation.rated_to = games[-1].seq
    generation.save(update_fields=["rated_to"])
    return True


def _write(generation: Generation, games: Sequence[Finished]) -> None:
    """Rate these games; one that cannot be rated is put aside, as everywhere: nobody waits for it."""
    counting = Game.objects.filter(pk__in=[game.game_id for game in games if game.counts])
    try:
        with transaction.atomic():
            write(generation.pace, generation.number, games)
            counting.filter(rated=Game.Rated.PARKED).update(rated=Game.Rated.RATED)
    except UNRATABLE:
        if len(games) > 1:
            for game in games:
                _write(generation, [game])
            return
        logger.exception("Game %d cannot be rated again", games[0].game_id)
        counting.update(rated=Game.Rated.PARKED)


def _put_in_force(generation: Generation, ladder: Ladder) -> None:
    generation.state = Generation.State.CURRENT
    generation.save(update_fields=["state"])
    ladder.generation = generation.number
    ladder.save(update_fields=["generation"])
    logger.info("The %s ladder follows generation %d now", generation.pace, generation.number)


def _clear_out() -> None:
    """Forget the ratings of generations that are over; their lines stay in the ledger.

    What is over stays over, whatever somebody else puts in force meanwhile: older than one that was in force, or given
    up.
    """
    for ladder in Ladder.objects.all():
        given_up = Generation.objects.filter(pace=ladder.pace, state=Generation.State.DROPPED).values("number")
        older = Q(generation__lt=ladder.generation)
        over = Rating.objects.filter(older | Q(generation__in=given_up), pace=ladder.pace)
        while _forget_some(over):
            pass


def _forget_some(over: QuerySet[Rating]) -> int:
    """Forget some of these ratings; the answer is how many there were still."""
    some = list(over.values_list("pk", flat=True)[:PLAYERS_A_PIECE])
    Rating.objects.filter(pk__in=some).delete()
    return len(some)
