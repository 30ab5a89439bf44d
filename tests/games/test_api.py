"""The read API does what its description says, to whoever asks, so often, and tells nothing private."""

import gzip
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.conf import settings as django_settings
from django.test import Client, override_settings
from django.urls import Resolver404, resolve
from django.utils import timezone

from accounts import closing
from accounts.models import User
from games import archive, dumps, history, names
from games.api import doors
from games.api.doors import DOCUMENT
from games.history import HistoryForm
from games.ladder.finished import season_of
from games.models import Game, Ladder, Rating, Seat
from games.opening import FORMER_GUEST
from games.rules.events import REASONS
from games.rules.judge import judge
from games.rules.terms import CHARACTERS
from games.tasks import dump_records
from games.urls import urlpatterns
from tests.games.finished import NAMES, finished
from tests.games.taking import whole

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_user(name) for name in ("Alice", "Bob", "Carla")]


@pytest.fixture
def folder(settings: LazySettings, tmp_path: Path) -> Path:
    settings.DUMPS = tmp_path
    return tmp_path


# The description ------------------------------------------------------------------------------------------------------


def faults(value: Any, schema: dict[str, Any], where: str = "") -> Iterator[str]:
    """What is wrong with a value by a schema of the description."""
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
        "number": float,
        "null": type(None),
    }
    wanted = schema.get("type", [])
    allowed = [kinds[kind] for kind in ([wanted] if isinstance(wanted, str) else wanted)]
    if allowed and type(value) not in allowed:
        yield f"{where}: {value!r} is no {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not in {schema['enum']}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value)
        if schema.get("additionalProperties", True) is False:
            yield from (f"{where}: {name} is not described" for name in value if name not in properties)
        for name, one in value.items():
            yield from faults(one, properties.get(name, {}), f"{where}.{name}")
    if isinstance(value, list):
        for one in value:
            yield from faults(one, schema.get("items", {}), f"{where}[]")


def asked(client: Client, path: str, described: str, status: int = 200, **query: str) -> Any:
    """The answer, which is as the description of that path says."""
    response = client.get(path, query)
    assert response.status_code == status, response.content
    schema = DOCUMENT["paths"][described]["get"]["responses"][str(status)]["content"]["application/json"]["schema"]
    answer = response.json()
    assert list(faults(answer, schema)) == []
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    return answer


def filled(path: str) -> str:
    return path.format(code="abcdefghjk", pk=1, pace="live", name="midnight-2026-01.jsonl.gz")


def refused(answer: Any) -> str:
    """The code of a refusal, which is told as the description says, to pages of any site."""
    assert list(faults(answer.json(), {"$ref": "#/components/schemas/Error"})) == []
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Access-Control-Expose-Headers"] == "X-RateLimit-Remaining, Retry-After"
    assert int(answer.headers["X-RateLimit-Remaining"]) >= 0
    return str(answer.json()["error"]["code"])


def test_every_address_is_described_and_every_description_has_an_address() -> None:
    ours = {str(one.pattern) for one in urlpatterns if str(one.pattern).startswith(("api/", "data/<"))}
    described = set()
    for path in DOCUMENT["paths"]:
        match = resolve(filled(path))
        described.add(match.route)
    assert described == ours


def test_every_filter_of_the_list_is_described() -> None:
    described = {one["name"] for one in DOCUMENT["paths"]["/api/1/games/"]["get"]["parameters"]}
    assert described == set(HistoryForm.base_fields) | {"after"}


def test_the_description_is_served_with_where_the_site_is(client: Client, settings: LazySettings) -> None:
    answer = asked(client, "/api/1/openapi.json", "/api/1/openapi.json")
    assert answer["openapi"].startswith("3.1")
    assert answer["servers"] == [{"url": settings.SITE_URL}]


def test_every_reference_in_the_description_leads_somewhere() -> None:
    for part in json.dumps(DOCUMENT).split('"#/components/')[1:]:
        kind, name = part.partition('"')[0].split("/")
        assert name in DOCUMENT["components"][kind]


