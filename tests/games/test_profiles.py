"""Players' pages and boards: the ledger's figures in a fixed number of questions, and private things stay private."""

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import closing, export
from accounts.models import User
from games import archive, careers, ladder, profiles
from games.ladder.boards import Key
from games.models import Game, Opponent, Seat
from tests.games.finished import finished
from tests.games.finishes import finish, people

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def cast() -> list[User]:
    return people("Alice", "Bob", "Charlie", "Dora")


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    return client


def play(players: list[User], count: int = 12, pace: str = "live", listed: bool = True) -> list[Game]:
    games = [finish(players, pace=pace, ended=timezone.now(), listed=listed) for _ in range(count)]
    ladder.rate_finished()
    careers.count_finished()
    return games


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_a_page_shows_ratings_wins_opponents_and_recent_games(client: Client, cast: list[User]) -> None:
    games = play(cast[:3])
    page = text(client, "/people/Alice/")
    assert f"<b>{ladder.standing(cast[0].pk, 'live')}</b>" in page
    assert "No rated game yet." in page  # relaxed
    for name in ("Bob", "Charlie"):
        assert f'<a href="/people/{name}/">{name}</a>' in page
    assert f"/games/{games[-1].code}/story/" in page
    found = profiles.profile(cast[0], None)
    assert records_of(found.opponents) == [("Bob", 12, 12, 0), ("Charlie", 12, 12, 0)]
    assert (found.career.games, found.career.won, found.career.most_points) == (12, 12, 39)
    assert len(found.best_wins) == 5
    assert profiles.profile(cast[2], None).best_wins == []


def records_of(opponents: Sequence[Opponent]) -> list[tuple[str, int, int, int]]:
    return [(one.opponent.name, one.games, one.ahead, one.behind) for one in opponents]


def test_figures_are_of_all_games_and_a_chart_says_of_which(
    client: Client, cast: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "LATEST", 3)
    monkeypatch.setattr(profiles, "RATED_GAMES", 2)
    play([cast[1], cast[0]], 2)
    play([cast[0], cast[2]], 1)
    assert "The last 2 of 3 rated games" in text(client, "/people/Alice/")
    assert "3 rated games" not in text(client, "/people/Bob/")
    play([cast[0], cast[2]], 1)
    assert "The last 2 of 4 rated games" in text(client, "/people/Alice/")
    found = profiles.profile(cast[0], cast[0].pk)
    assert (found.career.games, found.career.won) == (4, 2)
    assert records_of(found.opponents) == [("Bob", 2, 0, 2), ("Charlie", 2, 2, 0)]
    assert dict(found.conduct)["stayed to the end"] == 4


def test_the_best_wins_are_those_against_the_highest_ratings_of_all_time(cast: list[User]) -> None:
    alice, bob, charlie, dora = cast
    play([bob, charlie], 6)
    best = play([alice, bob, charlie], 1)[0]
    relaxed = play([dora, alice, charlie], 1, "relaxed") and play([alice, dora], 1, "relaxed")[0]
    play([charlie, bob], 4)
    play([alice, charlie], 3)
    wins = profiles.profile(alice, None).best_wins
    rating = {event.game_id: event.before for event in best.rating_events.filter(player=bob)}
    assert (wins[0].game, wins[0].opponent, wins[0].standing.rating) == (best, bob, rating[best.pk])
    assert [win.standing.rating for win in wins] == sorted((win.standing.rating for win in wins), reverse=True)
    assert relaxed in [win.game for win in wins]
    assert len({win.game for win in wins}) == 5
    hidden = play([alice, bob], 1, listed=False)[0]
    assert hidden not in [win.game for win in profiles.profile(alice, alice.pk).best_wins]


