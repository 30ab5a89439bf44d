"""Fills an empty database with as many games as a busy site has after years: real records, over and over.

Bots play a few hundred games in people's seats; each is told again with other people and at another time, in order,
with its figures, and with the ratings and careers that follow. The same numbers give the same rows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import chain
from random import Random
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models, transaction

from accounts import looks
from accounts.models import User
from games import careers, packing
from games.bots.selfplay import SelfPlay, seated
from games.figures import figures_of
from games.ladder.finished import Finished
from games.ladder.rate import Held, beaten
from games.ladder.rate import play as rate
from games.management.progress import Bar
from games.models import Figures, Finish, Game, Ladder, Rating, RatingEvent, Record, Seat
from games.models.play import CODE_ALPHABET
from games.rules import full_rounds, result, score
from games.rules.edition import load_edition
from games.rules.record import as_json, make_record
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, Pace, Rulebook, Terms
from games.rules.terms import Seat as Sitting

CREATED = "2026-01-01T00:00:00Z"
YEARS = 3
# How many of a hundred games have so many players, are played by which rulebook, are relaxed, are ranked.
PLAYERS = ((2, 15), (3, 20), (4, 65))
RULEBOOKS: tuple[tuple[Rulebook, int], ...] = (("fr", 50), ("de", 20), ("it", 15), ("es", 10), ("pt", 5))
RELAXED = 10
RANKED = 85
# A person's number is drawn with this power: few play much, many a little.
SKEW = 1.8
AT_ONCE = 20_000
PEOPLE_AT_ONCE = 2_000
NAMES = "Badger Cricket Fox Gecko Heron Jackdaw Lynx Magpie Marten Moth Otter Owl Raven Stoat".split()


@dataclass(frozen=True, slots=True)
class Told:
    """One real game, ready to be told again."""

    terms: Terms
    packed: bytes
    head: int
    length_ms: int
    reason: str
    rounds: int
    standings: Sequence[tuple[int | None, int]]
    figures: Sequence[dict[str, Any]]


def play(number: int) -> Told:
    """The game of this number, by bots, in the seats of people."""
    rng = Random(number)
    players = _drawn(PLAYERS, rng)
    pace: Pace = "relaxed" if rng.randrange(100) < RELAXED else "live"
    secret = sha256(f"seed/{number}".encode()).digest()
    terms = Terms(
        rulebook=_drawn(RULEBOOKS, rng),
        pace=pace,
        ranked=rng.randrange(100) < RANKED,
        limits=DEFAULT_LIMITS[pace],
        edition=load_edition(),
        seats=tuple(Sitting("human", one, rng.randbytes(16)) for one in CHARACTERS[:players]),
        server_seed=secret,
    )
    game = SelfPlay(terms, seated(terms, ["apprentice"] * players, str(number)))
    log = game.play()
    record = make_record("", CREATED, terms, [""] * players, log)
    counted = figures_of(terms, log)
    ended = result(counted.state)
    assert ended is not None
    places = {seat: place for place, seat in enumerate(ended.ranking, start=1)}
    return Told(
        terms,
        packing.pack(as_json(record)),
        len(log),
        log[-1].at,
        ended.reason,
        full_rounds(counted.state),
        [(places.get(one.seat), one.total) for one in ended.scores],
        [one.columns(score(seat, counted.state.players[seat])) for seat, one in enumerate(counted.seats)],
    )


def _drawn(shares: Sequence[tuple[Any, int]], rng: Random) -> Any:
    return rng.choices([one for one, _ in shares], [share for _, share in shares])[0]


# Rows -----------------------------------------------------------------------------------------------------------------


class Rows:
    """Many rows of one table, all like a first one but for some columns."""

    def __init__(self, like: models.Model, varied: Sequence[str]) -> None:
        model = type(like)
        fields = [field for field in model._meta.concrete_fields if field.column not in varied]
        self._table = connection.ops.quote_name(model._meta.db_table)
        self._columns = [*varied, *(field.column for field in fields)]
        self._rest = [field.get_db_prep_save(getattr(like, field.attname), connection) for field in fields]

    def store(self, rows: Iterable[Sequence[Any]]) -> None:
        """COPY where there is such a thing, else one statement for many."""
        names = ", ".join(connection.ops.quote_name(str(name)) for name in self._columns)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY {self._table} ({names}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row((*row, *self._rest))
            else:
                marks = ", ".join(["%s"] * len(self._columns))
                whole = [(*row, *self._rest) for row in rows]
                cursor.executemany(f"INSERT INTO {self._table} ({names}) VALUES ({marks})", whole)


def moment(when: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(when)


def cents(number: Decimal) -> Any:
    return connection.ops.adapt_decimalfield_value(number, 7, 2)


def day(when: date) -> Any:
    return connection.ops.adapt_datefield_value(when)


def let_ids_follow() -> None:
    """The next new row of each table gets the next id."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [User, Game, Seat, RatingEvent]):
            cursor.execute(statement)


# All of it ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Telling:
    """One of the real games told again: when, and who sat there."""

    number: int
    told: Told
    code: str
    ended: datetime
    people: Sequence[int]
    finish_seq: int | None