def test_every_code_of_a_refusal_is_described_and_every_described_one_is_used() -> None:
    described = DOCUMENT["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    used = re.findall(r'Refusal\(\d+, "(\w+)"', Path(doors.__file__).read_text())
    assert described == sorted(set(used))


def test_what_has_one_of_several_values_has_no_other_in_the_description() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    asked = {one["name"]: one["schema"] for one in DOCUMENT["paths"]["/api/1/games/"]["get"]["parameters"]}
    game, seat = schemas["Game"]["properties"], schemas["Seat"]["properties"]
    assert game["reason"]["enum"] == list(REASONS)
    assert game["rulebook"]["enum"] == asked["rulebook"]["enum"] == list(names.RULEBOOKS)
    assert game["pace"]["enum"] == asked["pace"]["enum"] == Game.Pace.values
    assert seat["character"]["enum"] == list(CHARACTERS)
    assert seat["kind"]["enum"] == Seat.Kind.values
    assert asked["length"]["enum"] == list(history.ROUNDS)
    assert seat["name"]["description"].count(FORMER_GUEST) == 1
    assert f"ask {django_settings.API_LIMIT} times a minute" in DOCUMENT["info"]["description"]


def test_only_reading_is_possible_and_that_is_said_to_pages_of_any_site() -> None:
    client = Client(enforce_csrf_checks=True)
    for path in (*DOCUMENT["paths"], "/api/1/nowhere/", "/games/abcdefghjk/record.json"):
        for method in ("post", "put", "delete", "options"):
            answer = getattr(client, method)(filled(path))
            assert (answer.status_code, refused(answer)) == (405, "read_only")
            assert answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "path", ["/api/", "/api/1/", "/api/2/games/", "/api/1/players/x/", "/api/1/games/%00/", "/api/1/players/1/games"]
)
def test_an_address_that_is_none_is_refused_like_everything_else(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, refused(answer)) == (404, "no_address")


def test_an_address_without_its_last_slash_leads_on_wherever_it_is_asked_from(client: Client) -> None:
    answer = client.get("/api/1/games?pace=live")
    assert answer.headers["Location"] == "/api/1/games/?pace=live"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert client.get("/api/1/games?pace=live", follow=True).json() == {"items": [], "next": None}


@pytest.mark.both_databases
def test_a_name_that_nobody_can_have_is_nobodys(client: Client) -> None:
    for name in ("a\0b", "x" * 5_000, "\U000e0001", ""):
        answer = client.get("/api/1/players/", {"name": name})
        assert (answer.status_code, refused(answer)) == (404, "no_player")
    assert client.get("/people/%00/").status_code == 404


# Games and records ----------------------------------------------------------------------------------------------------


def test_games_are_listed_page_by_page(client: Client, people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history.page, "__kwdefaults__", {**(history.page.__kwdefaults__ or {}), "size": 2})
    games = [finished("fr-2", people[:2], ago=timedelta(days=number)) for number in range(1, 6)]
    address: str | None = "/api/1/games/?player=Alice"
    found = []
    while address:
        query = address.partition("/api/1/games/?")[2]
        answer = asked(client, "/api/1/games/?" + query, "/api/1/games/")
        found += [game["id"] for game in answer["items"]]
        address = answer["next"]
        if len(found) == 2:
            finished("fr-2", people[:2], ago=timedelta(0))
    assert found == [game.code for game in games]


def test_a_game_says_what_the_page_says(client: Client, people: list[User]) -> None:
    game = finished("es-3", people)
    answer = asked(client, f"/api/1/games/{game.code}/", "/api/1/games/{code}/")
    assert [(seat["name"], seat["place"], seat["points"]) for seat in answer["seats"]] == [
        (seat.user.name, seat.place, seat.points)
        for seat in Seat.objects.select_related("user").order_by("number")
        if seat.user
    ]
    assert answer == asked(client, "/api/1/games/", "/api/1/games/")["items"][0]


@pytest.mark.parametrize("name", NAMES)
def test_every_record_that_is_given_out_is_verified(client: Client, people: list[User], name: str) -> None:
    game = finished(name)
    for _ in range(2):
        for path in (f"/api/1/games/{game.code}/record/", f"/games/{game.code}/record.json"):
            asked(client, path, "/api/1/games/{code}/record/")
            assert judge(client.get(path).content) == []
        archive.archive(game.pk)


def test_a_running_game_tells_nothing(client: Client) -> None:
    game = finished("fr-2")
    Game.objects.update(ended=None)
    assert asked(client, f"/api/1/games/{game.code}/", "/api/1/games/{code}/", 404)["error"]["code"] == "no_game"
    for path in (f"/api/1/games/{game.code}/record/", f"/games/{game.code}/record.json"):
        assert asked(client, path, "/api/1/games/{code}/record/", 404)["error"]["code"] == "game_running"
    assert asked(client, "/api/1/games/nosuchgame/record/", "/api/1/games/{code}/record/", 404)


