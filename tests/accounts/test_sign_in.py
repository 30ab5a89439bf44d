"""Signing in: by name or confirmed address, within limits, telling strangers nothing."""

import re
from collections.abc import Callable
from datetime import timedelta
from itertools import cycle, islice
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import closing, moderation, sessions
from accounts.models import FOREVER, EndedSession, User
from tests.accounts.conftest import PASSWORD, code_now, is_signed_in, with_app, with_mail

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/sign-in/"


def attempt(client: Client, login: str, password: str = PASSWORD, **extra: Any) -> Any:
    return client.post(SIGN_IN, {"login": login, "password": password}, **extra)


@pytest.mark.parametrize("login", ["Alice", "ALICE", " alice ", "Ａlice", "alice@example.org", "Alice@Example.ORG"])
def test_name_or_confirmed_address_whatever_the_capitals(client: Client, alice: User, login: str) -> None:
    with_mail(alice)
    assert attempt(client, login)["Location"] == "/"
    assert is_signed_in(client)


def test_an_address_that_nobody_confirmed_opens_nothing(client: Client, alice: User) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True)
    assert attempt(client, "alice@example.org").status_code == 200
    assert not is_signed_in(client)


def test_a_name_that_only_looks_alike_opens_nothing(client: Client, alice: User) -> None:
    assert attempt(client, "A1ice").status_code == 200
    assert not is_signed_in(client)


def test_all_that_can_be_wrong_is_answered_in_the_same_words(alice: User) -> None:
    with_mail(alice)
    wrong = ["Alice", "Nobody Here", "alice@example.org", "nobody@example.org"]
    answers = set()
    for login in wrong:
        page = attempt(Client(), login, "not the password").content.decode()
        answers.add(re.sub(r'value="[^"]*"', "", page))
    assert len(answers) == 1
    assert "do not belong together" in answers.pop()


