"""Finished games become records: checked by replay, packed, their figures in columns; then the log's rows go.

All of it may run twice, late, or two at once: one transaction does it, and whoever comes second finds it done. A game
that makes no record without a fault is parked with the fault, keeps its rows, and waits for somebody to look.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import Error as DatabaseFault
from django.db import transaction

from games import careers, clock, log, one_by_one, opening, packing, rules, steps
from games.figures import figures_of
from games.models import Figures, Game, Record, Seat
from games.opening import Opened
from games.rules.events import Event
from games.rules.judge import judge
from games.rules.record import as_json, make_record, write_record

logger = logging.getLogger(__name__)

# Pages that were on their way at the end still find the rows.
AFTER_MS = 5 * 60 * 1_000
# One sweep does so many at most, and ends before the next one begins.
MOST = 500
SECONDS = 45
# SQLite's writers wait for each other: leave them room.
PAUSE_SECONDS = 0.02


class NoRecord(Exception):
    """The game makes no record that the judge accepts."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished game as its log tells it, and the record that it makes."""

    opened: Opened
    events: tuple[Event, ...]
    record: dict[str, Any]


def archive_finished() -> int:
    """Pack away the games that ended some minutes ago; the answer is how many became records."""
    before = datetime.fromtimestamp((clock.database_now() - AFTER_MS) / 1000, UTC)
    due = Game.objects.filter(ended__lt=before, kept_as=Game.Kept.LOG).order_by("ended")
    return one_by_one.see_to("Game", due.values_list("pk", flat=True)[:MOST], _archive_and_rest, seconds=SECONDS)


def _archive_and_rest(game_id: int) -> bool:
    done = archive(game_id)
    time.sleep(PAUSE_SECONDS)
    return done


def archive(game_id: int) -> bool:
    """Make one finished game's record; False where there is nothing to do, or it was parked."""
    game = Game.objects.filter(pk=game_id, ended__isnull=False).exclude(kept_as=Game.Kept.RECORD).first()
    if game is None:
        return False
    try:
        finished = _finished(game)
        with _its_own_fault():
            packed, figures = packing.pack(finished.record), _figures(finished)
    except log.Gone:
        return False
    except NoRecord as wrong:
        _park(game, str(wrong))
        return False
    with transaction.atomic():
        if not log.archive(game_id, packed):
            return False
        Figures.objects.filter(seat__game=game_id).delete()
        Figures.objects.bulk_create(figures)
        careers.add_figures(game_id)
    return True


def record_of(game: Game) -> dict[str, Any] | None:
    """The public record of a game, with the names of today; None while it runs, or where the judge finds a fault."""
    if game.ended is None or game.kept_as == Game.Kept.PARKED:
        return None
    packed = Record.objects.filter(game=game).values_list("packed", flat=True).first()
    if packed is not None:
        return packing.unpack(bytes(packed), game.code, names_of(game))
    try:
        return _finished(game).record
    except (NoRecord, log.Gone):
        # The archive says it louder, some minutes from now.
        return None


def names_of(game: Game) -> list[str]:
    """Who sat in the seats, as the record names them."""
    opened = opening.find_by_id(game.pk)
    return [] if opened is None else [sitter.name for sitter in opened.sitters]


def _finished(game: Game) -> Finished:
    opened = opening.find_by_id(game.pk)
    tail = log.since(game.pk, 0)
    if opened is None or tail.started_ms is None:
        raise NoRecord(["It ended before its first event."])
    began = datetime.fromtimestamp(tail.started_ms // 1000, UTC)
    names = [sitter.name for sitter in opened.sitters]
    with _its_own_fault():
        terms = opened.terms()
        events = tuple(step.event for step in steps.read(rules.blank(terms), tail.lines))
        shares = None if opened.place is None else opened.shares()
        record = make_record(
            game.code, began.strftime("%Y-%m-%dT%H:%M:%SZ"), terms, names, events, shares, opened.place
        )
        faults = [str(fault) for fault in judge(write_record(record))] or _wrong_rows(game, record.result)
        written = as_json(record)
    if faults:
        raise NoRecord(faults)
    return Finished(opened, events, written)


@contextmanager
def _its_own_fault() -> Iterator[None]:
    """Whatever breaks a replay is a fault of this one game, but for a database that does not answer."""
    try:
        yield
    except DatabaseFault:
        raise
    except Exception as error:
        raise NoRecord([f"{type(error).__name__}: {error}"]) from error


def _wrong_rows(game: Game, result: rules.Result) -> list[str]:
    """What the game's own rows say of its end and its replay does not: lists and ratings go by the rows."""
    places = {seat: place for place, seat in enumerate(result.ranking, start=1)}
    found = [] if game.reason == result.reason else [f"The row says {game.reason}, the replay {result.reason}."]
    rows = {seat.number: (seat.place, seat.points) for seat in Seat.objects.filter(game=game)}
    for score in result.scores:
        said, played = rows[score.seat], (places.get(score.seat), score.total)
        if said != played:
            found.append(f"Seat {score.seat} has place and points {said}, its replay {played}.")
    return found


def _figures(finished: Finished) -> list[Figures]:
    counted = figures_of(finished.opened.terms(), finished.events)
    ids = dict(Seat.objects.filter(game=finished.opened.game_id).values_list("number", "pk"))
    return [
        Figures(seat_id=ids[number], **seat.columns(rules.score(number, counted.state.players[number])))
        for number, seat in enumerate(counted.seats)
    ]


def _park(game: Game, faults: str) -> None:
    with transaction.atomic():
        if not Game.objects.filter(pk=game.pk, kept_as=Game.Kept.LOG).update(kept_as=Game.Kept.PARKED):
            return
        Record.objects.update_or_create(game=game, defaults={"packed": None, "faults": faults})
    logger.error("Game %s makes no record and is parked: %s", game.code, faults.splitlines()[0])
