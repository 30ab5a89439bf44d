"""What the ladders cost: rating one game, and a recount of all; in a transaction that leaves nothing behind.

The games are made on the spot, behind whatever the database holds: fill it with `seed` to see a long ledger.
"""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import median
from time import process_time

from django.db import connection, transaction

from accounts.models import User
from games.ladder import finished, rate, rate_game, recount
from games.management.arguments import positive
from games.management.progress import Bar
from games.models import Finish, Game, RatingEvent, Seat
from games.rules import terms

from .aims import Aim

HELP = "rating one game of four, and recounting 20,000 of them, in CPU time"
AIMS = {
    "rate_ms": Aim("rating one game of four, in ms", most=20),
    "recount_s": Aim("recounting 20,000 games of four, in s", most=30),
    "recounted": Aim("games that were recounted", least=1),
    "ledger": Aim("lines of the ledger there were before"),
}

PACE = Game.Pace.RELAXED
PLAYERS = 4
PEOPLE = 400
ONE_BY_ONE = 100
AT_ONCE = 500
AIMED_AT = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--games", type=positive, default=AIMED_AT, help="how many are recounted (20000)")


def run(options: Mapping[str, object]) -> dict[str, float]:
    number = options["games"]
    assert isinstance(number, int)
    with transaction.atomic():
        try:
            return _measure(number)
        finally:
            transaction.set_rollback(True)


def _measure(number: int) -> dict[str, float]:
    ledger = RatingEvent.objects.count()
    rng = Random(number)
    people = _people(rng)
    rate.rate(PACE)
    first = rate.locked(PACE).rated_to
    bar = Bar("games", number)
    for done in range(0, number, AT_ONCE):
        some = _finish(people, rng, min(AT_ONCE, number - done))
        ladder = rate.locked(PACE)
        batch = finished.finished(PACE, ladder.rated_to, most=len(some))
        rate.write(PACE, ladder.generation, batch)
        Game.objects.filter(pk__in=some).update(rated=Game.Rated.RATED)
        ladder.rated_to = batch[-1].seq
        ladder.save()
        bar.advance(len(some))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE games_game, games_seat, games_rating, games_ratingevent")
    one_by_one = []
    for game_id in _finish(people, rng, ONE_BY_ONE):
        start = process_time()
        rate_game(game_id)
        one_by_one.append(process_time() - start)
    start = process_time()
    found = recount(PACE)
    seconds = process_time() - start
    if found.differences and not first:
        raise AssertionError(found.differences)
    return {
        "rate_ms": round(median(one_by_one) * 1_000, 2),
        "recount_s": round(seconds * AIMED_AT / found.games, 2),
        "recounted": found.games,
        "ledger": ledger,
    }


def _people(rng: Random) -> list[int]:
    names = [f"Bench {rng.getrandbits(48):012x}" for _ in range(PEOPLE)]
    made = User.objects.bulk_create(User(name=name, folded_name=name.lower()) for name in names)
    return [person.pk for person in made]


def _finish(people: list[int], rng: Random, number: int) -> list[int]:
    """So many more games of four that have ended."""
    counter, _ = Finish.objects.get_or_create(pk=PACE, defaults={"last": 0})
    began = datetime(2026, 1, 1, tzinfo=UTC)
    games = Game.objects.bulk_create(
        Game(
            rulebook="fr",
            pace=PACE,
            ranked=True,
            limits={},
            edition=terms.RANKED_EDITION,
            markets_by="draw",
            finish_seq=counter.last + place,
            reason="bag_empty",
            rounds=4,
            ended=began + timedelta(minutes=counter.last + place),
        )
        for place in range(1, number + 1)
    )
    counter.last += number
    counter.save()
    Seat.objects.bulk_create(
        Seat(
            game=game,
            number=seat,
            kind="human",
            user_id=person,
            character=terms.CHARACTERS[seat],
            place=seat + 1,
            ended=game.ended,
        )
        for game in games
        for seat, person in enumerate(rng.sample(people, PLAYERS))
    )
    return [game.pk for game in games]