def test_a_record_is_sent_compressed_to_who_can_read_that(client: Client) -> None:
    game = finished("fr-2")
    plain = client.get(f"/games/{game.code}/record.json")
    packed = client.get(f"/games/{game.code}/record.json", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) * 4 < len(plain.content)


@pytest.mark.parametrize("query", ["player=Nobody", "result=left", "result=won", "pace=x", "after=x", "since=1"])
def test_what_cannot_be_asked_is_said(client: Client, query: str) -> None:
    name, _, value = query.partition("=")
    asked(client, "/api/1/games/", "/api/1/games/", 422, **{name: value})


# People ---------------------------------------------------------------------------------------------------------------


def test_a_player_is_found_by_name_and_by_id(client: Client, people: list[User]) -> None:
    by_name = asked(client, "/api/1/players/", "/api/1/players/", name="aLiCe")
    assert by_name == asked(client, f"/api/1/players/{people[0].pk}/", "/api/1/players/{pk}/")
    assert by_name["name"] == "Alice"
    asked(client, "/api/1/players/", "/api/1/players/", 404, name="Nobody")
    asked(client, "/api/1/players/999999/", "/api/1/players/{pk}/", 404)


@pytest.fixture
def a_ladder(people: list[User]) -> None:
    now = timezone.now()
    Ladder.objects.create(pace="live", rated_to=1)
    for number in range(60):
        user = User.objects.create_guest() if number > 2 else people[number]
        games = 9 if user == people[2] else 12
        Rating.objects.create(
            user=user,
            pace="live",
            generation=0,
            rating=Decimal(1700 - number // 2),
            games=games,
            last_played=now,
            season=season_of(now),
            season_gain=Decimal(number),
        )


def test_a_ladder_is_read_from_the_best_on_and_no_line_twice(
    client: Client, people: list[User], a_ladder: None
) -> None:
    for board in ("all", "season"):
        address: str | None = f"/api/1/ladders/live/?board={board}"
        lines = []
        while address:
            path = "/api/1/ladders/live/" + address.partition("/api/1/ladders/live/")[2]
            answer = asked(client, path, "/api/1/ladders/{pace}/")
            lines += answer["items"]
            address = answer["next"]
        assert [line["place"] for line in lines] == list(range(1, 60))
        column = "season_gain" if board == "season" else "rating"
        assert [line[column] for line in lines] == sorted((line[column] for line in lines), reverse=True)
        assert len({line["player"] for line in lines}) == 59
    asked(client, "/api/1/ladders/slow/", "/api/1/ladders/{pace}/", 404)
    asked(client, "/api/1/ladders/live/", "/api/1/ladders/{pace}/", 422, board="best")
    asked(client, "/api/1/ladders/live/", "/api/1/ladders/{pace}/", 422, after="x")


def test_a_player_has_the_ratings_that_count(client: Client, people: list[User], a_ladder: None) -> None:
    answer = asked(client, f"/api/1/players/{people[2].pk}/", "/api/1/players/{pk}/")
    assert answer["ratings"] == [{"pace": "live", "rating": 1699.0, "games": 9, "provisional": True}]


def test_a_closed_account_is_found_by_nobody_and_a_deleted_one_is_a_pseudonym_everywhere_at_once(
    client: Client, people: list[User]
) -> None:
    game = finished("fr-2", people[:2])
    closing.close(people[0])
    asked(client, "/api/1/players/", "/api/1/players/", 404, name="Alice")
    asked(client, f"/api/1/players/{people[0].pk}/", "/api/1/players/{pk}/", 404)
    closing.delete(people[0])
    people[0].refresh_from_db()
    assert people[0].name.startswith("Former ")
    archive.archive(game.pk)
    for path in (
        "/api/1/games/",
        f"/api/1/games/{game.code}/",
        f"/api/1/games/{game.code}/record/",
        f"/api/1/players/{people[0].pk}/",
        f"/games/{game.code}/story/",
    ):
        text = client.get(path).content.decode()
        assert "Alice" not in text
        assert people[0].name in text


def test_nothing_private_is_told(client: Client, people: list[User]) -> None:
    finished("fr-2", people[:2])
    Game.objects.update(listed=False)
    assert asked(client, "/api/1/games/", "/api/1/games/")["items"] == []
    client.force_login(people[0])
    assert asked(client, "/api/1/games/", "/api/1/games/", player="Alice")["items"] == []


@pytest.mark.usefixtures("in_one_moment")
def test_who_asks_too_often_is_told_to_wait(client: Client, settings: LazySettings) -> None:
    settings.API_LIMIT = 2
    left = [client.get("/api/1/dumps/").headers["X-RateLimit-Remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    late = client.get("/api/1/dumps/")
    assert late.status_code == 429
    assert refused(late) == "too_fast"
    assert 1 <= int(late.headers["Retry-After"]) <= 60
    assert late.headers["X-RateLimit-Remaining"] == "0"
    assert client.get("/api/1/dumps/", REMOTE_ADDR="198.51.100.7").status_code == 200


def test_the_files_are_counted_too_and_come_as_they_are(client: Client, people: list[User], folder: Path) -> None:
    in_last_month("fr-2", people[:2])
    archive.archive_finished()
    dump_records()
    name = dumps.all_dumps()[0].name
    file = client.get(f"/data/{name}", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in file.headers
    assert whole(file) == (folder / name).read_bytes()
    assert file.headers["Content-Type"] == "application/gzip"
    assert file.headers["Access-Control-Allow-Origin"] == "*"
    assert int(file.headers["X-RateLimit-Remaining"]) < django_settings.API_LIMIT
    missing = client.get("/data/midnight-1999-01.jsonl.gz")
    assert (missing.status_code, refused(missing)) == (404, "no_dump")
    with override_settings(API_LIMIT=0):
        assert refused(client.get(f"/data/{name}")) == "too_fast"


# Dumps ----------------------------------------------------------------------------------------------------------------


def last_month() -> date:
    return (datetime.now(UTC).date().replace(day=1) - timedelta(days=1)).replace(day=1)


def in_last_month(name: str, people: list[User]) -> Game:
    ended = datetime.combine(last_month() + timedelta(days=9), datetime.min.time(), UTC)
    return finished(name, people, ago=datetime.now(UTC) - ended)


def test_a_months_public_records_are_one_file_with_pseudonyms(
    client: Client, people: list[User], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dumps, "AT_ONCE", 2)
    games = [in_last_month(name, people[:2]) for name in ("fr-2", "es-2", "pt-2", "es-3", "fr-4")]
    finished("fr-2", people[:2], ago=timedelta(0))
    hidden = in_last_month("fr-2", people[1:])
    Game.objects.filter(pk=hidden.pk).update(listed=False)
    dump_records()
    assert asked(client, "/api/1/dumps/", "/api/1/dumps/")["items"] == []  # not all is archived
    archive.archive_finished()
    dump_records()
    (dump,) = asked(client, "/api/1/dumps/", "/api/1/dumps/")["items"]
    file = whole(client.get(dump["records"].partition("localhost:8000")[2]))
    assert len(file) == dump["bytes"]
    lines = gzip.decompress(file).splitlines()
    assert [judge(line) for line in lines] == [[]] * len(games)
    records = [json.loads(line) for line in lines]
    assert {record["id"] for record in records} == {game.code for game in games}
    text = gzip.decompress(file).decode()
    assert not any(person.name in text for person in people)
    # The same account has the same pseudonym everywhere.
    firsts = {record["seats"][0]["name"] for record in records}
    assert len(firsts) == 1
    assert firsts.pop().startswith("player-")
    assert dump["month"] in client.get("/data/").content.decode()


def test_a_dump_that_is_there_is_not_made_again_and_a_broken_one_leaves_nothing(
    people: list[User], folder: Path
) -> None:
    in_last_month("fr-2", people[:2])
    archive.archive_finished()
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr("games.packing.unpack", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            dump_records()
    assert list(folder.iterdir()) == []
    made = dumps.dump_month(last_month())
    assert made is not None
    before = made.path.read_bytes()
    assert dumps.dump_month(last_month()) is None
    assert made.path.read_bytes() == before


def test_no_file_but_a_dump_is_given_out(client: Client, folder: Path) -> None:
    (folder / "secret.txt").write_text("x")
    for name in ("secret.txt", "midnight-2026-01.jsonl.gz", "..", "midnight-2026-01.jsonl.gz%00"):
        assert client.get(f"/data/{name}").status_code == 404
    with pytest.raises(Resolver404):
        resolve("/data/../secret.txt")
