"""The administration: read-only, for moderators and administrators, and as fast with a million rows as with ten."""

import re
import time
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from accounts.paging import FURTHEST
from games import gauges, rooms
from games.admin import ReadOnly
from games.models import Act, Case, Game, Reason, Room, Server, What
from games.moderation import acts, roles
from games.moderation.acts import Why
from games.pulse import Pulse
from tests.games.night_watch import client_of, game_of, moderator, reported, somebody

pytestmark = pytest.mark.django_db
LISTS = ["game", "room", "case", "act", "appeal", "server", "ratingevent"]


@pytest.fixture
def office() -> Client:
    return client_of(moderator(), proved=True)


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.headers
    return answer.content.decode()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_read_and_nothing_is_added(name: str, office: Client) -> None:
    page(office, f"/admin/games/{name}/")
    assert office.get(f"/admin/games/{name}/add/").status_code == 403


def test_whatever_of_games_the_administration_shows_it_only_shows() -> None:
    wrong = [
        model.__name__
        for model, one in admin.site._registry.items()
        if model._meta.app_label == "games" and not isinstance(one, ReadOnly)
    ]
    assert not wrong


def test_the_log_has_no_button_that_changes_it_not_even_for_an_administrator(irma: User) -> None:
    act = acts.warn(moderator(), irma, Why(Reason.INSULT))
    boss = client_of(moderator("Nick", administrator=True))
    shown = page(boss, f"/admin/games/act/{act.pk}/change/")
    assert 'name="_save"' not in shown
    assert boss.post(f"/admin/games/act/{act.pk}/change/", {"words": "x"}).status_code == 403
    assert boss.post(f"/admin/games/act/{act.pk}/delete/", {"post": "yes"}).status_code == 403
    answer = boss.post("/admin/games/act/", {"action": "delete_selected", "_selected_action": [act.pk]})
    assert Act.objects.count() == 1, answer.status_code


def test_games_are_found_by_their_address_and_by_who_plays(office: Client, irma: User) -> None:
    hers, other = game_of(irma, somebody("Max")), game_of(somebody("Fandor"), somebody("Juve II"))
    for question in (hers.code, "irma"):
        shown = page(office, f"/admin/games/game/?q={question}")
        assert hers.code in shown
        assert other.code not in shown
    shown = page(office, f"/admin/games/game/{hers.pk}/change/")
    assert f"/moderation/games/{hers.code}/" in shown
    assert "Irma Vep" in shown


def test_a_room_tells_what_goes_on_there_and_leads_to_its_games(office: Client, irma: User) -> None:
    room, max_ = rooms.open_room(irma), somebody("Max")
    rooms.sit(room, max_)
    assert "open" in page(office, "/admin/games/room/")
    for one in (irma, max_):
        rooms.agree(room, one)
    game = room.games.get()
    assert f'<a href="/games/{game.code}/">a game runs</a>' in page(office, "/admin/games/room/")
    Game.objects.filter(pk=game.pk).update(ended=timezone.now(), reason="void")
    assert f"/games/{game.code}/replay/" in page(office, f"/admin/games/room/{room.pk}/change/")
    assert f"/games/{game.code}/replay/" in page(office, "/admin/games/game/")
    acts.close_room(moderator("Lupin"), room, Why(Reason.INSULT))
    assert "Staff has closed it." in page(office, "/admin/games/room/")


@pytest.mark.both_databases
def test_cases_and_acts_are_found_by_the_beginning_of_a_name(office: Client, irma: User) -> None:
    reported(somebody("Max"), irma)
    assert "/moderation/cases/" in page(office, "/admin/games/case/?q=irma")
    assert "/moderation/cases/" not in page(office, "/admin/games/case/?q=fandor")


@pytest.mark.parametrize("name", LISTS)
def test_no_list_counts_its_whole_table(name: str, office: Client, irma: User) -> None:
    for number in range(3):
        game_of(irma, somebody(f"Apache {number}"))
    with CaptureQueriesContext(connection) as asked:
        page(office, f"/admin/games/{name}/")
    about_all = [query["sql"] for query in asked if re.search(r"COUNT\(|DISTINCT", query["sql"])]
    rows = [sql for sql in about_all if f"games_{name}" in sql]
    assert rows
    assert all(f"LIMIT {FURTHEST}" in sql for sql in rows)


