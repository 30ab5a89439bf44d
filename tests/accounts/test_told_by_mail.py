"""Closing, reopening, deleting and renaming are told by mail; closing asks first; password mail leads to a new one."""

import pytest
from django.core.mail import EmailMessage
from django.test import Client

from accounts import closing, letters, names
from accounts.models import Trace, User
from tests.accounts.conftest import PASSWORD, is_signed_in, signed_in, with_mail

pytestmark = pytest.mark.django_db(transaction=True)


def subjects(mailoutbox: list[EmailMessage]) -> list[str]:
    return [letter.subject.removeprefix("[Midnight] ") for letter in mailoutbox]


def test_closing_asks_first(alice: User) -> None:
    client = signed_in(alice)
    data = client.get("/account/data/").content.decode()
    assert 'href="/account/data/closing/"' in data
    assert 'action="/account/data/close/"' not in data
    asked = client.get("/account/data/closing/").content.decode()
    assert "Do you want to close your account?" in asked
    assert 'action="/account/data/close/"' in asked
    alice.refresh_from_db()
    assert alice.closed_at is None
    assert is_signed_in(client)


def test_closing_and_coming_back_are_told(alice: User, mailoutbox: list[EmailMessage]) -> None:
    signed_in(with_mail(alice)).post("/account/data/close/")
    (closed,) = mailoutbox
    assert "Your account is closed" in closed.subject
    assert "(UTC)" in closed.body
    assert "/account/password/forgotten/" in closed.body
    Client().post("/account/sign-in/", {"login": "Alice", "password": PASSWORD})
    assert "Your account is open again" in mailoutbox[-1].subject
    assert not closing.reopen(alice)
    assert len(mailoutbox) == 2


def test_the_last_letter_tells_that_the_account_is_gone(alice: User, mailoutbox: list[EmailMessage]) -> None:
    closing.delete(with_mail(alice))
    (last,) = mailoutbox
    assert last.to == ["alice@example.org"]
    assert "Your account is deleted" in last.subject
    assert "Hello Alice," in last.body


def test_no_file_keeps_the_address_of_who_is_gone(
    alice: User, mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "are_kept", lambda: True)
    monkeypatch.setattr(letters, "forget", lambda addresses: None)
    closing.delete(with_mail(alice))
    assert not mailoutbox


def test_a_new_name_is_told_with_the_old_one(alice: User, mailoutbox: list[EmailMessage]) -> None:
    names.change(with_mail(alice), "Alicia")
    (told,) = mailoutbox
    assert "Your name was Alice and is Alicia now." in told.body
    names.change(alice, "Player 1", by=Trace.STAFF)
    assert len(mailoutbox) == 1, "the moderators' letter tells of this one"


def test_mail_about_a_new_password_leads_to_another_new_one(alice: User, mailoutbox: list[EmailMessage]) -> None:
    new = "a quiet night in june"
    answer = signed_in(with_mail(alice)).post(
        "/account/password/", {"oldpassword": PASSWORD, "password1": new, "password2": new}
    )
    assert answer.status_code == 302
    body = mailoutbox[0].body
    assert body.index("/account/password/forgotten/") > body.index("It was not you?")


def test_mail_about_relaxed_games_is_turned_off_and_on_as_a_whole(alice: User) -> None:
    client = signed_in(with_mail(alice))
    assert "Turn it off" in client.get("/account/").content.decode()
    for said, wanted in (("no", False), ("yes", True)):
        client.post("/account/turn-mail/", {"on": said})
        alice.refresh_from_db()
        assert alice.turn_mail is wanted
