"""One's own settings, what the administration may and may not, and where letters go."""

import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import User
from midnight.settings import mail
from tests.accounts.conftest import GROWING_ADDRESS, LONG_ADDRESS, PASSWORD, committing, signed_in, with_app, with_mail

pytestmark = pytest.mark.django_db
SETTINGS = "/display/"
ALL = {"language": "fr", "theme": "dark", "reduced_motion": "on", "patterns": "on"}


def test_settings_are_kept_and_obeyed_at_once(alice: User) -> None:
    client = signed_in(alice)
    assert client.post(SETTINGS, ALL)["Location"] == SETTINGS
    alice.refresh_from_db()
    assert (alice.language, alice.theme, alice.reduced_motion, alice.patterns, alice.sounds) == (
        "fr",
        "dark",
        True,
        True,
        False,
    )
    page = client.get(SETTINGS).content.decode()
    html = re.search(r"<html [^>]*>", page)
    assert html
    for said in ['lang="fr"', 'data-theme="dark"', 'data-motion="reduced"', 'data-patterns="on"', 'data-sounds="off"']:
        assert said in html[0]


def test_a_language_or_theme_that_does_not_exist_is_refused(alice: User) -> None:
    client = signed_in(alice)
    assert client.post(SETTINGS, {**ALL, "language": "tlh"}).status_code == 422
    assert client.post(SETTINGS, {**ALL, "theme": "pink"}).status_code == 422
    alice.refresh_from_db()
    assert (alice.language, alice.theme) == ("", "system")


def test_settings_change_nothing_else(alice: User) -> None:
    signed_in(alice).post(SETTINGS, {**ALL, "is_staff": "on", "is_superuser": "on", "name": "Root", "is_guest": "on"})
    alice.refresh_from_db()
    assert (alice.name, alice.is_staff, alice.is_superuser, alice.is_guest) == ("Alice", False, False, False)


def test_a_guest_has_settings_too() -> None:
    client = Client()
    client.post("/account/guest/")
    client.post(SETTINGS, ALL)
    assert User.objects.get().theme == "dark"


@pytest.mark.parametrize("door", ["/account/guest/", "/account/sign-up/"])
def test_what_a_visitor_chose_goes_with_them_into_the_house(door: str, client: Client) -> None:
    client.post(SETTINGS, ALL)
    client.post(door, {"name": "Irma Vep", "password": PASSWORD, "mail": ""})
    new = User.objects.get()
    assert (new.language, new.theme, new.reduced_motion, new.patterns, new.sounds) == ("fr", "dark", True, True, False)


def test_the_overview_says_how_things_stand(alice: User) -> None:
    client = signed_in(with_mail(alice))
    page = client.get("/account/").content.decode()
    for said in ["Alice", "alice@example.org", "confirmed", "1 session"]:
        assert said in page


# The mail address -----------------------------------------------------------------------------------------------------


@committing
def test_a_new_address_takes_the_place_of_the_old_one_when_it_is_confirmed(
    alice: User, mailoutbox: list[EmailMessage]
) -> None:
    client = signed_in(with_mail(alice))
    client.post("/account/mail/", {"email": "new@example.org", "action_add": ""})
    page = client.get("/account/mail/").content.decode()
    assert "alice@example.org" in page
    assert "new@example.org" in page
    link = re.search(r"/account/mail/confirm/\S+", mailoutbox[0].body)
    assert link
    client.post(link[0])
    assert [(a.email, a.verified, a.primary) for a in alice.emailaddress_set.all()] == [("new@example.org", True, True)]
    assert mailoutbox[1].to == ["alice@example.org"]
    assert "new@example.org" in mailoutbox[1].body


@committing
def test_an_address_of_somebody_else_is_taken_like_any_other_and_never_confirmed(
    alice: User, bob: User, mailoutbox: list[EmailMessage]
) -> None:
    with_mail(alice)
    client = signed_in(bob)
    answer = client.post("/account/mail/", {"email": "alice@example.org", "action_add": ""})
    assert answer.status_code == 302
    link = re.search(r"/account/mail/confirm/\S+", mailoutbox[0].body)
    assert link
    client.post(link[0])
    assert not bob.emailaddress_set.get().verified
    assert alice.emailaddress_set.get().verified


