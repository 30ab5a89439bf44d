"""Lists of finished games: what is asked for stands in the address, and the list stands still while games finish."""

from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import quote

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.formats import date_format

from accounts import closing
from accounts.models import User
from games import archive, careers, history, ladder, replaying
from games.history import Cursor, HistoryForm
from games.management.commands.simulate import simulate
from games.models import Game, RatingEvent, Record, Seat
from games.rules import record as records
from tests.games.finished import finished, played
from tests.games.finishes import finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def people() -> list[User]:
    return [User.objects.create_user(name) for name in ("Alice", "Bob", "Carla")]


def listed(client: Client, query: str = "") -> list[str]:
    """The codes of the games on this page, in order."""
    page = client.get(f"/history/?{query}")
    assert page.status_code == 200
    return [entry.game.code for entry in page.context["page"].entries]


def days(number: float) -> timedelta:
    return timedelta(days=number)


def test_games_are_listed_with_everybodys_points_the_latest_end_first(client: Client, people: list[User]) -> None:
    old, new = finished("fr-2", people[:2], ago=days(3)), finished("es-3", people, ago=days(1))
    assert listed(client) == [new.code, old.code]
    page = client.get("/history/").content.decode()
    for seat in Seat.objects.select_related("user"):
        assert f"<b>{seat.points}</b>" in page
        assert seat.user is not None
        assert seat.user.name in page


def test_a_running_game_is_in_no_list(client: Client) -> None:
    game = finished("fr-2")
    Game.objects.filter(pk=game.pk).update(ended=None)
    assert listed(client) == []


def test_each_filter_leaves_what_it_asks_for_and_all_of_them_go_together(client: Client, people: list[User]) -> None:
    alice, bob, carla = people
    one = finished("fr-2", [alice, bob], ago=days(10))
    other = finished("es-3", [carla, alice, bob], ago=days(5))
    relaxed = finished("fr-3-relaxed", [alice, carla], ago=days(1))
    void = finished("fr-2-void-by-staff", [bob, carla], ago=days(20))
    assert listed(client, "player=alice") == [relaxed.code, other.code, one.code]
    assert listed(client, "player=ALICE&opponent=Bob") == [other.code, one.code]
    assert listed(client, "player=Alice&opponent=Alice") == []
    assert listed(client, "pace=relaxed") == [relaxed.code]
    assert listed(client, "rulebook=es") == [other.code]
    assert listed(client, "result=void") == [void.code]
    for result in ("won", "lost"):
        for person in people:
            games = [
                seat.game.code
                for seat in Seat.objects.filter(user=person, conduct="finished").order_by("-ended")
                if seat.place and (seat.place == 1) == (result == "won")
            ]
            assert listed(client, f"player={person.name}&result={result}") == games
    for length, fits in {
        "short": lambda rounds: rounds <= 3,
        "middle": lambda rounds: 4 <= rounds <= 6,
        "long": lambda rounds: rounds >= 7,
    }.items():
        wanted = [game.code for game in Game.objects.order_by("-ended") if fits(game.rounds)]
        assert listed(client, f"length={length}") == wanted
    since = (other.ended - days(1)).date()
    assert listed(client, f"since={since}") == [relaxed.code, other.code]
    assert listed(client, f"until={since}") == [one.code, void.code]
    assert listed(client, f"player=Alice&opponent=Bob&rulebook=es&pace=live&since={since}") == [other.code]


def test_ahead_and_behind_compare_two_players_only(client: Client, people: list[User]) -> None:
    alice, bob, carla = people
    won = finish([alice, bob, carla])
    middle = finish([carla, alice, bob])
    last = finish([bob, carla, alice])
    finish([bob, alice], reason="void", rated="void")
    finish([bob, alice], rounds=0)
    assert listed(client, "player=Alice&opponent=Bob&result=behind") == [last.code]
    assert listed(client, "player=Alice&opponent=Bob&result=ahead") == [middle.code, won.code]
    assert listed(client, "player=Alice&opponent=Carla&result=behind") == [last.code, middle.code]
    assert [
        one["id"] for one in client.get("/api/1/games/?player=Alice&opponent=Bob&result=behind").json()["items"]
    ] == [last.code]


