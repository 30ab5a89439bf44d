"""Signing up: one short form, a mail address if one likes, and nobody learns whose address is known."""

import re
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.test import Client

from accounts.models import Trace, User
from tests.accounts.conftest import GROWING_ADDRESS, LONG_ADDRESS, PASSWORD, committing, is_signed_in, with_mail

pytestmark = pytest.mark.django_db
SIGN_UP = "/account/sign-up/"


def test_a_name_and_a_password_are_enough_and_one_is_in(client: Client, mailoutbox: list[EmailMessage]) -> None:
    answer = client.post(SIGN_UP, {"name": "Irma Vep", "password": PASSWORD, "mail": ""})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    irma = User.objects.get(name="Irma Vep")
    assert irma.check_password(PASSWORD)
    assert not irma.is_guest
    assert irma.traces.get().what == Trace.What.JOINED
    assert is_signed_in(client)
    assert not mailoutbox


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "A"}, "2 to 20"),
        ({"name": "Bo\u0430b"}, "one script"),
        ({"name": "Admin"}, "reserved"),
        ({"name": "A1ice"}, "taken"),
        ({"password": "short"}, "at least 10 characters"),
        ({"password": "password123"}, "too common"),
        ({"password": "12345678901234"}, "entirely numeric"),
        ({"name": "Fantomas", "password": "fantomas00"}, "too similar"),
        ({"password": "x" * 129}, "at most 128"),
        ({"mail": "nonsense"}, "valid email"),
        ({"mail": LONG_ADDRESS}, "at most 254"),
        ({"mail": GROWING_ADDRESS}, "at most 254"),
    ],
)
def test_what_is_wrong_is_said_and_nobody_is_made(
    client: Client, alice: User, given: dict[str, str], said: str
) -> None:
    answer = client.post(SIGN_UP, {"name": "Irma Vep", "password": PASSWORD, "mail": "", **given})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert User.objects.count() == 1
    assert not is_signed_in(client)


@committing
def test_a_mail_address_counts_when_it_is_confirmed(client: Client, mailoutbox: list[EmailMessage]) -> None:
    client.post(SIGN_UP, {"name": "Irma Vep", "password": PASSWORD, "mail": "Irma@Example.org"})
    address = EmailAddress.objects.get()
    assert (address.email, address.verified) == ("irma@example.org", False)
    (letter,) = mailoutbox
    assert letter.to == ["irma@example.org"]
    assert "Hello Irma Vep," in letter.body
    link = re.search(r"http://localhost:8000(/account/mail/confirm/\S+)", letter.body)
    assert link
    assert "Is this your address?" in client.get(link[1]).content.decode()
    assert not EmailAddress.objects.get().verified
    assert client.post(link[1])["Location"] == "/account/mail/"
    assert EmailAddress.objects.get().verified
    assert "used already" in client.get(link[1]).content.decode()


@committing
def test_a_known_address_is_answered_like_an_unknown_one(
    alice: User, bob: User, mailoutbox: list[EmailMessage]
) -> None:
    with_mail(alice)
    answers = []
    for name, mail in [("Irma Vep", "alice@example.org"), ("Philippe", "nobody@example.org")]:
        client = Client()
        answer = client.post(SIGN_UP, {"name": name, "password": PASSWORD, "mail": mail})
        page = client.get("/account/mail/").content.decode()
        page = re.sub(
            r'value="[^"]{20,}"', "", page.replace(name, "NAME").replace(quote(name), "NAME").replace(mail, "MAIL")
        )
        answers.append((answer.status_code, answer["Location"], page.replace(f">{name[0]}<", "><")))
    assert answers[0] == answers[1]
    assert [letter.to for letter in mailoutbox] == [["alice@example.org"], ["nobody@example.org"]]
    # Whoever can read that mailbox cannot take the address away from its owner.
    link = re.search(r"/account/mail/confirm/\S+", mailoutbox[0].body)
    assert link
    assert "Another account has confirmed" in Client().get(link[0]).content.decode()
    assert EmailAddress.objects.get(email="alice@example.org", verified=True).user == alice


def test_it_leads_back_to_where_one_came_from_and_never_to_another_host(client: Client) -> None:
    form = {"name": "Irma Vep", "password": PASSWORD, "mail": ""}
    assert client.post(SIGN_UP, {**form, "next": "/account/name/"})["Location"] == "/account/name/"
    other = {**form, "name": "Philippe", "next": "https://evil.example/"}
    assert Client().post(SIGN_UP, other)["Location"] == "/"


def test_an_address_signs_up_thirty_people_an_hour_at_most(client: Client) -> None:
    bad = {"name": "", "password": "", "mail": ""}
    assert [client.post(SIGN_UP, bad).status_code for _ in range(31)] == [200] * 30 + [429]
    assert Client(REMOTE_ADDR="10.0.0.2").post(SIGN_UP, bad).status_code == 200


def test_a_sign_up_needs_the_pages_own_token() -> None:
    client = Client(enforce_csrf_checks=True)
    answer = client.post(SIGN_UP, {"name": "Irma Vep", "password": PASSWORD, "mail": ""})
    assert answer.status_code == 403
    assert not User.objects.exists()


def test_somebody_signed_in_has_nothing_to_sign_up_for(alice: User, client: Client) -> None:
    client.force_login(alice)
    assert client.get(SIGN_UP)["Location"] == "/"


def test_the_account_speaks_the_language_it_was_made_in() -> None:
    client = Client(headers={"accept-language": "fr"})
    client.post(SIGN_UP, {"name": "Irma Vep", "password": PASSWORD, "mail": ""})
    assert User.objects.get().language == "fr"
    assert '<html lang="fr"' in client.get("/account/", headers={"accept-language": "de"}).content.decode()
