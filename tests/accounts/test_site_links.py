"""Links that leave the site lead to the site, whatever a request says of where it stands."""

import re

import pytest
from django.conf import settings
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import get_script_prefix, set_script_prefix

from accounts import letters, resets
from accounts.models import User
from accounts.site_links import at_root, link_to
from tests.accounts.conftest import PASSWORD, with_mail

pytestmark = pytest.mark.django_db(transaction=True)

# What Django puts before every address while it answers such a request.
PREFIX = "@evil.example"


def test_the_letter_after_a_sign_up_leads_to_the_site(mailoutbox: list[EmailMessage]) -> None:
    form = {"name": "Irma", "password": PASSWORD, "mail": "victim@example.org"}
    Client(SCRIPT_NAME=PREFIX).post("/account/sign-up/", form)
    (letter,) = mailoutbox
    links = re.findall(r"https?://\S+", letter.body)
    assert any(link.startswith(f"{settings.SITE_URL}/account/mail/confirm/") for link in links)
    assert "evil" not in letter.body


@pytest.mark.parametrize(
    "template",
    ["account/email/email_changed", "account/email/password_changed", "mfa/email/totp_deactivated"],
)
def test_every_address_in_a_letter_is_the_sites(template: str, mailoutbox: list[EmailMessage]) -> None:
    set_script_prefix(f"{PREFIX}/")
    try:
        letters.send("victim@example.org", template)
    finally:
        set_script_prefix("/")
    assert f"{settings.SITE_URL}/account/sessions/" in mailoutbox[0].body
    assert "evil" not in mailoutbox[0].body


def test_the_prefix_of_the_request_comes_back() -> None:
    set_script_prefix("/elsewhere/")
    try:
        with at_root():
            assert get_script_prefix() == "/"
        assert link_to("accounts:sessions") == f"{settings.SITE_URL}/account/sessions/"
        assert get_script_prefix() == "/elsewhere/"
    finally:
        set_script_prefix("/")


def test_the_letter_for_a_forgotten_password_leads_to_the_site(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    set_script_prefix(f"{PREFIX}/")
    try:
        resets.send("alice@example.org", "en")
    finally:
        set_script_prefix("/")
    assert f"{settings.SITE_URL}/account/password/new/" in mailoutbox[0].body