def test_counts_of_opponents_lead_to_their_games(client: Client, people: list[User]) -> None:
    finish([people[1], people[0]])
    careers.count_finished()
    page = unescape(client.get("/people/Alice/").content.decode())
    assert 'href="/history/?player=Alice&opponent=Bob&result=behind">1</a>' in page
    assert "result=ahead" not in page


def test_a_list_says_what_its_player_did_and_what_it_changed(client: Client, people: list[User]) -> None:
    alice, bob, carla = people
    finish([bob, alice, carla])
    ladder.rate_finished()
    page = client.get("/history/?player=Alice")
    (entry,) = page.context["page"].entries
    change = RatingEvent.objects.get(player=alice)
    assert entry.change == change
    for words in ("Place 2 of 3", f"Rating {change.shown_delta}"):
        assert words in page.content.decode()
    # In everybody's list the viewer's own games are marked, others' are not.
    assert "Place 2 of 3" not in client.get("/history/").content.decode()
    client.force_login(carla)
    assert "Place 3 of 3" in client.get("/history/").content.decode()


def test_a_game_taken_out_of_the_ratings_changed_none(client: Client, people: list[User]) -> None:
    game = finish(people[:2])
    ladder.rate_finished()
    Game.objects.filter(pk=game.pk).update(voided=game.ended)
    (entry,) = client.get("/history/?player=Alice").context["page"].entries
    assert entry.change is None


def test_a_walkover_is_no_win_and_says_so(client: Client, people: list[User]) -> None:
    finish(people[:2], rounds=0)
    assert listed(client, "player=Alice&result=won") == []
    page = client.get("/history/?player=Alice").content.decode()
    assert "not played" in page
    assert 'class="outcome"' not in page


def test_the_games_that_one_left_are_found_by_oneself_alone(client: Client, people: list[User]) -> None:
    game = finished("es-2-resumed-and-left", people[:2])
    Seat.objects.filter(game=game, number=1).update(conduct="left")
    assert client.get("/history/?player=Bob&result=left").status_code == 422
    client.force_login(people[1])
    assert listed(client, "player=Bob&result=left") == [game.code]
    assert client.get("/history/?player=Alice&result=left").status_code == 422


@pytest.mark.parametrize(
    "query",
    [
        *("player=Nobody", "opponent=Alice", "result=won", "pace=slow", "since=yesterday", "length=7"),
        *("player=Alice&result=behind", "result=ahead&opponent=Alice"),
    ],
)
def test_what_cannot_be_asked_is_said_and_no_list_shown(client: Client, people: list[User], query: str) -> None:
    page = client.get(f"/history/?{query}")
    assert page.status_code == 422
    assert page.context["page"] is None


@pytest.mark.parametrize(
    ("query", "short"),
    [
        ("player=Alice&opponent=&result=&pace=&rulebook=&length=&since=&until=", "?player=Alice"),
        ("player=+&opponent=", ""),
        ("player=Alice&player=Bob&result=won&after=", "?player=Alice&player=Bob&result=won"),
        ("player=J%C3%BCrgen+%26+Co&pace=", "?player=J%C3%BCrgen+%26+Co"),
    ],
)
def test_an_address_with_empty_fields_leads_to_the_short_one(client: Client, query: str, short: str) -> None:
    page = client.get(f"/history/?{query}")
    assert page.status_code == 302
    assert page.headers["Location"] == f"/history/{short}"


def test_names_lead_to_profiles_where_there_is_one(client: Client, people: list[User]) -> None:
    alice, bob, _ = people
    guest = User.objects.create_guest()
    games = [finished("es-3", [alice, bob, guest]), finished("fr-3-ranked", people)]
    archive.archive_finished()
    closing.close(bob)
    for address in ("/history/", "/people/Alice/", *(f"/games/{game.code}/story/" for game in games)):
        page = client.get(address).content.decode()
        assert 'href="/people/Alice/">Alice</a>' in page, address
        assert "Bob" in page, address
        assert 'href="/people/Bob/"' not in page, address
        assert f'href="/people/{quote(guest.name)}/"' not in page, address
    assert 'href="/people/Carla/">Carla</a>' in client.get(f"/games/{games[1].code}/story/").content.decode()