def test_a_stranger_is_refused_with_as_much_work_as_a_wrong_password(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = User.objects.create_guest()
    work: list[str] = []
    encode = MD5PasswordHasher.encode
    monkeypatch.setattr(
        MD5PasswordHasher, "encode", lambda self, password, salt: work.append(password) or encode(self, password, salt)
    )
    counts = []
    for login in ["Alice", "Nobody Here", "nobody@example.org", guest.name]:
        work.clear()
        attempt(Client(), login, "not the password")
        counts.append(len(work))
    assert counts == [1, 1, 1, 1]


def fail_ten_times(*ways: str) -> None:
    """From one household, which has more tries than that."""
    for login in islice(cycle(ways), 10):
        attempt(Client(REMOTE_ADDR="10.0.1.1"), login, "not the password")


@pytest.mark.parametrize(
    ("ways", "last"),
    [
        (["Alice", "ALICE", "Ａlice", " alice "], "alice"),
        (["alice@example.org", "ALICE@example.org", " Alice@Example.ORG "], "alice@Example.org"),
    ],
)
def test_a_household_tries_ten_passwords_of_an_account_however_it_is_spelled(
    ways: list[str], last: str, alice: User, bob: User
) -> None:
    with_mail(alice)
    fail_ten_times(*ways)
    locked = Client(REMOTE_ADDR="10.0.1.1")
    assert "Too many attempts" in attempt(locked, last).content.decode()
    assert not is_signed_in(locked)
    other = Client(REMOTE_ADDR="10.0.1.1")
    attempt(other, "Bob")
    assert is_signed_in(other)


@pytest.mark.parametrize("locked", [[], ["Alice"]])
def test_whose_address_it_is_no_number_of_wrong_passwords_tells(locked: list[str], alice: User) -> None:
    """Known or not, an address is answered alike at each attempt, whether or not its owner's name is locked."""
    with_mail(alice)
    if locked:
        fail_ten_times(*locked)
    answers = []
    for address in ("alice@example.org", "nobody@example.org"):
        answers.append([answer_to(address) for _ in range(12)])
    assert answers[0] == answers[1]
    assert "Too many attempts" in answers[0][-1][1]
    assert "do not belong together" in answers[0][9][1]
    name = attempt(Client(REMOTE_ADDR="10.0.1.1"), "Alice", "not the password").content.decode()
    assert ("Too many attempts" in name) == bool(locked), "nor do they tell whose name belongs to it"


def answer_to(login: str) -> tuple[int, str]:
    """Status and words of the answer to a wrong password, for each address from a household of its own."""
    answer = attempt(Client(REMOTE_ADDR=f"10.{len(login)}.1.1"), login, "not the password")
    return answer.status_code, re.sub(r'value="[^"]*"', "", answer.content.decode())


def test_a_right_password_costs_nothing_of_the_limit(alice: User) -> None:
    for number in range(12):
        assert attempt(Client(REMOTE_ADDR=f"10.0.0.{number}"), "Alice").status_code == 302


@pytest.mark.usefixtures("in_one_moment")
def test_an_address_takes_twenty_wrong_passwords_a_minute(alice: User, bob: User) -> None:
    for number in range(20):
        attempt(Client(), f"Nobody {number}", "not the password")
    assert "Too many attempts" in attempt(Client(), "Alice").content.decode()
    assert attempt(Client(REMOTE_ADDR="10.0.0.2"), "Alice").status_code == 302


@pytest.mark.usefixtures("in_one_moment")
def test_all_addresses_of_one_network_share_its_limit(alice: User) -> None:
    for number in range(21):
        answer = attempt(Client(REMOTE_ADDR=f"2001:db8:1:2::{number:x}"), f"Nobody {number}", "no")
    assert "Too many attempts" in answer.content.decode()
    assert "Too many" not in attempt(Client(REMOTE_ADDR="2001:db8:1:3::1"), "Nobody", "no").content.decode()


@pytest.mark.usefixtures("in_one_moment")
def test_nobody_slips_through_the_limit_with_a_header_of_their_own(alice: User) -> None:
    for number in range(21):
        header = f"10.9.9.{number}"
        answer = attempt(Client(), f"Nobody {number}", "no", headers={"x-forwarded-for": header})
    assert "Too many attempts" in answer.content.decode()


def test_behind_a_trusted_proxy_each_client_has_its_own_limit(alice: User, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    for number in range(21):
        answer = attempt(Client(), f"Nobody {number}", "no", headers={"x-forwarded-for": f"1.2.3.4, 10.9.9.{number}"})
    assert "Too many attempts" not in answer.content.decode()


@pytest.mark.usefixtures("in_one_moment")
def test_the_page_itself_answers_thirty_times_a_minute(client: Client) -> None:
    statuses = [client.post(SIGN_IN, {}).status_code for _ in range(31)]
    assert statuses == [200] * 30 + [429]


def test_a_suspended_person_is_told_until_when_and_stays_outside(client: Client, alice: User) -> None:
    moderation.suspend(alice, timezone.now() + timedelta(days=3), by="Charlie")
    answer = attempt(client, "Alice")
    assert answer["Location"] == "/account/suspended/"
    assert "suspended until" in client.get("/account/suspended/").content.decode()
    assert not is_signed_in(client)
    moderation.suspend(alice, FOREVER, by="Charlie")
    attempt(client, "Alice")
    assert "for good" in client.get("/account/suspended/").content.decode()


def test_a_stranger_does_not_learn_who_is_suspended(client: Client, alice: User) -> None:
    moderation.suspend(alice, FOREVER, by="Charlie")
    assert "do not belong together" in attempt(client, "Alice", "not the password").content.decode()
    assert client.get("/account/suspended/")["Location"] == SIGN_IN


def test_a_suspended_person_with_an_app_shows_its_code_before_they_are_told_anything(alice: User) -> None:
    with_app(alice)
    moderation.suspend(alice, timezone.now() + timedelta(days=3), by="Charlie")
    client = Client()
    assert attempt(client, "Alice")["Location"].startswith("/account/sign-in/code/")
    assert client.get("/account/suspended/")["Location"] == SIGN_IN
    assert client.get("/letters/")["Location"].startswith(SIGN_IN)
    assert client.post("/account/sign-in/code/", {"code": code_now()})["Location"] == "/account/suspended/"
    assert "suspended until" in client.get("/account/suspended/").content.decode()
    assert client.get("/letters/").status_code == 200
    assert not is_signed_in(client)


def lift(person: User) -> None:
    moderation.lift(person, by="Charlie")


def sign_out_everywhere(person: User) -> None:
    sessions.end_all(person, EndedSession.Reason.SIGNED_OUT)


@pytest.mark.parametrize("then", [lift, closing.delete, sign_out_everywhere])
def test_what_a_suspended_person_may_read_is_read_no_longer_than_they_could_be_signed_in(
    client: Client, alice: User, then: Callable[[User], None]
) -> None:
    moderation.suspend(alice, timezone.now() + timedelta(days=3), by="Charlie")
    attempt(client, "Alice")
    assert client.get("/letters/").status_code == 200
    alice.refresh_from_db()
    then(alice)
    assert client.get("/letters/")["Location"].startswith(SIGN_IN)
    assert client.get("/account/suspended/")["Location"] == SIGN_IN


def test_when_the_suspension_is_over_or_lifted_the_door_opens(client: Client, alice: User) -> None:
    moderation.suspend(alice, timezone.now() - timedelta(seconds=1), by="Charlie")
    attempt(client, "Alice")
    assert is_signed_in(client)
    moderation.suspend(alice, FOREVER, by="Charlie")
    moderation.lift(alice, by="Charlie")
    client = Client()
    attempt(client, "Alice")
    assert is_signed_in(client)


def test_signing_in_opens_a_closed_account_again(client: Client, alice: User) -> None:
    closing.close(alice)
    attempt(client, "Alice")
    assert "open again" in client.get("/account/").content.decode()
    alice.refresh_from_db()
    assert alice.closed_at is None


def test_a_deleted_account_cannot_be_signed_in_to(client: Client, alice: User) -> None:
    with_mail(alice)
    closing.delete(alice)
    alice.refresh_from_db()
    for login in ["Alice", "alice@example.org", alice.name]:
        assert attempt(client, login).status_code == 200
    assert not is_signed_in(client)


def test_nobody_signs_in_as_a_guest(client: Client) -> None:
    guest = User.objects.create_guest()
    assert attempt(client, guest.name, "!").status_code == 200
    assert not is_signed_in(client)


def test_signing_out_takes_a_post_and_ends_the_session(client: Client, alice: User) -> None:
    attempt(client, "Alice")
    assert client.get("/account/sign-out/").status_code == 200
    assert is_signed_in(client)
    assert client.post("/account/sign-out/")["Location"] == "/"
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    "page", ["", "name/", "mail/", "password/", "security/", "security/app/", "sessions/", "data/", "claim/"]
)
def test_a_visitor_is_asked_to_sign_in_first(client: Client, page: str) -> None:
    assert client.get(f"/account/{page}")["Location"] == f"{SIGN_IN}?next=/account/{page}"


def test_pages_are_in_the_language_of_the_account(client: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(language="fr")
    attempt(client, "Alice")
    assert '<html lang="fr"' in client.get("/account/", headers={"accept-language": "de"}).content.decode()