@pytest.mark.parametrize("mail", [LONG_ADDRESS, GROWING_ADDRESS])
def test_an_address_that_is_too_long_is_refused_in_a_sentence(alice: User, mail: str) -> None:
    answer = signed_in(alice).post("/account/mail/", {"email": mail, "action_add": ""})
    assert "at most 254" in answer.content.decode()
    assert not alice.emailaddress_set.exists()


def test_an_address_can_be_removed(alice: User) -> None:
    client = signed_in(with_mail(alice))
    client.post("/account/mail/", {"email": "alice@example.org", "action_remove": ""})
    assert not alice.emailaddress_set.exists()


# The administration ---------------------------------------------------------------------------------------------------


def test_the_administration_finds_people_and_changes_nothing_about_them(admin: User, alice: User) -> None:
    client = signed_in(with_app(admin), code="now")
    assert "Alice" in client.get("/admin/accounts/user/?q=ali").content.decode()
    address = f"/admin/accounts/user/{alice.pk}/change/"
    page = client.get(address).content.decode()
    assert alice.password not in page
    assert client.post(address, {"is_staff": "on", "name": "Renamed"}).status_code == 403
    alice.refresh_from_db()
    assert (alice.is_staff, alice.name) == (False, "Alice")
    assert client.get("/admin/accounts/user/add/").status_code == 403
    assert client.post(f"/admin/accounts/user/{alice.pk}/delete/").status_code == 403
    for private in ["mfa/authenticator", "account/emailaddress", "usersessions/usersession", "auth/group"]:
        assert client.get(f"/admin/{private}/").status_code == 404


def test_moderators_read_about_people(admin: User, alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    client = signed_in(with_app(bob), code="now")
    assert client.get("/admin/").status_code == 200
    assert client.get(f"/admin/accounts/user/{alice.pk}/change/").status_code == 200
    assert client.post(f"/admin/accounts/user/{alice.pk}/change/", {"is_staff": "on"}).status_code == 403
    alice.refresh_from_db()
    assert not alice.is_staff


# Letters --------------------------------------------------------------------------------------------------------------


def test_left_alone_letters_are_files_that_one_can_find(tmp_path: Path) -> None:
    assert mail(f"file://{tmp_path}") == {
        "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
        "EMAIL_FILE_PATH": str(tmp_path),
    }


@pytest.mark.parametrize(
    ("address", "port", "ssl", "tls"),
    [
        ("smtp://mail.example", 25, False, False),
        ("smtp://u%40x:s%2Fecret@mail.example:587?tls=yes", 587, False, True),
        ("smtps://mail.example", 465, True, False),
    ],
)
def test_an_address_says_where_letters_go(address: str, port: int, ssl: bool, tls: bool) -> None:
    said = mail(address)
    assert (said["EMAIL_HOST"], said["EMAIL_PORT"]) == ("mail.example", port)
    assert (said["EMAIL_USE_SSL"], said["EMAIL_USE_TLS"]) == (ssl, tls)
    if "u%40x" in address:
        assert (said["EMAIL_HOST_USER"], said["EMAIL_HOST_PASSWORD"]) == ("u@x", "s/ecret")


def test_an_address_without_a_host_is_refused_in_a_sentence() -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL names no host"):
        mail("smtp://")


@pytest.mark.parametrize(
    "page", ["", "tokens/", "security/", "security/codes/", "sessions/", "data/", "mail/", "name/"]
)
def test_no_page_about_oneself_is_kept_for_whoever_presses_back_after_one_has_left(alice: User, page: str) -> None:
    client = signed_in(alice)
    with_app(alice)
    answer = client.get(f"/account/{page}")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]


def test_the_secret_of_a_token_is_not_kept_either(alice: User) -> None:
    answer = signed_in(alice).post("/account/tokens/", {"name": "a robot"})
    assert "midnight_" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
