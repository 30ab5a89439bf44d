"""A new password ends every session; a forgotten one can be set anew, and nobody else learns anything by that."""

import io
import re
from datetime import datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.mail import EmailMessage
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import EndedSession, Trace, User
from accounts.sessions import EndWatch
from tests.accounts.conftest import PASSWORD, committing, is_signed_in, signed_in, with_app, with_mail

pytestmark = pytest.mark.django_db
CHANGE, FORGOTTEN = "/account/password/", "/account/password/forgotten/"
NEW = "pommes de terre"


def ask(mail: str, client: Client | None = None) -> str:
    answer = (client or Client()).post(FORGOTTEN, {"email": mail}, follow=True)
    assert answer.status_code == 200
    return re.sub(r'value="[^"]*"', "", answer.content.decode())


def link_in(letter: EmailMessage) -> str:
    found = re.search(r"http://localhost:8000(/account/password/new/\S+)", letter.body)
    assert found
    return found[1]


@committing
def test_a_new_password_ends_every_other_session_and_every_socket(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    here, there = signed_in(alice), signed_in(alice)
    watch, old_key = EndWatch(), here.session.session_key
    answer = here.post(CHANGE, {"oldpassword": PASSWORD, "password1": NEW})
    assert answer.status_code == 302
    assert is_signed_in(here)
    assert not is_signed_in(there)
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    # Every socket that was open hangs on a session of before; this browser's own goes on in a new one.
    (end,) = watch.look()
    assert end.reason == EndedSession.Reason.PASSWORD
    assert end.ends(old_key, alice.session_epoch - 1)
    assert not end.ends(here.session.session_key, alice.session_epoch)
    assert here.session.session_key != old_key
    assert alice.traces.get().what == Trace.What.PASSWORD
    assert "Your password was changed" in mailoutbox[0].subject


@committing
def test_the_letter_about_a_new_password_names_the_whole_address_that_it_came_from(
    alice: User, mailoutbox: list[EmailMessage]
) -> None:
    here = signed_in(with_mail(alice))
    form = {"oldpassword": PASSWORD, "password1": NEW}
    here.post(CHANGE, form, REMOTE_ADDR="2001:db8:1:2:3:4:5:6")
    assert "from the address 2001:db8:1:2:3:4:5:6." in mailoutbox[0].body


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("wrong", NEW, "not your present password"),
        (PASSWORD, PASSWORD, "have already"),
        (PASSWORD, "short", "at least 10"),
    ],
)
def test_a_refused_change_changes_nothing(alice: User, old: str, new: str, said: str) -> None:
    client, other = signed_in(alice), signed_in(alice)
    assert said in client.post(CHANGE, {"oldpassword": old, "password1": new}).content.decode()
    assert is_signed_in(other)
    alice.refresh_from_db()
    assert alice.check_password(PASSWORD)


def test_changing_it_is_limited_too(alice: User) -> None:
    client = signed_in(alice)
    statuses = [client.post(CHANGE, {"oldpassword": "x", "password1": NEW}).status_code for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_somebody_who_never_had_one_is_shown_how_to_get_one(client: Client) -> None:
    client.force_login(User.objects.create_user("Irma Vep"))
    assert client.get(CHANGE, follow=True).redirect_chain[-1][0] == FORGOTTEN


@committing
def test_a_known_and_an_unknown_address_get_the_same_answer(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    assert ask("alice@example.org") == ask("nobody@example.org")
    assert [letter.to for letter in mailoutbox] == [["alice@example.org"]]


@committing
def test_the_page_does_not_even_look_the_address_up(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the time it takes tells nothing either: only the worker looks."""
    with_mail(alice)
    told: list[tuple[str, str]] = []
    monkeypatch.setattr("accounts.resets.send.delay", lambda *words: told.append(words))
    queries = []
    for mail in ["alice@example.org", "nobody@example.org"]:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            Client().post(FORGOTTEN, {"email": mail})
        queries.append(len(seen))
    assert queries == [0, 0]
    assert told == [("alice@example.org", "en"), ("nobody@example.org", "en")]


def test_an_address_that_nobody_confirmed_gets_no_letter(alice: User, mailoutbox: list[EmailMessage]) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True)
    ask("alice@example.org")
    assert not mailoutbox


@committing
def test_a_household_has_an_address_written_to_three_times_an_hour(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    for _ in range(5):
        Client(REMOTE_ADDR="10.0.0.1").post(FORGOTTEN, {"email": "Alice@example.org"})
    assert len(mailoutbox) == 3


@committing
def test_the_link_leads_to_a_new_password_once(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    elsewhere = signed_in(alice)
    watch = EndWatch()
    ask("alice@example.org")
    client = Client()
    form = client.get(link_in(mailoutbox[0]))
    # The address of the page one sees does not hold the key.
    assert re.search(r"/account/password/new/\w+-set-password/$", form["Location"])
    answer = client.post(form["Location"], {"password1": NEW})
    assert answer["Location"] == "/account/password/new/"
    assert client.get(answer["Location"]).status_code == 200
    assert not is_signed_in(client)
    assert not is_signed_in(elsewhere)
    assert [end.reason for end in watch.look()] == [EndedSession.Reason.PASSWORD]
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    assert "not good any more" in Client().get(link_in(mailoutbox[0])).content.decode()


@committing
def test_the_link_is_good_for_four_hours(
    alice: User, mailoutbox: list[EmailMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_mail(alice)
    ask("alice@example.org")
    later = datetime.now() + timedelta(hours=4, minutes=1)
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self: later)
    assert "not good any more" in Client().get(link_in(mailoutbox[0])).content.decode()


@committing
def test_a_new_password_is_no_way_around_the_second_factor(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_app(with_mail(alice))
    ask("alice@example.org")
    client = Client()
    client.post(client.get(link_in(mailoutbox[0]))["Location"], {"password1": NEW})
    answer = client.post("/account/sign-in/", {"login": "Alice", "password": NEW})
    assert answer["Location"] == "/account/sign-in/code/"
    assert not is_signed_in(client)


@committing
@pytest.mark.parametrize("login", ["Alice", "alice@example.org"])
def test_a_new_password_lets_in_whom_somebodys_guesses_have_locked_out(
    login: str, alice: User, mailoutbox: list[EmailMessage]
) -> None:
    with_mail(alice)
    for number in range(10):
        guess = {"login": login, "password": "not the password"}
        Client(REMOTE_ADDR=f"10.0.0.{number}").post("/account/sign-in/", guess)
    ask("alice@example.org")
    client = Client()
    client.post(client.get(link_in(mailoutbox[0]))["Location"], {"password1": NEW})
    client.post("/account/sign-in/", {"login": login, "password": NEW})
    assert is_signed_in(client)


@committing
def test_letters_speak_the_language_of_whoever_gets_them(alice: User, mailoutbox: list[EmailMessage]) -> None:
    User.objects.filter(pk=alice.pk).update(language="fr")
    with_mail(alice)
    seen = []
    from accounts import letters

    original = letters.render_to_string

    def spy(template: str, facts: dict[str, object]) -> str:
        from django.utils import translation

        seen.append(translation.get_language())
        return original(template, facts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letters, "render_to_string", spy)
        Client(headers={"accept-language": "de"}).post(FORGOTTEN, {"email": "alice@example.org"})
    assert set(seen) == {"fr"}


@committing
def test_a_password_changed_from_the_shell_ends_every_session_and_socket(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, watch = signed_in(alice), EndWatch()
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
    call_command("changepassword", alice.name, stdout=io.StringIO())
    assert not is_signed_in(there)
    (end,) = watch.look()
    assert end.ends(None, alice.session_epoch)