class Seeding:
    """Everything that is to be there."""

    def __init__(self, games: int, people: int, real: int, now: datetime) -> None:
        self.games, self.people = games, people
        self.rng = Random(f"{games}/{people}/{real}")
        self.start = now - timedelta(days=365 * YEARS)
        self.step = (now - self.start) / (games + 1)
        self.told: list[Told] = []
        self.finished: dict[str, int] = {}
        self.held: dict[str, dict[int, Held]] = {pace: {} for pace in Game.Pace.values}
        self.last_played: dict[tuple[str, int], datetime] = {}
        self.lines = 0
        self.real = real

    def run(self) -> None:
        bar = Bar("real games", self.real)
        for number in range(self.real):
            self.told.append(play(number))
            bar.advance()
        with transaction.atomic():
            self._store_people()
        bar = Bar("games", self.games)
        for first in range(1, self.games + 1, AT_ONCE):
            last = min(first + AT_ONCE, self.games + 1)
            with transaction.atomic():
                self._store_games([self._tell(number) for number in range(first, last)])
            bar.advance(last - first)
        with transaction.atomic():
            self._store_standings()
        careers.recount(Bar("careers", self.people).advance, at_once=PEOPLE_AT_ONCE)
        let_ids_follow()
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("VACUUM (ANALYZE)")

    def _store_people(self) -> None:
        bar = Bar("people", self.people)
        like = User(password="!", joined_at=self.start, seen_on=self.start.date())
        rows = Rows(like, ["id", "name", "folded_name"])

        def people() -> Iterator[Sequence[Any]]:
            for number in range(1, self.people + 1):
                name = f"{NAMES[number % len(NAMES)]} {number}"
                yield number, name, looks.fold(name)
                bar.advance()

        rows.store(people())

    def _tell(self, number: int) -> Telling:
        told = self.rng.choice(self.told)
        people: dict[int, None] = {}
        while len(people) < len(told.terms.seats):
            people[1 + int(self.people * self.rng.random() ** SKEW)] = None
        finish_seq = None
        if told.terms.ranked:
            finish_seq = self.finished[told.terms.pace] = self.finished.get(told.terms.pace, 0) + 1
        code = "".join(self.rng.choices(CODE_ALPHABET, k=10))
        return Telling(number, told, code, self.start + number * self.step, list(people), finish_seq)

    def _store_games(self, tellings: Sequence[Telling]) -> None:
        Rows(Game(edition="house-1", kept_as=Game.Kept.RECORD, markets_by="draw", counted=True), GAME).store(
            map(_game, tellings)
        )
        Rows(Seat(kind=Seat.Kind.HUMAN, conduct=Seat.Conduct.FINISHED), SEAT).store(
            row for telling in tellings for row in _seats(telling)
        )
        Rows(Record(), RECORD).store((one.number, moment(one.ended), one.told.packed) for one in tellings)
        names = list(self.told[0].figures[0])
        Rows(Figures(), ["seat_id", *names]).store(
            (_seat_id(telling, seat), *figures.values())
            for telling in tellings
            for seat, figures in enumerate(telling.told.figures)
        )
        Rows(RatingEvent(generation=0), LINE).store(chain.from_iterable(map(self._lines, tellings)))

    def _lines(self, one: Telling) -> Iterator[tuple[Any, ...]]:
        """What the game adds to the ledger."""
        if one.finish_seq is None:
            return
        pace, held = one.told.terms.pace, self.held[one.told.terms.pace]
        places = [place or 0 for place, _ in one.told.standings]
        players = tuple(sorted(zip(one.people, places, strict=True)))
        game = Finished(one.number, one.finish_seq, one.ended, Game.Rated.RATED, False, True, players)
        changes = rate(held, game)
        for user_id, change in changes:
            self.lines += 1
            self.last_played[pace, user_id] = one.ended
            after = held[user_id]
            best = beaten(game, changes, user_id)
            yield (
                *(self.lines, one.number, user_id, pace, one.finish_seq, moment(one.ended)),
                *map(cents, (change.before, change.delta, change.after)),
                *(change.k, change.games_before, day(after.season), cents(after.season_gain)),
                None if best is None else cents(best),
            )

    def _store_standings(self) -> None:
        for pace, last in self.finished.items():
            Finish.objects.create(ladder=pace, last=last)
            Ladder.objects.create(pace=pace, rated_to=last)
        Rating.objects.bulk_create(
            (
                Rating(
                    user_id=user_id,
                    pace=pace,
                    generation=0,
                    rating=one.standing.rating,
                    games=one.standing.games,
                    last_played=self.last_played[pace, user_id],
                    season=one.season,
                    season_gain=one.season_gain,
                )
                for pace, held in self.held.items()
                for user_id, one in held.items()
            ),
            batch_size=1_000,
        )


GAME = (
    "id code created rulebook pace ranked limits server_seed commitment head started_ms ended reason rounds finish_seq"
    " rated"
).split()
SEAT = "id game_id number user_id character nonce place points ended".split()
RECORD = "game_id at packed".split()
LINE = ("id game_id player_id pace finish_seq at before delta after k games_before season season_gain beaten").split()


def _game(one: Telling) -> tuple[Any, ...]:
    told = one.told
    ended, started_ms = moment(one.ended), int(one.ended.timestamp() * 1000) - told.length_ms
    limits = json.dumps(told.terms.limits.as_json())
    return (
        *(one.number, one.code, moment(one.ended - timedelta(milliseconds=told.length_ms))),
        *(told.terms.rulebook, told.terms.pace, told.terms.ranked, limits),
        *(told.terms.server_seed, told.terms.commitment),
        *(told.head, started_ms, ended, told.reason, told.rounds, one.finish_seq),
        Game.Rated.RATED.value if one.finish_seq else "",
    )


def _seats(one: Telling) -> Iterator[tuple[Any, ...]]:
    ended = moment(one.ended)
    for number, (person, sitting) in enumerate(zip(one.people, one.told.terms.seats, strict=True)):
        standing = one.told.standings[number]
        seat_id = _seat_id(one, number)
        yield seat_id, one.number, number, person, sitting.character, sitting.nonce, *standing, ended


def _seat_id(one: Telling, seat: int) -> int:
    """Room for four in each game."""
    return 4 * (one.number - 1) + seat + 1