@pytest.mark.parametrize("name", ["game", "room"])
def test_a_list_asks_the_same_number_of_questions_however_long_it_is(name: str, office: Client, irma: User) -> None:
    keeper = Server.objects.create(name="web", seen=int(time.time() * 1_000))

    def play(*names: str) -> None:
        for one in names:
            owner = somebody(f"Owner of {one}")
            room, game = rooms.open_room(owner), game_of(owner, somebody(one))
            Game.objects.filter(pk=game.pk).update(kept_by=keeper, room=room)

    def questions() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert " s ago" in page(office, f"/admin/games/{name}/")
        return len(asked)

    play("Max")
    questions()
    few = questions()
    play(*(f"Apache {number}" for number in range(5)))
    assert questions() == few


FILTERS = re.compile(r'href="\?([^"&]+__(?:exact|isempty)=[^"&]+)"')
# What is so of nearly all rows is met at once, from the latest one back.
OF_MOST = {"ended__isempty=0", "closed__isempty=0", "decided__isempty=0", "is_staff__exact=0", "is_superuser__exact=0"}


def is_slow(step: str, table: str) -> bool:
    """Whether a step of SQLite's plan reads the whole table, row by row; PostgreSQL plans by what is in its tables."""
    return bool(re.fullmatch(rf"SCAN {table}( USING COVERING INDEX .*)?", step))


@pytest.mark.parametrize("path", ["accounts/user", *(f"games/{name}" for name in LISTS)])
def test_every_filter_and_search_of_a_list_finds_its_rows_by_an_index(path: str, office: Client, irma: User) -> None:
    table, address = path.replace("/", "_"), f"/admin/{path}/"
    filters = set(FILTERS.findall(page(office, address))) - OF_MOST
    searched = admin.site.get_model_admin(apps.get_model(*path.split("/"))).search_fields
    slow = []
    for question in [*filters, *(["q=irma"] if searched else [])]:
        with CaptureQueriesContext(connection) as asked:
            page(office, f"{address}?{question}")
        for sql in {query["sql"] for query in asked if re.match(rf'SELECT .*FROM "{table}"', query["sql"])}:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql.replace('%', '%%')}")
                slow += [(question, sql) for *_, step in cursor.fetchall() if is_slow(step, table)]
    assert not slow


def test_what_lies_further_back_than_a_list_pages_is_found_by_its_number(office: Client, irma: User) -> None:
    games = [game_of(irma, somebody(f"Apache {number}")) for number in range(3)]
    shown = page(office, f"/admin/games/game/?pk__lt={games[1].pk}")
    assert games[0].code in shown
    assert games[2].code not in shown


def test_stale_rooms_are_closed_together_after_a_look_at_them(office: Client, irma: User) -> None:
    max_, juve = somebody("Max"), User.objects.get(name="Juve")
    stale, busy = rooms.open_room(irma), rooms.open_room(max_)
    Room.objects.filter(pk=stale.pk).update(touched=timezone.now() - timedelta(hours=1))
    chosen = {"action": "close_stale", "_selected_action": [stale.pk, busy.pk]}
    shown = office.post("/admin/games/room/", chosen).content.decode()
    assert stale.code in shown
    assert busy.code not in shown
    assert Room.objects.filter(closed=None).count() == 2
    office.post("/admin/games/room/", chosen | {"sure": "yes"})
    assert list(Room.objects.filter(closed=None)) == [busy]
    assert [(act.by, act.room) for act in Act.objects.all()] == [(juve, stale.code)]