@pytest.mark.parametrize("place", ["x", "1-2-3", "9" * 40 + "-1", "9" * 18 + "-1", "1-" + "9" * 23, "1-٣", "-"])
def test_a_place_that_is_none_is_not_found(client: Client, people: list[User], place: str) -> None:
    for query in (f"after={place}", f"before={place}", f"player=Alice&after={place}", f"player=Alice&before={place}"):
        assert client.get(f"/history/?{query}").status_code == 404
    for query in (f"after={place}", f"player=Alice&after={place}"):
        assert client.get(f"/api/1/games/?{query}").json()["error"]["code"] == "bad_cursor"


def test_a_list_goes_from_the_first_day_of_the_calendar_to_its_last(client: Client, people: list[User]) -> None:
    game = finished("fr-2", people[:2])
    for query in ("since=0001-01-01&until=9999-12-31", "player=Alice&since=0001-01-01&until=9999-12-31"):
        assert listed(client, query) == [game.code]
        assert [one["id"] for one in client.get(f"/api/1/games/?{query}").json()["items"]] == [game.code]


def test_a_days_last_moment_is_of_that_day(client: Client, people: list[User]) -> None:
    game = finished("fr-2", people[:2])
    last = datetime(2026, 3, 31, 23, 59, 59, 999_999, UTC)
    Game.objects.filter(pk=game.pk).update(ended=last)
    assert listed(client, "until=2026-03-31") == [game.code]
    Game.objects.filter(pk=game.pk).update(ended=last + timedelta(microseconds=1))
    assert listed(client, "until=2026-03-31") == []


