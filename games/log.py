"""The log of games: the only code that touches event rows. Of an archived game it reads the record instead.

An append is on disk when it returns; or it is not stored and never will be (`Unwritten`); or its fate is unknown, since
the answer to the COMMIT was lost (`Uncertain`): then `settle` and a look at the log tell. The game's row is the fence:
nothing is appended behind the back of a writer that has not read up to `head`. One thread a process writes, and takes
everything that waits, of all tables, into one transaction; another one reads. Locks are taken in the order of game ids.
Neither thread waits for the database longer than `ANSWER_SECONDS`.
"""

import asyncio
import contextlib
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ParamSpec, TypeVar

from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.backends.utils import CursorWrapper

from games import deadlines, packing, repeats
from games.pulse import pulse

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

# How a seat left, by who made it leave.
CONDUCT = {"player": "left", "clock": "missed", "staff": "removed"}
# What one transaction takes at most: a slow disk then delays a batch, not everybody.
BATCH = 200
# Where so many came at once the next ones get a moment to gather: a transaction costs the same for one and for many.
CROWD = 8
GATHER_SECONDS = 0.002
# How long the database may take for a transaction, or for a read with all its questions.
ANSWER_SECONDS = 2.0
# A game's row that another writer holds for longer is given up before that, so that the other games are still written.
LOCK_MS = 1_000
LOCK_NOT_AVAILABLE = "55P03"


class Behind(Exception):
    """Somebody else wrote first, or the game has ended: catch up and decide again."""


class Gone(Exception):
    """There is no such game any more."""


class Unwritten(Exception):
    """The database refused, or did not answer in time: nothing was written, and nothing of it ever will be."""


class Obstructed(Unwritten):
    """Only this game cannot be written: its lines do not fit, or another writer holds its row."""


class Uncertain(Unwritten, OperationalError):
    """The answer to a COMMIT was lost: perhaps nothing was written, perhaps everything, perhaps only in a moment."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event as it is kept: its number, its moment and the rest of it as JSON."""

    seq: int
    at: int
    body: str
    seat: int | None = None
    command_id: str = ""


@dataclass(frozen=True, slots=True)
class Departure:
    """That a seat is left for good: by whose doing, and when."""

    seat: int
    by: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Ending:
    """What a game's last line means for its row and its seats.

    `traded` tells of a purchase or an opened bag. `ladder` is where a ranked game counts, `standings` each seat's place
    and points in the order of the seats; a void game has no places. Where staff or a fault of the server made it void,
    those who had left are forgiven.
    """

    reason: str
    rounds: int
    traded: bool
    ladder: str | None
    standings: tuple[tuple[int | None, int], ...]
    forgives: bool


@dataclass(frozen=True, slots=True)
class Append:
    """What one decision writes, all or nothing: lines after `head`, and what the game's row says from then on."""

    game_id: int
    head: int
    lines: Sequence[Line]
    kept_by: int | None
    wake_at: int | None
    started_ms: int | None = None
    awaits: int = 0
    left: int = 0
    departures: Sequence[Departure] = ()
    ended_ms: int | None = None
    ending: Ending | None = None


def write(appends: Sequence[Append]) -> set[int]:
    """Write what fits, in one transaction; the answer names the games whose writer was behind.

    Any exception means that nothing was written, except `Uncertain`, after which it may have been.
    """
    ordered = sorted(appends, key=lambda append: append.game_id)
    is_complete = False
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            behind = _write(cursor, ordered)
            is_complete = True
    except (IntegrityError, DataError):
        raise  # The database looked, and said no.
    except Exception as error:
        if is_complete:
            raise Uncertain(str(error)) from error
        raise
    return behind


