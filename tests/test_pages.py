"""The site's own pages: they stand without a login, keep what one chose, and speak plainly when something is wrong."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import AsyncClient, Client, override_settings
from django.urls import include, path

from accounts.models import User
from games.log import Unwritten
from midnight import pages

handler500 = pages.server_error


def raising(error: Exception) -> Callable[[HttpRequest], HttpResponse]:
    def view(request: HttpRequest) -> HttpResponse:
        raise error

    return view


urlpatterns = [
    path("wrong/400/", raising(SuspiciousOperation())),
    path("wrong/403/", raising(PermissionDenied())),
    path("wrong/500/", raising(RuntimeError("a slip of ours"))),
    path("wrong/503/", raising(OperationalError("the database is away"))),
    path("wrong/503/at-a-table/", raising(Unwritten("the database is away"))),
    path("api/wrong/500/", raising(RuntimeError("a slip of ours"))),
    path("api/wrong/503/", raising(OperationalError("the database is away"))),
    path("", include("midnight.urls")),
]


@pytest.fixture
def troubled() -> Iterator[Client]:
    """A client of the site with addresses where something is always wrong."""
    with override_settings(ROOT_URLCONF=__name__):
        yield Client(raise_request_exception=False)


@pytest.mark.parametrize("address", ["/", "/about/", "/privacy/", "/display/", "/offline/"])
def test_a_page_stands_for_a_visitor_without_a_question_to_the_database(address: str, client: Client) -> None:
    assert client.get(address).status_code == 200


def test_the_privacy_page_calls_the_cookies_by_the_names_that_they_have_here(client: Client) -> None:
    with override_settings(SESSION_COOKIE_NAME="__Host-sessionid", CSRF_COOKIE_NAME="proof"):
        page = client.get("/privacy/").content.decode()
    assert "<code>__Host-sessionid</code>" in page
    assert "<code>proof</code>" in page


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "makes no sense to us"),
        (403, "This door is locked"),
        (404, "Nothing in this drawer"),
        (500, "The lights went out"),
        (503, "Back in a moment"),
    ],
)
def test_a_page_that_goes_wrong_says_so_in_our_words(status: int, words: str, troubled: Client) -> None:
    response = troubled.get(f"/wrong/{status}/")
    assert response.status_code == status
    assert words in response.content.decode()
    assert "Content-Security-Policy" in response.headers


def test_a_form_from_another_site_is_refused_in_our_words() -> None:
    response = Client(enforce_csrf_checks=True).post("/display/", {"theme": "dark", "language": "en"})
    assert response.status_code == 403
    assert "This form has grown old" in response.content.decode()


def test_a_part_of_the_site_that_is_away_asks_to_come_again(troubled: Client) -> None:
    for address in ("/wrong/503/", "/wrong/503/at-a-table/"):
        response = troubled.get(address)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "10")


@pytest.mark.parametrize(("status", "code"), [(500, "fault"), (503, "away")])
def test_a_program_that_asks_the_api_is_told_so_in_json(status: int, code: str, troubled: Client) -> None:
    answer = troubled.get(f"/api/wrong/{status}/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


async def test_that_is_so_under_asgi_too() -> None:
    with override_settings(ROOT_URLCONF=__name__):
        response = await AsyncClient(raise_request_exception=False).get("/wrong/503/")
    assert response.status_code == 503


def test_the_last_words_need_not_even_a_template(troubled: Client, settings: Any) -> None:
    broken = [{**settings.TEMPLATES[0], "DIRS": [], "APP_DIRS": False}]
    with override_settings(TEMPLATES=broken):
        response = troubled.get("/wrong/500/")
    assert response.status_code == 500
    assert response.content.decode() == pages.LAST_WORDS


def test_a_visitors_choice_is_kept_in_cookies_and_seen_on_the_next_page(client: Client) -> None:
    choice = {"language": "fr", "theme": "dark", "reduced_motion": "on", "next": "/about/"}
    response = client.post("/display/", choice)
    assert response.headers["Location"] == "/about/"
    html = client.get("/about/").content.decode()
    assert '<html lang="fr" data-theme="dark" data-motion="reduced" data-patterns="off" data-sounds="off">' in html


@pytest.mark.django_db
def test_a_persons_choice_is_kept_with_the_account(client: Client) -> None:
    person = User.objects.create_user("Irma Vep")
    client.force_login(person)
    client.post("/display/", {"language": "it", "theme": "light", "patterns": "on", "sounds": "on"})
    person.refresh_from_db()
    kept = (person.language, person.theme, person.reduced_motion, person.patterns, person.sounds)
    assert kept == ("it", "light", False, True, True)
    assert 'data-theme="light" data-motion="full" data-patterns="on" data-sounds="on"' in (
        client.get("/about/").content.decode()
    )


def test_a_choice_that_does_not_exist_changes_nothing(client: Client) -> None:
    response = client.post("/display/", {"language": "en", "theme": "purple"})
    assert response.status_code == 422
    assert "look" not in response.cookies


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)", ""])
def test_no_form_sends_one_to_another_site(elsewhere: str, client: Client) -> None:
    response = client.post("/display/", {"language": "en", "theme": "dark", "next": elsewhere})
    assert response.headers["Location"] == "/display/"


def test_the_service_worker_keeps_the_offline_page_and_what_it_is_made_of(client: Client) -> None:
    response = client.get("/service-worker.js")
    assert response.headers["Content-Type"].startswith("text/javascript")
    offline = client.get("/offline/").content.decode()
    for address in response.context["kept"][1:]:
        assert address in offline
    for language in ("en", "fr", "it", "es", "pt", "de"):
        assert f'<section lang="{language}">' in offline