def test_everybody_whom_somebody_met_is_listed_page_by_page(
    client: Client, cast: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "OPPONENTS", 2)
    monkeypatch.setattr(profiles, "OPPONENTS_A_PAGE", 2)
    assert "All opponents" not in text(client, "/people/Alice/")
    assert "No game has ended yet." in text(client, "/people/Alice/opponents/")
    play([cast[0], cast[3]], 3)
    play(cast, 2)
    play([cast[1], cast[0]], 1)
    assert "All opponents" in text(client, "/people/Alice/")
    address, rows = "/people/Alice/opponents/", []
    for names in (["Dora", "Bob"], ["Charlie"]):
        page = text(client, address)
        assert all(f'<a href="/people/{name}/">{name}</a>' in page for name in names)
        rows += client.get(address).context["rows"]
        address = "/people/Alice/opponents/" + "".join(re.findall(r'href="(\?after=[^"]+)"', page))
    assert records_of(rows) == [("Dora", 5, 5, 0), ("Bob", 3, 2, 1), ("Charlie", 2, 2, 0)]
    assert client.get("/people/aLICE/opponents/").status_code == 200
    for nowhere in ("/people/Nobody/opponents/", "/people/Alice/opponents/?after=x"):
        assert client.get(nowhere).status_code == 404


def test_only_wins_whose_ratings_are_in_force_are_shown(cast: list[User]) -> None:
    games = play(cast[:2], 3)
    ladder.void_game(games[0].pk, None)
    ladder.replay()
    wins = profiles.profile(cast[0], None).best_wins
    assert [win.game.pk for win in wins] == [games[1].pk, games[2].pk]


def test_the_chart_stands_beside_its_figures_in_a_table(client: Client, cast: list[User]) -> None:
    play(cast, 3)
    page = text(client, "/people/Dora/")
    assert page.count('<svg class="chart"') == 1
    table = page[page.index("The rating after each game") :]
    line = profiles.profile(cast[3], None).ladders[0]
    for event in line.events:
        assert f'<td class="number">{event.shown_delta}</td><td class="number">{event.after:.0f}</td>' in table
    assert line.chart is not None
    assert len(line.chart.lines[0].points.split()) == 4


def test_what_the_searches_tell_comes_from_the_archived_games(client: Client, cast: list[User]) -> None:
    assert "Favourite plan" not in text(client, "/people/Alice/")
    for name, ago in (("fr-2", 3), ("es-3", 2)):
        archive.archive(finished(name, cast[:2], ago=timedelta(days=ago)).pk)
    careers.count_finished()
    page = text(client, "/people/Alice/")
    assert "Favourite plan" in page
    assert "Tiles stashed a minute" in page
    found = profiles.profile(cast[0], None)
    assert len(found.searches.speeds) == 2
    assert all(5 < speed < 200 for _, speed in found.searches.speeds)


def test_the_speed_of_the_searches_is_shown_of_as_many_games_as_the_page_says(
    client: Client, cast: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "LATEST", 3)
    for ago in range(4):
        archive.archive(finished("fr-2", cast[:2], ago=timedelta(days=ago + 1)).pk)
    page = text(client, "/people/Alice/")
    assert "The figures here are of the last 3 games." in page
    table = page[page.index("Tiles stashed a minute in each game") :].partition("</table>")[0]
    assert table.count('<th scope="row">') == 3
    ended = [moment for moment, _ in profiles.profile(cast[0], None).searches.speeds]
    assert ended == sorted(ended)


def test_when_somebody_played_games_that_are_not_listed_is_for_nobody_else(cast: list[User]) -> None:
    for ago in range(1, 5):
        game = finished("fr-2", cast[:2], ago=timedelta(days=ago))
        archive.archive(game.pk)
        Game.objects.filter(pk=game.pk).update(listed=ago % 2 == 0)
    shown = [len(profiles.profile(cast[0], viewer).searches.speeds) for viewer in (None, cast[1].pk, cast[0].pk)]
    assert shown == [2, 2, 4]
    hidden = [game.ended for game in Game.objects.filter(listed=False) if game.ended]
    moments = [moment.isoformat(timespec="seconds") for moment in hidden]
    assert all(moment in text(signed_in(cast[0]), "/people/Alice/") for moment in moments)
    assert not any(moment in text(signed_in(cast[1]), "/people/Alice/") for moment in moments)