def _write(cursor: CursorWrapper, ordered: Sequence[Append]) -> set[int]:
    heads = _heads(cursor, [append.game_id for append in ordered])
    fitting = [append for append in ordered if heads.get(append.game_id) == append.head]
    cursor.executemany(
        'UPDATE games_game SET head = %s, wake_at = %s, kept_by_id = %s, awaits = %s, "left" = %s, ended = %s,'
        " started_ms = COALESCE(%s, started_ms) WHERE id = %s",
        [
            (
                a.head + len(a.lines),
                a.wake_at,
                a.kept_by,
                a.awaits,
                a.left,
                _moment(a.ended_ms),
                a.started_ms,
                a.game_id,
            )
            for a in fitting
        ],
    )
    cursor.executemany(
        "INSERT INTO games_event (game_id, seq, at, body, seat, command_id) VALUES (%s, %s, %s, %s, %s, %s)",
        [(a.game_id, x.seq, x.at, x.body, x.seat, x.command_id) for a in fitting for x in a.lines],
    )
    if departures := [(a.game_id, one) for a in fitting for one in a.departures]:
        _let_go(cursor, departures)
    if endings := {a.game_id: a.ending for a in fitting if a.ending is not None}:
        _finish(cursor, endings)
    return {append.game_id for append in ordered} - {append.game_id for append in fitting}


def _heads(cursor: CursorWrapper, game_ids: Iterable[int]) -> dict[int, int]:
    """How far the running ones of these games are, their rows locked until the transaction ends."""
    ids = list(game_ids)
    marks = ", ".join(["%s"] * len(ids))
    lock = ""
    if connection.features.has_select_for_update:
        cursor.execute(f"SET LOCAL lock_timeout = {LOCK_MS}")
        lock = " ORDER BY id FOR UPDATE"
    cursor.execute(f"SELECT id, head FROM games_game WHERE ended IS NULL AND id IN ({marks}){lock}", ids)  # noqa: S608  (marks only)
    return dict(cursor.fetchall())


def _let_go(cursor: CursorWrapper, departures: Iterable[tuple[int, Departure]]) -> None:
    """Store who left which game, how and when: it counts from then on, however long the others play."""
    cursor.executemany(
        "UPDATE games_seat SET conduct = %s, left_at = %s WHERE game_id = %s AND number = %s",
        [(CONDUCT[one.by], _moment(one.at_ms), game_id, one.seat) for game_id, one in departures],
    )


def _finish(cursor: CursorWrapper, endings: Mapping[int, Ending]) -> None:
    """Store how these games ended: no game is over without its result."""
    numbers = _finish_numbers(cursor, endings)
    for game_id, ending in endings.items():
        cursor.execute(
            "UPDATE games_game SET reason = %s, rounds = %s, traded = %s, lost_ms = %s, stalled_ms = %s,"
            " finish_seq = %s WHERE id = %s",
            [ending.reason, ending.rounds, ending.traded, *_lost_ms(cursor, game_id), numbers.get(game_id), game_id],
        )
        _let_go(cursor, [(game_id, one) for one in _departures(cursor, game_id)])
        cursor.executemany(
            "UPDATE games_seat SET place = %s, points = %s, forgiven = forgiven OR (conduct <> '' AND %s),"
            " conduct = CASE conduct WHEN '' THEN 'finished' ELSE conduct END,"
            " ended = (SELECT ended FROM games_game WHERE id = games_seat.game_id) WHERE game_id = %s AND number = %s",
            [(place, points, ending.forgives, game_id, seat) for seat, (place, points) in enumerate(ending.standings)],
        )
        if game_id in numbers:
            # The ladder's counter is locked: whatever ended earlier is seen here.
            weight = repeats.weight_of(game_id)
            cursor.execute("UPDATE games_game SET weight = %s WHERE id = %s", [weight, game_id])


def _departures(cursor: CursorWrapper, game_id: int) -> list[Departure]:
    """Return who left a game, as its log says: a process of an older version writes no more than that."""
    cursor.execute(
        "SELECT event.body, game.started_ms + event.at FROM games_event event JOIN games_game game"
        " ON game.id = event.game_id WHERE event.game_id = %s AND event.body LIKE %s",
        [game_id, '%"abandoned"%'],
    )
    events = [(json.loads(body), at_ms) for body, at_ms in cursor.fetchall()]
    return [Departure(event["seat"], event["by"], at_ms) for event, at_ms in events if event["type"] == "abandoned"]


