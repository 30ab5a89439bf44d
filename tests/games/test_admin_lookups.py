"""No list of the administration answers about a column that it does not show."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Field, Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from games.models import Reason
from games.moderation import acts
from games.moderation.acts import Why
from games.moderation.reports import Moment, file_report
from tests.games.finishes import finish
from tests.games.night_watch import client_of, game_of, moderator, somebody

pytestmark = pytest.mark.django_db

ADMINS = list(admin.site._registry.items())
HOW = ("", "__exact", "__regex", "__iregex", "__startswith", "__contains", "__gte", "__lt", "__in", "__isnull", "__len")
PARAMETER = re.compile(r"[?;&]([a-z_]+)=")


def path_of(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def columns(model: type[Model], deep: bool = True) -> Iterator[str]:
    """Every column of a model, and those of each model that a relation of it, either way, leads to."""
    yield "pk"
    for field in model._meta.get_fields():
        name = field.name if isinstance(field, Field) else field.get_accessor_name() or field.name
        for spelt in {field.name, name, getattr(field, "attname", field.name)}:
            yield spelt
            if deep and field.is_relation and isinstance(field.related_model, type):
                yield from (f"{spelt}__{column}" for column in columns(field.related_model, deep=False))


@pytest.fixture
def office() -> Client:
    return client_of(moderator())


@pytest.fixture
def house() -> None:
    """A row in each list."""
    irma, max_ = somebody("Irma Vep"), somebody("Max")
    file_report(max_, irma, Reason.NAME, "", Moment(game_of(irma, max_)))
    acts.rename(moderator("Lupin", administrator=True), somebody("Foul Name"), Why(Reason.NAME))
    finish([irma, max_])


@pytest.mark.parametrize(("model", "listed"), ADMINS, ids=[str(model._meta.model_name) for model, _ in ADMINS])
def test_no_question_but_the_shown_filters_is_allowed(model: type[Model], listed: Any, office: Client) -> None:
    shown = set(PARAMETER.findall(office.get(path_of(model)).content.decode())) - {"o", "p", "q"}
    request = RequestFactory().get(path_of(model))
    request.user = User.objects.get(name="Juve")
    asked = {column + how for column in columns(model) for how in HOW}
    assert len(asked) > 50
    allowed = {lookup for lookup in asked if listed.lookup_allowed(lookup, "1", request)}
    assert {one for one in allowed if not one.endswith("__isnull")} <= shown | {"pk__lt"}
    assert {one.removesuffix("__isnull") + "__exact" for one in allowed if one.endswith("__isnull")} <= shown


@pytest.mark.both_databases
@pytest.mark.parametrize(("model", "listed"), ADMINS, ids=[str(model._meta.model_name) for model, _ in ADMINS])
def test_every_hidden_column_is_refused_with_400(model: type[Model], listed: Any, office: Client, house: None) -> None:
    path = path_of(model)
    assert office.get(path).status_code == 200
    for number, column in enumerate(columns(model, deep=False)):
        how = HOW[1 + number % (len(HOW) - 1)]
        lookup = column + how
        if lookup in {"pk__lt", *(f"{one}__exact" for one in listed.list_filter)}:
            continue
        assert office.get(path, {lookup: "^1"}).status_code == 400, lookup
        if column not in ("pk", model._meta.pk.name):
            assert office.get(path, {"_to_field": column, "_popup": "1"}).status_code == 400, column
            assert office.get(f"{path}1/change/", {"_to_field": column}).status_code == 400, column


ATTACKS = [
    "accounts/user/?password__regex=^argon2",
    "accounts/user/?must_change_password=1",
    "accounts/user/?authenticator__data__contains=a",
    "accounts/user/?emailaddress__email__startswith=a",
    "games/game/?server_seed__regex=^.",
    "games/game/?gamesecret__server_seed__gte=1",
    "games/game/?seats__nonce__isnull=0",
    "games/act/?before__name__startswith=Foul",
    "games/act/?before__said__contains=a",
    "games/act/?person__password__regex=^argon2",
    "games/act/?by=1",
    "games/case/?about__password__startswith=argon2",
    "games/room/?owner__password__contains=1",
    "games/ratingevent/?player__password__contains=1",
    "games/server/?pulse__x__regex=(",
    "games/game/?nothing=1",
    "games/game/?kept_by__pulse__contains=x",
]


@pytest.mark.both_databases
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_address_that_fishes_for_a_secret_is_refused(attack: str, office: Client, house: None) -> None:
    assert office.get(f"/admin/{attack}").status_code == 400
    assert office.post(f"/admin/{attack}", {"action": "close_stale", "_selected_action": ["1"]}).status_code == 400


@pytest.mark.parametrize(("model", "listed"), ADMINS, ids=[str(model._meta.model_name) for model, _ in ADMINS])
def test_a_list_is_ordered_by_shown_columns_only(model: type[Model], listed: Any, office: Client, house: None) -> None:
    table = model._meta.db_table
    shown = {
        model._meta.get_field(name).column
        for name in listed.list_display
        if name in {f.name for f in model._meta.fields}
    }
    for order in [*map(str, range(-12, 13)), "1.2.-3", "x", "-", "--1", "1e9", "9" * 30]:
        with CaptureQueriesContext(connection) as asked:
            assert office.get(path_of(model), {"o": order}).status_code == 200
        orders = " ".join(sql["sql"].partition(" ORDER BY ")[2] for sql in asked if f'FROM "{table}"' in sql["sql"])
        assert set(re.findall(rf'"{table}"\."(\w+)"', orders)) <= shown | {model._meta.pk.column}


def test_nothing_is_completed_for_a_form_that_is_not_there(office: Client, house: None) -> None:
    asked = {"app_label": "games", "model_name": "act", "field_name": "person", "term": ""}
    assert office.get("/admin/autocomplete/", asked).status_code == 404


@pytest.mark.parametrize(("model", "listed"), ADMINS, ids=[str(model._meta.model_name) for model, _ in ADMINS])
def test_a_row_s_history_shows_nothing_of_the_row(model: type[Model], listed: Any, office: Client, house: None) -> None:
    row = model._default_manager.order_by("-pk").first()
    if row is None:
        return
    page = office.get(f"{path_of(model)}{row.pk}/history/").content.decode()
    hidden = {"password", "before", "words", "limits", "pulse"}
    values = [str(getattr(row, name)) for name in hidden if getattr(row, name, None)]
    assert not [value for value in values if value in page]