@pytest.mark.parametrize("page", ["/people/Alice/", "/people/Alice/opponents/"])
def test_numbers_that_lead_to_shorter_lists_say_why(page: str, cast: list[User]) -> None:
    play(cast[:2], 1)
    why = "Games that are in no list but their players’ own count here too."
    assert why not in text(signed_in(cast[0]), page)
    for other in (Client(), signed_in(cast[1])):
        assert why in text(other, page)


def test_conduct_is_shown_to_its_owner_only(cast: list[User]) -> None:
    game = finish(cast[:2])
    Seat.objects.filter(game=game, user=cast[1]).update(conduct="left")
    careers.count_finished()
    own = text(signed_in(cast[1]), "/people/Bob/")
    assert "Your conduct" in own
    assert "<dt>Left the game</dt><dd>1</dd>" in own
    for other in (Client(), signed_in(cast[0])):
        assert "conduct" not in text(other, "/people/Bob/").replace("Only you", "")


def test_a_games_address_that_is_not_listed_is_on_nobody_elses_page(cast: list[User]) -> None:
    game = play(cast[:2], 1)[0]
    Game.objects.filter(pk=game.pk).update(listed=False)
    assert game.code not in text(Client(), "/people/Alice/")
    assert game.code not in text(signed_in(cast[1]), "/people/Alice/")
    assert game.code in text(signed_in(cast[0]), "/people/Alice/")


def test_a_deleted_person_is_a_pseudonym_everywhere_at_once(client: Client, cast: list[User]) -> None:
    play(cast[:2])
    closing.delete(cast[1])
    cast[1].refresh_from_db()
    assert client.get("/people/Bob/").status_code == 404
    assert "Bob" not in text(client, "/people/Alice/")
    assert cast[1].name in text(client, "/people/Alice/")
    assert cast[1].name in text(client, f"/people/{cast[1].name}/")
    assert "Bob" not in text(client, "/ladders/")


def test_nothing_leads_to_the_page_of_somebody_whose_account_is_closed(client: Client, cast: list[User]) -> None:
    game = play(cast[:2])[-1]
    pages = ("/people/Alice/", "/people/Alice/opponents/", "/ladders/", f"/games/{game.code}/rating/")
    assert all("/people/Bob/" in text(client, page) for page in pages)
    assert "opponent=Bob" in text(client, "/people/Alice/")
    closing.close(cast[1])
    assert client.get("/people/Bob/").status_code == 404
    for page in pages:
        shown = text(client, page)
        assert "/people/Bob/" not in shown
        assert "opponent=Bob" not in shown
    assert "Bob" not in text(client, "/ladders/")
    assert "Bob" not in text(client, "/api/1/ladders/live/")
    heard = signed_in(cast[0]).post(f"/people/{cast[1].pk}/ignore/", {"how": "mute"}, follow=True)
    assert heard.status_code == 200


def test_whoever_takes_their_data_along_has_all_their_games_and_ratings_in_it(cast: list[User]) -> None:
    archived = finished("fr-3-ranked", cast[:3], ago=timedelta(days=2))
    archive.archive(archived.pk)
    rated = play([cast[1], cast[0]], 2)
    Game.objects.filter(pk=finish(cast[:2]).pk).update(ended=None)
    Seat.objects.filter(game__ended=None).update(ended=None)
    with CaptureQueriesContext(connection) as asked:
        taken = export.everything(cast[0])
    assert [one["game"] for one in taken["games"]] == [game.code for game in (archived, *rated)]
    assert [one["place"] for one in taken["games"]][1:] == [2, 2]
    assert taken["games"][0]["figures"]["lifts"] > 0
    assert taken["games"][1]["figures"] is None
    events = cast[0].rating_events.order_by("finish_seq")
    assert [(one["game"], one["after"]) for one in taken["ratings"]] == [
        (event.game.code, str(event.after)) for event in events
    ]
    assert json.loads(json.dumps(taken)) == taken
    assert len(asked) <= 25


