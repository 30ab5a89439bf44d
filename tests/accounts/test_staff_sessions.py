"""A session of staff ends early, says why, and proves again who is there before what cannot be undone."""

import pytest
from django.test import Client

from accounts import staff_sessions
from accounts.models import EndedSession
from accounts.staff_sessions import BEGAN, USED
from games.models import Act, Game
from games.rooms import open_room
from tests.games.night_watch import client_of, game_of, moderator, somebody

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOUR = 60 * 60


def aged(client: Client, **ages: float) -> Client:
    """The same browser, its session this much older."""
    session = client.session
    for key, age in ages.items():
        session[key] -= age
    session.save()
    return client


@pytest.fixture
def office() -> Client:
    client = client_of(moderator())
    assert client.get("/moderation/").status_code == 200
    return client


@pytest.mark.parametrize("ages", [{BEGAN: 12 * HOUR + 60}, {USED: HOUR + 60}])
def test_an_old_or_unused_session_of_staff_ends_and_says_why(office: Client, ages: dict[str, float]) -> None:
    key = office.session.session_key
    aged(office, **ages)
    answer = office.get("/moderation/cases/1/", follow=True)
    assert answer.redirect_chain == [("/account/sign-in/?next=/moderation/cases/1/", 302)]
    assert "lasts twelve hours" in answer.content.decode()
    assert EndedSession.objects.filter(session_key=key, reason="signed_out").exists()
    assert office.get("/moderation/").status_code == 302


def test_a_session_in_use_goes_on(office: Client) -> None:
    for _half_hour in range(4):
        aged(office, **{BEGAN: HOUR / 2, USED: HOUR / 2})
        assert office.get("/moderation/").status_code == 200


def test_a_page_left_open_does_not_keep_the_session(office: Client) -> None:
    aged(office, **{USED: HOUR - 120})
    assert office.get("/moderation/", headers=HTMX).status_code == 200
    aged(office, **{USED: 300})
    answer = office.get("/moderation/", headers=HTMX)
    assert answer.headers["HX-Redirect"].startswith("/account/sign-in/")


def test_a_post_of_an_ended_session_does_nothing(office: Client) -> None:
    max_ = somebody("Max")
    aged(office, **{BEGAN: 13 * HOUR})
    answer = office.post(f"/moderation/people/{max_.pk}/", {"what": "warn", "hours": "1", "reason": "spam"})
    assert answer.status_code == 302
    assert not Act.objects.exists()


def test_sessions_of_players_stay_as_long_as_ever(client: Client) -> None:
    client.force_login(somebody("Max"))
    assert client.get("/account/").status_code == 200
    assert BEGAN not in client.session
    assert staff_sessions.LONGEST.total_seconds() == 12 * HOUR


GRAVE = [("rename", "24"), ("suspend", "1"), ("bar", "0"), ("mute", "0")]


@pytest.mark.parametrize(("what", "hours"), GRAVE)
def test_what_cannot_be_undone_is_proved_again(what: str, hours: str) -> None:
    juve, max_ = moderator(), somebody("Max")
    address, form = f"/moderation/people/{max_.pk}/", {"what": what, "hours": hours, "reason": "other"}
    answer = client_of(juve).post(address, form)
    assert (answer.status_code, answer.headers["Location"].startswith("/account/again/")) == (302, True)
    assert not Act.objects.exists()
    assert client_of(juve, proved=True).post(address, form).status_code == 302
    assert Act.objects.get().what == what


def test_what_can_be_undone_needs_no_proof() -> None:
    max_ = somebody("Max")
    client_of(moderator()).post(f"/moderation/people/{max_.pk}/", {"what": "bar", "hours": "24", "reason": "stalling"})
    assert Act.objects.get().what == "bar"


def test_a_game_is_ended_after_a_proof_only() -> None:
    juve = moderator()
    game: Game = game_of(somebody("Irma Vep"), somebody("Max"))
    address, form = f"/moderation/games/{game.code}/", {"what": "end_game", "reason": "cheating"}
    answer = client_of(juve).post(address, form)
    assert answer.headers["Location"].startswith("/account/again/")
    assert not Act.objects.exists()
    client_of(juve, proved=True).post(address, form)
    assert Act.objects.get().what == "end_game"


def test_rooms_are_closed_together_after_a_proof_only() -> None:
    juve, room = moderator(), open_room(somebody("Irma Vep"))
    chosen = {"action": "close_stale", "_selected_action": [room.pk], "sure": "yes"}
    answer = client_of(juve).post("/admin/games/room/", chosen)
    assert answer.headers["Location"].startswith("/account/again/")
    assert client_of(juve, proved=True).post("/admin/games/room/", chosen).status_code == 302
