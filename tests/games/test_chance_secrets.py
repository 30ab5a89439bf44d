"""What decides a game's chance stays in tables of its own, and what moves it there loses nothing."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games import chance_secrets, history, opening
from games.models import Game, GameSecret, Seat, SeatSecret
from games.opening import NewSeat, open_game
from games.rules.chance import NO_NONCE
from tests.games.finishes import finish, people

ROOT = Path(__file__).resolve().parents[2]
SECRET = (GameSecret, SeatSecret)
# A share is the hash of a nonce, and public once all are fixed.
SECRET_COLUMN = re.compile(r"(^|_)(seed|nonce|secret|salt)(_|$)")


@pytest.fixture
def game() -> Game:
    person = User.objects.create_user("Irma Vep")
    return open_game([NewSeat("violet", person.pk), NewSeat("amber", strength="master")])


def test_only_the_tables_of_secrets_have_columns_of_secrets() -> None:
    wrong = [
        f"{model._meta.label}.{field.name}"
        for model in apps.get_app_config("games").get_models(include_auto_created=True)
        if model not in SECRET
        for field in model._meta.get_fields()
        if SECRET_COLUMN.search(field.name)
    ]
    assert not wrong


@pytest.mark.parametrize("model", SECRET)
def test_no_relation_and_no_administration_leads_to_a_secret(model: type[models.Model]) -> None:
    assert model not in admin.site._registry
    back = [one for other in apps.get_models() for one in other._meta.get_fields() if one.related_model is model]
    assert not back
    inlines = [one.model for listed in admin.site._registry.values() for one in listed.inlines]
    assert model not in inlines


def test_only_the_one_module_reads_the_tables_of_secrets() -> None:
    named = re.compile(r"GameSecret|SeatSecret|games_gamesecret|games_seatsecret")
    own = {"chance_secrets.py", "models/chance.py", "models/__init__.py", "management/seeding.py"}
    reading = {
        str(path.relative_to(ROOT / "games"))
        for path in (ROOT / "games").rglob("*.py")
        if "migrations" not in path.parts and named.search(path.read_text())
    }
    assert reading == own


@pytest.mark.django_db
def test_lists_of_games_load_no_secret(game: Game) -> None:
    finish(people("Max", "Moll"))
    with CaptureQueriesContext(connection) as asked:
        assert history.page({}).entries
        assert Game.objects.select_related("room").prefetch_related("seats__user").count() == 2
        list(Seat.objects.select_related("game"))
    assert not [query["sql"] for query in asked if "secret" in query["sql"]]


@pytest.mark.django_db
def test_an_opened_game_does_not_print_its_secrets(game: Game) -> None:
    chance_secrets.keep_nonce(game.pk, 0, b"n" * 16)
    opened, kept = opening.find(game.code), chance_secrets.of_game(game.pk)
    assert opened is not None
    assert (opened.server_seed, opened.sitters[0].nonce) == (kept.server_seed, b"n" * 16)
    assert repr(kept.server_seed) not in repr((opened, kept))
    assert repr(b"n" * 16) not in repr((opened, kept))


@pytest.mark.both_databases
@pytest.mark.django_db
def test_the_first_nonce_of_a_seat_counts_and_closing_ends_it(game: Game) -> None:
    assert chance_secrets.of_game(game.pk).nonces == (None, NO_NONCE)
    for nonce in (b"a" * 16, b"b" * 16):
        chance_secrets.keep_nonce(game.pk, 0, nonce)
        assert chance_secrets.nonce_of(game.pk, 0) == b"a" * 16
    other = open_game([NewSeat("violet", User.objects.create_user("Max").pk), NewSeat("amber", strength="master")])
    chance_secrets.close(other.pk)
    chance_secrets.keep_nonce(other.pk, 0, b"c" * 16)
    assert chance_secrets.nonce_of(other.pk, 0) == NO_NONCE
    assert chance_secrets.of_game(game.pk).nonces == (b"a" * 16, NO_NONCE)


@pytest.mark.both_databases
@pytest.mark.django_db
def test_a_game_that_is_deleted_takes_its_secrets_along(game: Game) -> None:
    game.delete()
    assert not GameSecret.objects.exists()
    assert not SeatSecret.objects.exists()


# The move ------------------------------------------------------------------------------------------------------------

STEPS = ("0031_chance_secrets_made", "0031_chance_secrets_moved", "0031_chance_secrets_only")


def migrate_to(*targets: tuple[str, str]) -> Any:
    """The models as they were there."""
    executor = MigrationExecutor(connection)
    executor.migrate(list(targets))
    return MigrationExecutor(connection).loader.project_state(list(targets)).apps


def before_the_move() -> list[tuple[str, str]]:
    graph = MigrationExecutor(connection).loader.graph
    return [parent.key for parent in graph.node_map["games", STEPS[0]].parents if parent.key[0] == "games"]


def old_game(old: Any, code: str, *nonces: bytes | None, ended: bool) -> int:
    fixed = {"rulebook": "fr", "pace": "live", "limits": {}, "edition": "house-1", "markets_by": "draw"}
    when = timezone.now() if ended else None
    row = old.get_model("games", "Game").objects.create(code=code, **fixed, server_seed=code.encode() * 8, ended=when)
    for number, nonce in enumerate(nonces):
        old.get_model("games", "Seat").objects.create(
            game=row, number=number, kind="human", character=f"c{number}", nonce=nonce
        )
    return int(row.pk)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_the_move_there_and_back_loses_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module(f"games.migrations.{STEPS[1]}"), "AT_ONCE", 2)
    latest = MigrationExecutor(connection).loader.graph.leaf_nodes("games")
    before = before_the_move()
    old = migrate_to(*before)
    try:
        codes = ["aaaa", "bbbb", "cccc", "dddd", "eeee"]
        ended = [old_game(old, code, b"x" * 16, bytes(16), ended=True) for code in codes]
        running = old_game(old, "ffff", None, b"y" * 16, ended=False)
        migrate_to(("games", STEPS[1]))
        assert list(GameSecret.objects.order_by("game").values_list("game", flat=True)) == ended
        import_module(f"games.migrations.{STEPS[1]}").move(apps, connection.schema_editor())
        migrate_to(*latest)
        for game_id, code in zip([*ended, running], [*codes, "ffff"], strict=True):
            assert chance_secrets.of_game(game_id).server_seed == code.encode() * 8
        assert chance_secrets.of_game(ended[0]).nonces == (b"x" * 16, bytes(16))
        assert chance_secrets.of_game(running).nonces == (None, b"y" * 16)
        chance_secrets.keep_nonce(running, 0, b"z" * 16)
        old = migrate_to(*before)
        kept = old.get_model("games", "Game").objects.order_by("pk").values_list("server_seed", flat=True)
        assert [bytes(seed) for seed in kept] == [code.encode() * 8 for code in [*codes, "ffff"]]
        nonces = old.get_model("games", "Seat").objects.filter(game=running).order_by("number")
        assert [bytes(nonce) for nonce in nonces.values_list("nonce", flat=True)] == [b"z" * 16, b"y" * 16]
    finally:
        migrate_to(*latest)
