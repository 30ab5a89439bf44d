"""How fast the pages about the past are with what the database holds: for a site after years, fill one with `seed`."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from statistics import median, quantiles
from time import perf_counter
from typing import Any
from urllib.parse import quote

from django.db import connection
from django.db.models import Max
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import NoReverseMatch, reverse

from accounts.models import User
from games.history import Cursor
from games.management.arguments import positive
from games.models import Game

from .aims import Aim

HELP = "history, game, profile and ladder pages, in wall time, with their questions to the database and how it answers"

MOST_MS = 100
# The least of so many turns counts: what others do on the machine shall not.
REPEATS = 3
FILTERS = (
    "pace=relaxed",
    "rulebook=pt&length=short",
    "result=void",
    "length=long&pace=live&rulebook=es",
    "pace=relaxed&rulebook=pt&length=long",
)
OF_PLAYER = ("", "&result=won", "&pace=relaxed", "&rulebook=pt&length=short&result=lost", "&length=long")

Addresses = Callable[["Sample"], Iterator[str]]


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
            list(User.objects.filter(pk__in=wanted)),
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


def _record(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:record", args=[game.code]) for game in sample.games)


def _api(sample: Sample) -> Iterator[str]:
    yield reverse("games:api_games")
    for person in sample.people:
        yield f"{reverse('games:api_games')}?player={quote(person.name)}"


def _profile(sample: Sample) -> Iterator[str]:
    yield from (reverse("games:person", args=[person.name]) for person in sample.people)


def _ladder(sample: Sample) -> Iterator[str]:
    for pace in Game.Pace.values:
        for board in ("all", "season"):
            yield f"{reverse('games:ladders')}?pace={pace}&board={board}"


PAGES: dict[str, Addresses] = {
    "history": _history,
    "filtered": _filtered,
    "player": _of_player,
    "game": _game,
    "record": _record,
    "api": _api,
    "profile": _profile,
    "ladder": _ladder,
}
AIMS = {f"{name}_p95_ms": Aim(f"{name} pages, p95 in ms", most=MOST_MS) for name in PAGES} | {
    f"{name}_queries": Aim(f"{name} pages, questions at most", most=20) for name in PAGES
}


@dataclass
class Measured:
    """One kind of page."""

    ms: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=positive, default=40, help="people and games that are looked at (40)")
    parser.add_argument(
        "--plans", action="store_true", help="say how the database finds what the slowest pages ask for"
    )


def run(options: Mapping[str, object]) -> dict[str, float]:
    number = options["sample"]
    assert isinstance(number, int)
    sample = Sample.of(number)
    figures: dict[str, float] = {}
    for name, addresses in PAGES.items():
        try:
            measured = _measure(list(addresses(sample)))
        except NoReverseMatch:
            continue
        p95 = quantiles(measured.ms, n=20)[-1] if len(measured.ms) > 1 else measured.ms[0]
        figures |= {f"{name}_p95_ms": round(p95, 1), f"{name}_queries": max(measured.queries)}
        middle, (worst, address) = median(measured.ms), measured.slowest
        said = f"{len(measured.ms)} pages, {min(measured.queries)} to {max(measured.queries)} questions"
        sys.stderr.write(f"{name}: {said}, median {middle:.1f} ms, slowest {worst:.1f} ms: {address}\n")
        if options["plans"]:
            _explain(address)
    return figures


def _client(number: int) -> Client:
    """Another address each time: nobody asks too often."""
    return Client(REMOTE_ADDR=f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", SERVER_NAME="localhost")


def _measure(addresses: list[str]) -> Measured:
    measured = Measured()
    for number, address in enumerate(addresses):
        client = _client(number)
        with CaptureQueriesContext(connection) as asked:
            _get(client, address)
        measured.queries.append(len(asked))
        ms = min(_ms(client, address) for _ in range(REPEATS))
        measured.ms.append(ms)
        measured.slowest = max(measured.slowest, (ms, address))
    return measured


def _ms(client: Client, address: str) -> float:
    began = perf_counter()
    _get(client, address)
    return (perf_counter() - began) * 1000


def _get(client: Client, address: str) -> None:
    response = client.get(address)
    if response.status_code != 200:
        raise RuntimeError(f"{address} answers {response.status_code}")


def _explain(address: str) -> None:
    """How the database answers each question of a page."""
    questions: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        questions.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(listen):
        _get(_client(0), address)
    how = "EXPLAIN (ANALYZE, BUFFERS)" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        for sql, params in questions:
            if not sql.startswith("SELECT"):
                continue
            cursor.execute(f"{how} {sql}", params)
            sys.stderr.write(f"\n{sql[:300]}\n")
            sys.stderr.writelines(f"    {' '.join(map(str, row))}\n" for row in cursor.fetchall())
