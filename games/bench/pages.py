"""How fast the pages about the past are with what the database holds: for a site after years, fill one with `seed`."""

import argparse
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Max
from django.test import Client
from django.test.client import ClientHandler
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import User
from games.history import Cursor
from games.ladder.boards import Key
from games.management.arguments import positive
from games.models import Game, Rating

from .aims import Aim

HELP = (
    "pages about games, people and ladders, signed in or not: wall time of every visit, questions to the database, "
    "its answers"
)

MOST_MS = 100
# Every one of so many visits to a page counts, the first one too, for which nothing is at hand yet.
VISITS = 3
FILTERS = (
    "pace=relaxed",
    "rulebook=pt&length=short",
    "result=void",
    "length=long&pace=live&rulebook=es",
    "pace=relaxed&rulebook=pt&length=long",
)
OF_PLAYER = ("", "&result=won", "&pace=relaxed", "&rulebook=pt&length=short&result=lost", "&length=long")

Addresses = Callable[["Sample"], Iterator[str]]
Own = Callable[[User], Iterator[str]]


@dataclass
class Sample:
    """People and games that pages are asked for: those who play most and anybody, the latest and any."""

    rng: Random
    people: list[User]
    games: list[Game]

    @classmethod
    def of(cls, number: int) -> "Sample":
        rng = Random(number)
        people = User.objects.aggregate(Max("pk"))["pk__max"] or 0
        games = Game.objects.aggregate(Max("pk"))["pk__max"] or 0
        wanted = {*range(1, 1 + number // 4), *(rng.randint(1, max(1, people)) for _ in range(number))}
        some = {rng.randint(1, max(1, games)) for _ in range(number)}
        return cls(
            rng,
            list(User.objects.filter(pk__in=wanted, is_guest=False, closed_at=None, deleted_at=None)),
            list(Game.objects.filter(pk__in=some, ended__isnull=False)),
        )


def _history(sample: Sample) -> Iterator[str]:
    yield reverse("games:history")
    for game in sample.games:
        assert game.ended is not None
        yield f"{reverse('games:history')}?after={Cursor(game.ended, game.pk)}"


def _filtered(sample: Sample) -> Iterator[str]:
    for filters in FILTERS:
        yield f"{reverse('games:history')}?{filters}"
        for game in sample.games[:3]:
            assert game.ended is not None
            yield f"{reverse('games:history')}?{filters}&until={game.ended.date()}"


def _of_player(sample: Sample) -> Iterator[str]:
    for person in sample.people:
        name = quote(person.name)
        yield f"{reverse('games:history')}?player={name}{sample.rng.choice(OF_PLAYER)}"
        yield f"{reverse('games:history')}?player={name}&opponent={quote(sample.rng.choice(sample.people).name)}"


def _game(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:story", args=[game.code]) for game in sample.games)


def _replay(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:replay", args=[game.code]) for game in sample.games)


def _record(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:record", args=[game.code]) for game in sample.games)


def _api(sample: Sample) -> Iterator[str]:
    yield reverse("games:api_games")
    for person in sample.people:
        yield f"{reverse('games:api_games')}?player={quote(person.name)}"


def _profile(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:person", args=[person.name]) for person in sample.people)


def _opponents(sample: Sample) -> Iterator[str]:
    for person in sample.people:
        yield reverse("games:opponents", args=[person.name])
        yield f"{reverse('games:opponents', args=[person.name])}?after=2~{sample.rng.choice(sample.people).pk}"


def _ladder(sample: Sample) -> Iterator[str]:
    yield from _boards()
    for rating in Rating.objects.filter(user__in=sample.people):
        address = f"{reverse('games:ladders')}?pace={rating.pace}"
        yield f"{address}&after={Key(rating.rating, rating.user_id)}"
        yield f"{address}&board=season&after={Key(rating.season_gain, rating.user_id)}"


def _boards() -> Iterator[str]:
    for pace in Game.Pace.values:
        for board in ("all", "season"):
            yield f"{reverse('games:ladders')}?pace={pace}&board={board}"


def _own_history(person: User) -> Iterator[str]:
    yield reverse("games:history")
    for words in ("", "&result=left", "&result=won&pace=relaxed"):
        yield f"{reverse('games:history')}?player={quote(person.name)}{words}"


def _own_profile(person: User) -> Iterator[str]:
    yield reverse("games:person", args=[person.name])


def _own_ladder(person: User) -> Iterator[str]:
    yield from _boards()


PAGES: dict[str, Addresses] = {
    "history": _history,
    "filtered": _filtered,
    "player": _of_player,
    "game": _game,
    "replay": _replay,
    "record": _record,
    "api": _api,
    "profile": _profile,
    "opponents": _opponents,
    "ladder": _ladder,
}
# What somebody signed in sees of themselves: own games marked, the own place, the own conduct.
OWN_PAGES: dict[str, Own] = {
    "own_history": _own_history,
    "own_profile": _own_profile,
    "own_ladder": _own_ladder,
}
AIMS = {f"{name}_p95_ms": Aim(f"{name} pages, p95 in ms", most=MOST_MS) for name in (*PAGES, *OWN_PAGES)} | {
    f"{name}_queries": Aim(f"{name} pages, questions at most", most=20) for name in (*PAGES, *OWN_PAGES)
}


@dataclass
class Measured:
    """One kind of page: every visit's time, and each page's questions."""

    ms: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    slowest: tuple[float, "Visit"] | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """One page as one browser asks for it."""

    client: Client
    address: str

    def get(self) -> None:
        response = self.client.get(self.address)
        if response.status_code != 200:
            raise RuntimeError(f"{self.address} answers {response.status_code}")

    def ms(self) -> float:
        began = perf_counter()
        self.get()
        return (perf_counter() - began) * 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=positive, default=40, help="people and games that are looked at (40)")
    parser.add_argument(
        "--plans", action="store_true", help="say how the database finds what the slowest page of each kind asks for"
    )


def run(options: Mapping[str, object]) -> dict[str, float]:
    """Nothing of it stays: neither the sessions, nor that these people were here."""
    # A page finds its pictures and scripts by what is in them.
    call_command("collectstatic", interactive=False, verbosity=0)
    number = options["sample"]
    assert isinstance(number, int)
    sample = Sample.of(number)
    figures: dict[str, float] = {}
    # A line in the log for each of a thousand visits helps nobody.
    logging.disable(logging.INFO)
    try:
        with transaction.atomic():
            for name, visits in {**_visits(sample), **_own_visits(sample)}.items():
                figures |= _figures(name, _measure(visits), explain=bool(options["plans"]))
            transaction.set_rollback(True)
    finally:
        logging.disable(logging.NOTSET)
    return figures


def _visits(sample: Sample) -> dict[str, list[Visit]]:
    return {
        name: [Visit(_client(number), address) for number, address in enumerate(addresses(sample))]
        for name, addresses in PAGES.items()
    }


def _own_visits(sample: Sample) -> dict[str, list[Visit]]:
    clients = {person: _signed_in(person) for person in sample.people}
    return {
        name: [Visit(client, address) for person, client in clients.items() for address in addresses(person)]
        for name, addresses in OWN_PAGES.items()
    }


def _client(number: int) -> Client:
    """Another address each time, so that nobody asks too often; the site that answers is one, and started once."""
    client = Client(REMOTE_ADDR=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", SERVER_NAME="localhost")
    client.handler = _site()
    return client


@cache
def _site() -> ClientHandler:
    handler = Client().handler
    handler.load_middleware()
    return handler


def _signed_in(person: User) -> Client:
    client = _client(person.pk)
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    # The first page of all notes that the person is here.
    Visit(client, reverse("games:data")).get()
    return client


def _measure(visits: list[Visit]) -> Measured:
    measured = Measured()
    for visit in visits:
        for _ in range(VISITS):
            ms = visit.ms()
            measured.ms.append(ms)
            if measured.slowest is None or ms > measured.slowest[0]:
                measured.slowest = (ms, visit)
        with CaptureQueriesContext(connection) as asked:
            visit.get()
        measured.queries.append(len(asked))
    return measured


def _figures(name: str, measured: Measured, *, explain: bool) -> dict[str, float]:
    assert measured.slowest is not None
    p95 = quantiles(measured.ms, n=20)[-1] if len(measured.ms) > 1 else measured.ms[0]
    middle, (worst, visit) = median(measured.ms), measured.slowest
    asked = f"{min(measured.queries)} to {max(measured.queries)} questions"
    said = f"{len(measured.queries)} pages, every one of {len(measured.ms)} visits, {asked}"
    sys.stderr.write(f"{name}: {said}, median {middle:.1f} ms, slowest {worst:.1f} ms: {visit.address}\n")
    if explain:
        _explain(visit)
    return {f"{name}_p95_ms": round(p95, 1), f"{name}_queries": max(measured.queries)}


def _explain(visit: Visit) -> None:
    """How the database answers each question of a page."""
    questions: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        questions.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen):
        visit.get()
    how = "EXPLAIN (ANALYZE, BUFFERS)" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        for sql, params in questions:
            if not sql.startswith("SELECT"):
                continue
            cursor.execute(f"{how} {sql}", params)
            sys.stderr.write(f"\n{sql[:300]}\n")
            sys.stderr.writelines(f"    {' '.join(map(str, row))}\n" for row in cursor.fetchall())