def _finish_numbers(cursor: CursorWrapper, endings: Mapping[int, Ending]) -> dict[int, int]:
    """The next numbers of each ladder; its counter is locked until the transaction ends, so they appear in order."""
    ladders: dict[str, list[int]] = {}
    for game_id, ending in endings.items():
        if ending.ladder is not None:
            ladders.setdefault(ending.ladder, []).append(game_id)
    numbers: dict[int, int] = {}
    for ladder, game_ids in sorted(ladders.items()):
        cursor.execute(
            "INSERT INTO games_finish (ladder, last) VALUES (%s, %s)"
            " ON CONFLICT (ladder) DO UPDATE SET last = games_finish.last + excluded.last RETURNING last",
            [ladder, len(game_ids)],
        )
        last = int(cursor.fetchone()[0])
        numbers.update(zip(game_ids, range(last - len(game_ids) + 1, last + 1), strict=True))
    return numbers


def _lost_ms(cursor: CursorWrapper, game_id: int) -> tuple[int, int]:
    """For how long the game's process was gone, and for how long it lived and stood still."""
    cursor.execute("SELECT body FROM games_event WHERE game_id = %s AND body LIKE %s", [game_id, '%"resumed"%'])
    # More lines than these have the word in them.
    events = [json.loads(body) for (body,) in cursor.fetchall()]
    resumed = [(event.get("stalled", False), event["lost_ms"]) for event in events if event["type"] == "resumed"]
    return sum(ms for stalled, ms in resumed if not stalled), sum(ms for stalled, ms in resumed if stalled)


def _moment(ms: int | None) -> str | datetime | None:
    return None if ms is None else connection.ops.adapt_datetimefield_value(datetime.fromtimestamp(ms / 1000, UTC))


@dataclass(frozen=True, slots=True)
class Tail:
    """What a game's log says after a line, and what its row says."""

    started_ms: int | None
    kept_by: int | None
    ended: bool
    lines: Sequence[Line]


def since(game_id: int, seq: int) -> Tail:
    """The lines after `seq`, in order, from the rows or from the record; `Gone` where the game is."""
    with connection.cursor() as cursor:
        # The row first: what is appended between the two questions is then read, not missed.
        cursor.execute(
            "SELECT started_ms, kept_by_id, ended IS NOT NULL, head FROM games_game WHERE id = %s", [game_id]
        )
        row = cursor.fetchone()
        if row is None:
            raise Gone
        started_ms, kept_by, ended, head = row
        cursor.execute(
            "SELECT seq, at, body, seat, command_id FROM games_event WHERE game_id = %s AND seq > %s ORDER BY seq",
            [game_id, seq],
        )
        lines = [Line(*row) for row in cursor.fetchall()]
        if head > (lines[-1].seq if lines else seq):
            # Rows go in the very transaction that brings the record.
            lines = [line for line in _archived(cursor, game_id) if line.seq > seq]
        return Tail(started_ms, kept_by, bool(ended), lines)


def settle(game_id: int) -> None:
    """Wait until no append is under way whose answer was lost: what the log does not have then, it will never have.

    A transaction whose COMMIT was sent holds the game's row until it ends. On SQLite every append has ended by the time
    its writer hears of it.
    """
    if connection.features.has_select_for_update:
        with transaction.atomic(), connection.cursor() as cursor:
            _heads(cursor, [game_id])


def _archived(cursor: CursorWrapper, game_id: int) -> list[Line]:
    cursor.execute("SELECT packed FROM games_record WHERE game_id = %s", [game_id])
    row = cursor.fetchone()
    if row is None or row[0] is None:
        raise Gone
    return [Line(seq, at, body) for seq, at, body in packing.lines(bytes(row[0]))]