@pytest.mark.parametrize("query", ["", "player=Alice"])
def test_pages_follow_each_other_there_and_back_whatever_finishes_meanwhile(
    client: Client, people: list[User], query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [finished("fr-2", people[:2], ago=days(number)) for number in range(1, 8)]
    # Two that ended in the same moment are told apart all the same.
    same = games[3].ended
    for game in games[2:5]:
        Game.objects.filter(pk=game.pk).update(ended=same)
        Seat.objects.filter(game=game).update(ended=same)
    monkeypatch.setattr(history.page, "__kwdefaults__", {**(history.page.__kwdefaults__ or {}), "size": 2})
    expected = [game.code for game in Game.objects.order_by("-ended", "-id")]
    walked: list[str] = []
    back: list[list[str]] = []
    place = ""
    while True:
        page = client.get(f"/history/?{query}&{place}").context["page"]
        codes = [entry.game.code for entry in page.entries]
        walked += codes
        back.append(codes)
        if len(back) == 2:
            finished("fr-2", people[:2], ago=days(0))
        if not page.older:
            break
        place = f"after={page.older}"
    assert walked == expected
    for codes in back[-2::-1]:
        page = client.get(f"/history/?{query}&before={page.newer}").context["page"]
        assert [entry.game.code for entry in page.entries] == codes
    assert page.newer  # the one that finished meanwhile


def test_a_list_asks_the_same_number_of_questions_however_long_it_is_and_opens_no_record(
    client: Client, people: list[User]
) -> None:
    def questions(query: str) -> list[str]:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(f"/history/?{query}")
        return [query["sql"] for query in asked]

    finished("fr-2", people[:2])
    queries = ["", "player=Alice", "player=Alice&opponent=Bob&result=won&pace=live&rulebook=fr&length=long"]
    before = [len(questions(query)) for query in queries]
    for _ in range(6):
        finished("fr-2", people[:2])
    archive.archive_finished()
    after = [questions(query) for query in queries]
    assert [len(each) for each in after] == before
    assert max(before) <= 5
    assert not [sql for each in after for sql in each if Record._meta.db_table in sql or "games_event" in sql]


def test_a_game_that_is_not_listed_is_found_by_its_players_alone(client: Client, people: list[User]) -> None:
    alice, bob, carla = people
    game = finished("fr-2", [alice, bob])
    Game.objects.update(listed=False)
    assert listed(client) == listed(client, "player=Alice") == []
    client.force_login(carla)
    assert listed(client, "player=Alice") == []
    client.force_login(alice)
    assert listed(client) == []
    assert listed(client, "player=Alice") == [game.code]


def test_a_deleted_person_is_a_pseudonym_in_lists_at_once_and_a_closed_account_is_not_found(
    client: Client, people: list[User]
) -> None:
    game = finished("fr-2", people[:2])
    closing.close(people[1])
    assert client.get("/history/?player=Bob").status_code == 422
    closing.delete(people[0])
    people[0].refresh_from_db()
    page = client.get("/history/").content.decode()
    assert "Alice" not in page
    assert people[0].name in page
    assert listed(client, f"player={people[0].name}") == [game.code]


def test_a_place_is_read_as_it_was_written() -> None:
    game = finished("fr-2")
    assert game.ended is not None
    place = Cursor(game.ended, game.pk)
    assert Cursor.read(str(place)) == place


def test_a_moment_in_a_list_is_said_to_be_in_utc(client: Client, people: list[User]) -> None:
    game = finished("fr-2", people[:2])
    assert game.ended is not None
    iso, said = game.ended.isoformat(timespec="seconds"), date_format(game.ended, "SHORT_DATETIME_FORMAT")
    for address in ("/history/", "/people/Alice/", f"/games/{game.code}/story/"):
        assert f'<time datetime="{iso}" data-local>{said} UTC</time>' in client.get(address).content.decode()
    assert {"From (UTC)", "To (UTC)"} <= {str(field.label) for field in HistoryForm.base_fields.values()}


def test_the_filters_stay_in_the_address_of_the_next_page(client: Client, people: list[User]) -> None:
    for _ in range(history.PAGE + 1):
        finished("fr-2", people[:2])
    page = client.get("/history/?player=Alice&pace=live&result=&nonsense=1", follow=True)
    older = page.context["page"].older
    assert f'href="?player=Alice&pace=live&after={older}"' in unescape(page.content.decode())
    assert set(HistoryForm.base_fields) >= {"player", "opponent", "result", "pace", "rulebook", "since", "length"}


# One game -------------------------------------------------------------------------------------------------------------


def test_the_story_tells_scores_growth_trades_and_figures(client: Client, people: list[User]) -> None:
    game = finished("es-3", people)
    for _ in range(2):
        page = client.get(f"/games/{game.code}/story/")
        assert page.status_code == 200
        story = page.context["story"]
        scores = {seat.number: seat.points for seat in game.seats.all()}
        assert list(story.rounds[-1].points) == [scores[seat] for seat in range(3)]
        assert len(story.rounds) >= game.rounds
        text = page.content.decode()
        assert 'class="chart"' in text
        assert all(person.name in text for person in people)
        assert game.commitment in text
        archive.archive(game.pk)


def test_rounds_and_the_chart_lead_to_their_moment_in_the_replay(client: Client, people: list[User]) -> None:
    game = finished("es-3", people)
    client.force_login(people[1])
    page = client.get(f"/games/{game.code}/story/")
    story, text = page.context["story"], unescape(page.content.decode())
    events = page.context["record"]["events"]
    for one in story.rounds:
        assert (events[one.first - 1]["type"], events[one.first - 1]["round"]) == ("round_started", one.number)
        assert one.last == len(events) or events[one.last]["type"] == "round_started"
        for moment in (one.first, one.last):
            assert f'href="/games/{game.code}/replay/#e={moment}&as=1"' in text
    assert text.count(f'#e={story.rounds[0].last}&as=1" tabindex="-1"><circle') == 3
    client.logout()
    assert "&as=" not in unescape(client.get(f"/games/{game.code}/story/").content.decode())


def test_a_story_explains_what_decided_between_equal_points(client: Client, people: list[User]) -> None:
    record = next(one for one in map(simulated, range(200)) if tied(one))
    game = played(record, [])
    page = client.get(f"/games/{game.code}/story/")
    (tie,) = page.context["story"].ties
    assert f"Level at {tie.points} points: {', '.join(tie.names)}. The lower escape token" in page.content.decode()
    assert "Level at" not in client.get(f"/games/{finished('es-3', people).code}/story/").content.decode()


def simulated(number: int) -> records.Record:
    return simulate("fr", ["apprentice", "apprentice"], f"tie/{number}")


def tied(record: records.Record) -> bool:
    scores = [score.total for score in record.result.scores]
    return len(set(scores)) < len(scores)


@pytest.mark.parametrize("part", ["story", "replay"])
def test_search_engines_show_public_games_unless_a_player_objects(
    part: str, client: Client, people: list[User]
) -> None:
    game = finished("es-3", people)
    archive.archive(game.pk)
    address, barred = f"/games/{game.code}/{part}/", '<meta name="robots" content="noindex">'
    assert barred not in client.get(address).content.decode()
    client.force_login(people[2])
    client.post("/account/data/search-engines/", {"indexed": "no"})
    client.logout()
    assert barred in client.get(address).content.decode()
    client.force_login(people[2])
    client.post("/account/data/search-engines/", {"indexed": "yes"})
    assert barred not in client.get(address).content.decode()
    Game.objects.filter(pk=game.pk).update(listed=False)
    assert barred in client.get(address).content.decode()


def test_a_story_asks_the_same_number_of_questions_whoever_played(client: Client, people: list[User]) -> None:
    asked = []
    for name in ("fr-2", "fr-4", "pt-3-dozers"):
        game = finished(name, people[:2])
        archive.archive(game.pk)
        with CaptureQueriesContext(connection) as questions:
            assert client.get(f"/games/{game.code}/story/").status_code == 200
        asked.append(len(questions))
    assert len(set(asked)) == 1
    assert asked[0] <= 10


def test_the_story_of_a_running_game_is_at_its_table(client: Client) -> None:
    game = finished("fr-2")
    Game.objects.filter(pk=game.pk).update(ended=None)
    page = client.get(f"/games/{game.code}/story/")
    assert page.headers["Location"] == f"/games/{game.code}/"
    assert client.get("/games/nosuchgame/story/").status_code == 404


@pytest.mark.parametrize("archived", [False, True])
def test_no_page_plays_a_game_again_in_which_very_much_happened(
    archived: bool, client: Client, people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = finished("fr-2", people[:2])
    monkeypatch.setattr(replaying, "MOST_EVENTS", game.head - 1)
    if archived:
        archive.archive(game.pk)
    monkeypatch.setattr(archive, "record_of", lambda _: pytest.fail("it was played again"))
    for page in ("story", "replay"):
        shown = client.get(f"/games/{game.code}/{page}/")
        assert shown.status_code == 200
        text = shown.content.decode()
        assert f"So much happened in this game, {game.head} events" in text
        assert f'href="/games/{game.code}/record.json"' in text
        assert all(person.name in text for person in people[:2])
        assert f"/report/games/{game.code}/" not in text
    client.force_login(people[0])
    for page in ("story", "replay"):
        assert f"/report/games/{game.code}/" in client.get(f"/games/{game.code}/{page}/").content.decode()


def test_a_game_in_which_very_much_happens_is_shown_as_any_other_while_it_runs(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "MOST_EVENTS", 10)
    game = finished("fr-2")
    Game.objects.filter(pk=game.pk).update(ended=None)
    assert client.get(f"/games/{game.code}/story/").headers["Location"] == f"/games/{game.code}/"
    assert "not over yet" in client.get(f"/games/{game.code}/replay/").content.decode()


@pytest.mark.usefixtures("in_one_moment")
def test_nobody_has_games_played_again_without_end(client: Client, settings: LazySettings) -> None:
    settings.REPLAY_LIMIT = 2
    game = finished("fr-2")
    archive.archive(game.pk)
    answers = [client.get(f"/games/{game.code}/{page}/") for page in ("story", "replay") * 2]
    assert [one.status_code for one in answers[:2]] == [200, 200]
    refused = [one for one in answers if one.status_code == 429]
    assert refused
    assert "Wait a little and try again." in refused[0].content.decode()
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    assert client.get(f"/games/{game.code}/story/", REMOTE_ADDR="198.51.100.7").status_code == 200
    assert client.get("/history/").status_code == 200
