"""Fills an empty database with as many games as a busy site has after years: real records, over and over.

A few hundred games (`telling.py`) are told again and again, with other people and at another time, in order, with their
figures, and with the ratings and careers that follow. Some of the people are guests, some have left. The same numbers
give the same rows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import chain, count
from random import Random
from typing import Any

from django.core.management.color import no_style
from django.db import connection, models, transaction

from accounts import looks
from accounts.models import User
from games import careers
from games.ladder import set_milestones
from games.ladder.finished import Finished, Sat, outcome_of
from games.ladder.rate import Held, beaten
from games.ladder.rate import play as rate
from games.management.progress import Bar
from games.management.telling import STRENGTH, Told, play
from games.models import Figures, Finish, Game, GameSecret, Ladder, Proof, Rating, RatingEvent, Record, Seat, SeatSecret
from games.models.play import CODE_ALPHABET
from games.rules.terms import Seat as Sitting

YEARS = 3
# Of a hundred people so many are guests, who play no ranked games; every so manieth of the others has gone.
GUESTS = 10
GONE = 97
# Of a hundred games so many are in nobody's lists, of a thousand ranked ones so many were taken out of the ratings.
UNLISTED = 6
VOIDED = 1
# A person's number is drawn with this power: few play much, many a little.
SKEW = 1.8
AT_ONCE = 20_000
PEOPLE_AT_ONCE = 2_000
NAMES = "Badger Cricket Fox Gecko Heron Jackdaw Lynx Magpie Marten Moth Otter Owl Raven Stoat".split()


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
                cursor.executemany(f"INSERT INTO {self._table} ({names}) VALUES ({marks})", whole)  # noqa: S608  (names of ours)


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


def tidy_up() -> None:
    """Let the database look at what it has: it plans its answers by that."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")


# All of it ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Telling:
    """One of the real games told again: when, who sat there (in a bot's seat nobody), what its ladder made of it."""

    number: int
    told: Told
    code: str
    ended: datetime
    people: Sequence[int | None]
    listed: bool
    finish_seq: int | None
    outcome: Game.Rated | None
    voided: bool

    @property
    def sat(self) -> Iterator[tuple[int, Sitting, int | None, tuple[int | None, int], str]]:
        """Each seat's number, what it is, who sat there, place and points, and how they left."""
        told = self.told
        return zip(count(), told.terms.seats, self.people, told.standings, told.conduct, strict=False)