def archive(game_id: int, packed: bytes) -> bool:
    """Put the record in the place of a finished game's rows, all or nothing; False where somebody did, or it runs."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Of two at once the second waits here, and finds nothing left to do.
        cursor.execute(
            "UPDATE games_game SET kept_as = 'record' WHERE id = %s AND kept_as <> 'record' AND ended IS NOT NULL",
            [game_id],
        )
        if cursor.rowcount != 1:
            return False
        cursor.execute("DELETE FROM games_record WHERE game_id = %s", [game_id])
        cursor.execute(
            "INSERT INTO games_record (game_id, at, packed, faults) VALUES (%s, %s, %s, '')",
            [game_id, connection.ops.adapt_datetimefield_value(datetime.now(UTC)), packed],
        )
        cursor.execute("DELETE FROM games_event WHERE game_id = %s", [game_id])
    return True


def heads(game_ids: Iterable[int]) -> dict[int, int]:
    """How far the logs of these games are."""
    ids = list(game_ids)
    if not ids:
        return {}
    marks = ", ".join(["%s"] * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, head FROM games_game WHERE id IN ({marks})", ids)  # noqa: S608  (marks only)
        return dict(cursor.fetchall())


class Pen:
    """This process's writer: a thread of its own, begun with the first append."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[Append, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def append(self, append: Append) -> asyncio.Future[None]:
        """Done when it is on disk; fails with `Behind` or `Unwritten`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)
            self._thread.start()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put((append, future))
        return future

    def close(self) -> None:
        """Write what waits, then end the thread."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        going_on, crowd = True, False
        while going_on:
            batch = [self._waiting.get()]
            if crowd:
                time.sleep(GATHER_SECONDS)
            while len(batch) < BATCH:
                try:
                    batch.append(self._waiting.get_nowait())
                except queue.Empty:
                    break
            going_on, crowd = None not in batch, len(batch) >= CROWD
            if entries := [entry for entry in batch if entry is not None]:
                self._write(entries)
        connections.close_all()

    def _write(self, entries: list[tuple[Append, "asyncio.Future[None]"]]) -> None:
        answers: list[tuple[asyncio.Future[None], Exception | None]] = []
        try:
            with deadlines.within(ANSWER_SECONDS):
                behind = write([append for append, _ in entries])
        except Exception as error:
            # No error may end this thread: all players' moves pass through it.
            of_one_game = isinstance(error, (IntegrityError, DataError)) or _is_locked(error)
            if of_one_game and len(entries) > 1:
                # One that does not fit must not take the others with it.
                for entry in entries:
                    self._write([entry])
                return
            pulse.failed()
            _log_failure(error)
            failure: Unwritten
            if of_one_game:
                failure = Obstructed(str(error))
            else:
                _hang_up()
                failure = Uncertain(str(error)) if isinstance(error, Uncertain) else Unwritten(str(error))
            answers = [(future, failure) for _, future in entries]
        else:
            answers = [(future, Behind() if append.game_id in behind else None) for append, future in entries]
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], Exception | None]]] = {}
        for future, answer in answers:
            by_loop.setdefault(future.get_loop(), []).append((future, answer))
        for loop, part in by_loop.items():
            try:
                loop.call_soon_threadsafe(_answer, part)
            except RuntimeError:
                logger.debug("Nobody waits for this append any more: its event loop has closed.")


def _is_locked(error: Exception) -> bool:
    """Whether another writer held a row for too long."""
    return isinstance(error, OperationalError) and getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE


def _log_failure(error: Exception) -> None:
    if isinstance(error, (IntegrityError, DataError)):
        logger.error("An append does not fit the log", exc_info=error)
    elif isinstance(error, (DatabaseError, InterfaceError, Uncertain)):
        logger.error("The log cannot be written: %s", error)
    else:
        logger.error("The log cannot be written: %s", error, exc_info=error)


def _hang_up() -> None:
    """Have the next statement of this thread begin on a new connection."""
    with contextlib.suppress(DatabaseError, InterfaceError):
        connection.close()


def _answer(answers: list[tuple["asyncio.Future[None]", Exception | None]]) -> None:
    for future, error in answers:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


class Reader:
    """This process's other thread for the log: reads, and rows that change with a game but are not its events."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="log-reader")
        # Whether the last job had no answer; only the thread asks.
        self._is_failing = False

    async def run(self, job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of `job`, or `Unwritten` where the database did not give one in time.

        While it gives none, jobs that have waited for their turn for that long are not tried: they would add up.
        """
        asked_at = time.monotonic()

        def work() -> T:
            if self._is_failing and time.monotonic() - asked_at > ANSWER_SECONDS:
                raise Unwritten("the database gives no answers")
            try:
                with deadlines.within(ANSWER_SECONDS):
                    answer = job(*args, **kwargs)
            except (DatabaseError, InterfaceError) as error:
                self._is_failing = True
                _hang_up()
                raise Unwritten(str(error)) from error
            self._is_failing = False
            return answer

        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        self._pool.submit(connections.close_all)
        self._pool.shutdown()