def test_a_stale_room_that_is_refused_keeps_no_other_open(
    office: Client, irma: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, others = rooms.open_room(User.objects.get(name="Juve")), [rooms.open_room(irma)]
    others.append(rooms.open_room(somebody("Max")))
    Room.objects.update(touched=timezone.now() - timedelta(hours=1))
    chosen = {"action": "close_stale", "_selected_action": [own.pk, *(room.pk for room in others)], "sure": "yes"}
    monkeypatch.setitem(roles.MOST_OF, What.CLOSE_ROOM, 1)
    assert (
        "You may close 1 room in one hour" in office.post("/admin/games/room/", chosen | {"sure": ""}).content.decode()
    )
    office.post("/admin/games/room/", chosen)
    assert set(Room.objects.filter(closed=None)) == {own, others[1]}
    monkeypatch.setitem(roles.MOST_OF, What.CLOSE_ROOM, 30)
    office.post("/admin/games/room/", chosen)
    assert set(Room.objects.filter(closed=None)) == {own}


def test_of_all_rooms_as_many_are_offered_as_may_be_closed_in_an_hour_the_longest_unused_first(
    office: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    unused = [rooms.open_room(somebody(f"Apache {number}")) for number in range(5)]
    for hours, room in enumerate([*unused, rooms.open_room(User.objects.get(name="Juve"))], start=1):
        Room.objects.filter(pk=room.pk).update(touched=timezone.now() - timedelta(hours=hours))
    rooms.close_room(rooms.open_room(somebody("Fandor")), Room.Closed.LEFT)
    monkeypatch.setitem(roles.MOST_OF, What.CLOSE_ROOM, 2)
    asked = {"action": "close_stale", "_selected_action": [unused[0].pk], "select_across": "1"}
    shown = office.post("/admin/games/room/", asked).content.decode()
    assert "2 of the chosen rooms are stale" in shown
    assert "3 more are stale too" in shown
    assert "1 stays open" in shown
    sent = re.findall(r'name="_selected_action" value="(\d+)"', shown)
    assert sent == [str(unused[4].pk), str(unused[3].pk)]
    office.post("/admin/games/room/", {"action": "close_stale", "_selected_action": sent, "sure": "yes"})
    assert set(Room.objects.filter(why_closed=Room.Closed.STAFF)) == {unused[4], unused[3]}


@pytest.mark.parametrize("who", ["visitor", "player"])
def test_nobody_else_comes_in(who: str, client: Client, irma: User) -> None:
    if who == "player":
        client.force_login(irma)
    assert client.get("/admin/games/game/").status_code == 302


# Figures --------------------------------------------------------------------------------------------------------------


def test_the_figures_are_for_administrators(office: Client) -> None:
    assert office.get("/moderation/figures/").status_code == 403
    assert "Moves a second" in page(client_of(moderator("Nick", administrator=True)), "/moderation/figures/")


def test_a_sample_tells_what_waits_and_since_when(irma: User) -> None:
    game_of(irma, somebody("Max"))
    case = reported(somebody("Fandor"), irma).case
    Case.objects.filter(pk=case.pk).update(opened=timezone.now() - timedelta(hours=2))
    gauges.take()
    sample = gauges.samples()[-1]
    assert (sample["tables"], sample["reports"], sample["jobs"]) == (1, [1, 1, 0], 0)


def test_two_samples_make_a_rate_and_a_process_that_began_anew_counts_nothing() -> None:
    base = {"reports": [0, 0, 0], "faults": {}}
    taken = [
        base | {"at": 0.0, "moves": {"1": 100}},
        base | {"at": 5.0, "moves": {"1": 150, "2": 30}},
        base | {"at": 10.0, "moves": {"1": 3, "2": 40}},
    ]
    moves = next(chart for chart in gauges.charts(taken) if str(chart.name) == "Moves a second")
    assert (moves.most, moves.last) == (10.0, 2.0)
    assert moves.points.count(",") == 2


def test_the_slowest_of_a_hundred_is_known_and_forgotten() -> None:
    own = Pulse()
    assert own.p99_ms() is None

    now = time.perf_counter()
    for number in range(100):
        own.moved(now - number / 1000)
    assert own.moves == 100
    took_ms = (time.perf_counter() - now) * 1000
    assert 97 <= (own.p99_ms() or 0) <= 99 + took_ms


def test_rooms_are_found_by_their_state_in_words(office: Client, irma: User) -> None:
    fresh, old, over = (rooms.open_room(person) for person in (irma, somebody("Max"), somebody("Fandor")))
    Room.objects.filter(pk=old.pk).update(touched=timezone.now() - timedelta(hours=1))
    Room.objects.filter(pk=over.pk).update(closed=timezone.now())
    for state, found in (("stale", {old}), ("no", {fresh, old}), ("yes", {over})):
        shown = page(office, f"/admin/games/room/?state={state}")
        assert {room for room in (fresh, old, over) if room.code in shown} == found
    for word in ("stale", "By state"):
        assert word in shown
    assert "Not empty" not in shown


def test_how_a_game_ended_is_said_in_words(office: Client, irma: User) -> None:
    game = game_of(irma, somebody("Max"))
    Game.objects.filter(pk=game.pk).update(ended=timezone.now(), reason="deck_short")
    for address in ("/admin/games/game/", f"/admin/games/game/{game.pk}/change/"):
        shown = page(office, address)
        assert "deck_short" not in shown
        assert "prestige cards have run out" in shown


def test_the_preview_of_stale_rooms_leads_back(office: Client, irma: User) -> None:
    room = rooms.open_room(irma)
    asked = {"action": "close_stale", "_selected_action": [room.pk]}
    shown = office.post("/admin/games/room/", asked).content.decode()
    assert 'href="/admin/games/room/">Back to the rooms without closing any</a>' in shown