class Seeding:
    """Everything that is to be there."""

    def __init__(self, games: int, people: int, real: int, now: datetime) -> None:
        self.games, self.people, self.now = games, people, now
        self.rng = Random(f"{games}/{people}/{real}")
        self.start = now - timedelta(days=365 * YEARS)
        self.step = (now - self.start) / (games + 1)
        self.told: list[Told] = []
        self.finished: dict[str, int] = {}
        self.held: dict[str, dict[int, Held]] = {pace: {} for pace in Game.Pace.values}
        self.last_played: dict[tuple[str, int], datetime] = {}
        self.lines = 0
        self.real = real
        self.named = people - people * GUESTS // 100

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
        tidy_up()
        careers.recount(Bar("careers", self.people).advance, at_once=PEOPLE_AT_ONCE)
        # A first count has nothing to be compared with: that it differs from no count at all is no finding.
        Proof.objects.filter(of=Proof.Of.CAREERS).delete()
        set_milestones(self.now)
        let_ids_follow()
        tidy_up()

    def _store_people(self) -> None:
        bar = Bar("people", self.people)
        like = User(password="!", joined_at=self.start, seen_on=self.start.date())  # noqa: S106  (it fits nothing)
        rows = Rows(like, ["id", "name", "folded_name", "is_guest", "deleted_at"])

        def people() -> Iterator[Sequence[Any]]:
            for number in range(1, self.people + 1):
                guest = number > self.named
                gone = number % GONE == 0 and not guest
                animal = NAMES[number % len(NAMES)]
                name = f"Guest {animal} {number}" if guest else f"Former {number}" if gone else f"{animal} {number}"
                yield number, name, looks.fold(name), guest, moment(self.start) if gone else None
                bar.advance()

        rows.store(people())

    def _tell(self, number: int) -> Telling:
        told = self.rng.choice(self.told)
        ranked, pace = told.terms.ranked, told.terms.pace
        humans = sum(sitting.kind == "human" for sitting in told.terms.seats)
        drawn: dict[int, None] = {}
        while len(drawn) < humans:
            drawn[1 + int((self.named if ranked else self.people) * self.rng.random() ** SKEW)] = None
        people = iter(drawn)
        finish_seq = outcome = None
        if ranked:
            finish_seq = self.finished[pace] = self.finished.get(pace, 0) + 1
            sat = [Sat("human", 1, False, place) for place, _ in told.standings]
            outcome = outcome_of(pace, told.reason, told.rounds, told.lost_ms, sat)
        return Telling(
            number,
            told,
            code="".join(self.rng.choices(CODE_ALPHABET, k=10)),
            ended=self.start + number * self.step,
            people=[next(people) if sitting.kind == "human" else None for sitting in told.terms.seats],
            listed=self.rng.randrange(100) >= UNLISTED,
            finish_seq=finish_seq,
            outcome=outcome,
            voided=ranked and self.rng.randrange(1_000) < VOIDED,
        )

    def _store_games(self, tellings: Sequence[Telling]) -> None:
        Rows(Game(edition="house-1", kept_as=Game.Kept.RECORD, counted=True), GAME).store(map(_game, tellings))
        Rows(Seat(), SEAT).store(row for telling in tellings for row in _seats(telling))
        Rows(GameSecret(), GAME_SECRET).store((one.number, one.told.terms.server_seed) for one in tellings)
        Rows(SeatSecret(), SEAT_SECRET).store(
            (one.number, number, sitting.nonce) for one in tellings for number, sitting, *_ in one.sat
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
        if one.finish_seq is None or one.outcome is None:
            return
        pace, held = one.told.terms.pace, self.held[one.told.terms.pace]
        players = tuple(sorted((person, place) for _, _, person, (place, _), _ in one.sat if person and place))
        game = Finished(one.number, one.finish_seq, one.ended, one.outcome, one.voided, one.listed, players)
        if not game.counts:
            return
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
    "id code created rulebook pace ranked limits markets_by faces commitment head started_ms ended reason"
    " rounds lost_ms finish_seq listed rated voided"
).split()
SEAT = "id game_id number kind user_id strength character place points conduct left_at ended".split()
GAME_SECRET = "game_id server_seed".split()
SEAT_SECRET = "game_id number nonce".split()
RECORD = "game_id at packed".split()
LINE = "id game_id player_id pace finish_seq at before delta after k games_before season season_gain beaten".split()


def _game(one: Telling) -> tuple[Any, ...]:
    told = one.told
    ended, started_ms = moment(one.ended), int(one.ended.timestamp() * 1000) - told.length_ms
    return (
        *(one.number, one.code, moment(one.ended - timedelta(milliseconds=told.length_ms))),
        *(told.terms.rulebook, told.terms.pace, told.terms.ranked, json.dumps(told.terms.limits.as_json())),
        *(told.terms.markets_by, json.dumps(list(told.terms.faces))),
        *(told.terms.commitment, told.head, started_ms, ended, told.reason, told.rounds, told.lost_ms),
        *(one.finish_seq, one.listed),
        one.outcome.value if one.outcome else "",
        moment(one.ended + timedelta(days=1)) if one.voided else None,
    )


def _seats(one: Telling) -> Iterator[tuple[Any, ...]]:
    began = one.ended - timedelta(milliseconds=one.told.length_ms)
    for number, sitting, person, standing, conduct in one.sat:
        left_ms = one.told.left_ms[number]
        yield (
            *(_seat_id(one, number), one.number, number, sitting.kind, person),
            "" if person else STRENGTH,
            *(sitting.character, *standing, conduct),
            None if left_ms is None else moment(began + timedelta(milliseconds=left_ms)),
            moment(one.ended),
        )


def _seat_id(one: Telling, seat: int) -> int:
    """Room for four in each game."""
    return 4 * (one.number - 1) + seat + 1