def test_guests_have_no_page_and_any_spelling_finds_the_right_one(client: Client, cast: list[User]) -> None:
    guest = User.objects.create_guest()
    for name in (guest.name, "Nobody"):
        assert client.get(f"/people/{name}/").status_code == 404
    assert client.get("/people/aLICE/")["Location"] == "/people/Alice/"


def test_boards_show_places_own_place_and_nothing_of_newcomers(cast: list[User]) -> None:
    play(cast[:3])
    play([cast[3], cast[2]], 3)
    page = text(signed_in(cast[1]), "/ladders/")
    names = re.findall(r'<th scope="row"><a href="/people/([^/]+)/">', page)
    assert names == ["Alice", "Bob", "Charlie"]
    assert "You are number 2 of 3." in page
    there = ladder.board("live", "all", timezone.now(), page_from(page), None)
    assert [row.user.name for row in there.rows] == names[1:]
    assert "Nobody is on this board yet." in text(Client(), "/ladders/?pace=relaxed&board=season")


def page_from(page: str) -> Key | None:
    """Where the link to one's own place leads."""
    return Key.read(re.findall(r"after=([^\"]+)\">Go there", page)[0])


@pytest.mark.parametrize("query", ["pace=fast", "board=week", "after=x", "after=1~y", "after=NaN~1", "after="])
def test_a_board_that_does_not_exist_is_not_found(client: Client, query: str) -> None:
    assert client.get(f"/ladders/?{query}").status_code == 404


def test_a_games_page_explains_the_ratings_pair_by_pair(client: Client, cast: list[User]) -> None:
    game = finished("fr-2", cast[:2])
    Game.objects.filter(pk=game.pk).update(ranked=True, finish_seq=1)
    assert "The new ratings follow in a moment." in text(client, f"/games/{game.code}/story/")
    Game.objects.filter(pk=game.pk).update(rated="rated", finish_seq=None)
    other = play(cast, 1)[0]
    page = text(client, f"/games/{other.code}/rating/")
    assert "1500? → <b>1545?</b>" in page
    assert '<span class="badge good">+45.00</span>' in page
    assert page.count('<td data-label="Expected">50 %</td>') == 12
    assert page.count('<td data-label="Points">+15.00</td>') == 6
    ladder.void_game(other.pk, None)
    assert "This game was taken out of the ratings." in text(client, f"/games/{other.code}/rating/")
    casual = finish(cast[:2], ranked=False, finish_seq=None)
    assert text(client, f"/games/{casual.code}/rating/").strip() == ""


def test_pages_ask_the_database_equally_often_however_much_there_is(client: Client, cast: list[User]) -> None:
    counts: list[list[int]] = []
    for count in (2, 12):
        play(cast, count)
        counts.append([])
        for address in ("/people/Alice/", "/people/Alice/opponents/", "/ladders/", "/ladders/?board=season"):
            with CaptureQueriesContext(connection) as asked:
                client.get(address)
            counts[-1].append(len(asked))
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 20


def test_the_boards_ask_the_database_equally_often_for_somebody_on_them(cast: list[User]) -> None:
    client = signed_in(cast[1])
    counts = []
    for _ in range(2):
        play(cast)
        asked = []
        for address in ("/ladders/", "/ladders/", "/ladders/?board=season"):
            with CaptureQueriesContext(connection) as questions:
                assert "You are number 2 of 4." in text(client, address)
            asked.append(len(questions))
        # The first page of all notes that the person is here.
        counts.append(asked[1:])
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 20


def test_a_rating_is_shown_with_a_doubt_while_it_is_young(client: Client, cast: list[User]) -> None:
    play(cast[:2], 9)
    assert "?</b>" in text(client, "/people/Alice/")
    play(cast[:2], 1)
    assert "?</b>" not in text(client, "/people/Alice/")
    assert ladder.standing(cast[0].pk, "live").rating > Decimal(1600)
