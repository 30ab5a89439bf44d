"""Codes from an app, recovery codes, and who has to have one of both before anything else."""

import json
import re
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings
from redis import Redis

from accounts import duties
from accounts.administrators import make_first_administrator
from accounts.models import EndedSession, Trace, User
from accounts.sessions import EndWatch
from tests.accounts.conftest import (
    PASSWORD,
    SECRET,
    code_now,
    committing,
    is_signed_in,
    signed_in,
    totp_code,
    with_app,
    with_mail,
)

pytestmark = pytest.mark.django_db
SECURITY, APP, CODES = "/account/security/", "/account/security/app/", "/account/security/codes/"
NEW = "pommes de terre"


def set_up_app(client: Client) -> str:
    """Set up an app on its page; the app's secret."""
    page = client.get(APP).content.decode()
    secret = re.search(r'<code class="secret">(\w+)</code>', page)
    assert secret
    answer = client.post(APP, {"code": totp_code(secret[1])})
    assert answer["Location"] == CODES, answer.content.decode()
    return secret[1]


def recovery_codes(client: Client) -> list[str]:
    return re.findall(r"<li><code>(\w+)</code></li>", client.get(CODES).content.decode())


def halfway_in(user: User) -> Client:
    """A browser in which the password was right, and which is asked for more."""
    client = Client()
    answer = client.post("/account/sign-in/", {"login": user.name, "password": PASSWORD})
    assert answer["Location"] == "/account/sign-in/code/"
    return client


@committing
def test_an_app_is_set_up_by_its_code_and_gives_ten_recovery_codes(alice: User) -> None:
    client = signed_in(alice)
    page = client.get(APP).content.decode()
    assert 'src="data:image/svg+xml;base64,' in page
    assert "not right" in client.post(APP, {"code": "000000"}).content.decode()
    set_up_app(client)
    assert len(recovery_codes(client)) == 10
    assert alice.traces.get().what == Trace.What.FACTOR_ADDED
    file = client.get(f"{CODES}file/")
    assert file["Content-Disposition"] == 'attachment; filename="recovery-codes.txt"'
    assert "Alice" in file.content.decode()


@committing
def test_a_second_factor_is_told_by_letter(alice: User, mailoutbox: list[EmailMessage]) -> None:
    client = signed_in(with_mail(alice))
    set_up_app(client)
    assert "An app was set up" in mailoutbox[0].subject
    client.post(f"{APP}remove/")
    assert "not asked any more" in mailoutbox[1].subject


def test_the_password_alone_lets_nobody_in_any_more(alice: User) -> None:
    client = halfway_in(with_app(alice))
    assert not is_signed_in(client)
    assert client.post("/account/sign-in/code/", {"code": "000000"}).status_code == 200
    assert not is_signed_in(client)
    assert client.post("/account/sign-in/code/", {"code": code_now()})["Location"] == "/"
    assert is_signed_in(client)


def test_a_code_of_the_app_counts_once(alice: User) -> None:
    with_app(alice)
    first, second = halfway_in(alice), halfway_in(alice)
    code = code_now()
    first.post("/account/sign-in/code/", {"code": code})
    assert is_signed_in(first)
    second.post("/account/sign-in/code/", {"code": code})
    assert not is_signed_in(second)


def test_a_code_counts_once_although_the_cache_has_forgotten_it(alice: User, valkey: Redis) -> None:
    with_app(alice)
    first, second = halfway_in(alice), halfway_in(alice)
    code = code_now()
    first.post("/account/sign-in/code/", {"code": code})
    assert is_signed_in(first)
    valkey.flushall()
    second.post("/account/sign-in/code/", {"code": f"{code[:3]} {code[3:]}"})
    assert not is_signed_in(second)


def test_a_recovery_code_lets_in_once(alice: User) -> None:
    code = with_app(alice).authenticator_set.get(type="recovery_codes").wrap().get_unused_codes()[0]
    first, second = halfway_in(alice), halfway_in(alice)
    first.post("/account/sign-in/code/", {"code": code})
    assert is_signed_in(first)
    assert second.post("/account/sign-in/code/", {"code": code}).status_code == 200
    assert not is_signed_in(second)


def test_codes_cannot_be_guessed_for_long(alice: User) -> None:
    with_app(alice)
    for _ in range(10):
        client = halfway_in(alice)
        client.post("/account/sign-in/code/", {"code": "000000"}, REMOTE_ADDR="10.0.1.1")
    client = halfway_in(alice)
    answer = client.post("/account/sign-in/code/", {"code": code_now()}, REMOTE_ADDR="10.0.1.1")
    assert "Too many attempts" in answer.content.decode()
    assert not is_signed_in(client)


def test_secrets_lie_encrypted_and_survive_a_new_key_with_the_old_one_kept(alice: User, settings: Settings) -> None:
    with_app(alice)
    assert SECRET not in json.dumps([factor.data for factor in Authenticator.objects.all()])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    assert alice.authenticator_set.get(type="totp").wrap().validate_code(code_now())


def test_changing_them_asks_who_one_is_unless_one_has_just_come_in(alice: User) -> None:
    client = signed_in(with_app(alice), code=code_now())
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 600
    session.save()
    for page in [APP + "remove/", CODES, f"{CODES}new/", f"{SECURITY}passkeys/add/"]:
        assert client.get(page)["Location"].startswith("/account/again/"), page
    again = client.post("/account/again/", {"password": PASSWORD, "next": CODES})
    assert again["Location"] == CODES
    assert client.get(CODES).status_code == 200


def test_new_recovery_codes_make_the_old_ones_worthless(alice: User) -> None:
    client = signed_in(alice)
    set_up_app(client)
    old = recovery_codes(client)
    client.post(f"{CODES}new/")
    assert not set(old) & set(recovery_codes(client))


def test_without_the_app_the_recovery_codes_go_too(alice: User) -> None:
    client = signed_in(alice)
    set_up_app(client)
    assert client.post(f"{APP}remove/")["Location"] == SECURITY
    assert not Authenticator.objects.exists()
    assert Trace.objects.filter(what=Trace.What.FACTOR_REMOVED).exists()


# Who has to have one --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page", ["/", "/account/", "/account/name/", "/account/data/", "/admin/", "/admin/accounts/user/"]
)
def test_staff_see_nothing_before_they_have_a_second_factor(admin: User, page: str) -> None:
    client = signed_in(admin)
    assert client.get(page)["Location"] == SECURITY
    assert client.post(page)["Location"] == SECURITY
    answer = client.get(page, headers={"hx-request": "true"})
    assert answer["HX-Redirect"] == SECURITY
    assert "a password alone is not enough" in client.get(SECURITY).content.decode()


def test_a_moderator_without_superpowers_needs_one_as_well(bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    bob.refresh_from_db()
    assert duties.first_duty(bob) == duties.SECOND_FACTOR
    with_app(bob)
    assert duties.first_duty(bob) is None


def test_recovery_codes_alone_are_no_second_factor(admin: User) -> None:
    with_app(admin).authenticator_set.filter(type="totp").delete()
    assert duties.first_duty(admin) == duties.SECOND_FACTOR


def test_with_an_app_the_administration_opens(admin: User) -> None:
    client = signed_in(admin)
    set_up_app(client)
    assert client.get("/admin/").status_code == 200


def test_the_administration_has_no_door_of_its_own(admin: User, alice: User, client: Client) -> None:
    assert client.get("/admin/")["Location"].startswith("/admin/login/")
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/account/sign-in/?next=%2Fadmin%2F"
    answer = client.post("/admin/login/", {"username": "Charlie", "password": PASSWORD})
    assert answer["Location"].startswith("/account/sign-in/")
    assert not is_signed_in(client)
    assert signed_in(alice).get("/admin/login/").status_code == 403


def test_the_administration_changes_passwords_and_signs_out_as_the_site_does(admin: User) -> None:
    client = signed_in(with_app(admin), code=code_now())
    assert client.get("/admin/password_change/")["Location"] == "/account/password/"
    watch, key = EndWatch(), client.session.session_key
    client.post("/admin/logout/")
    assert [end.session_key for end in watch.look()] == [key]


def test_players_owe_nothing(alice: User) -> None:
    assert duties.first_duty(alice) is None


def test_the_first_administrator_sets_a_password_and_a_second_factor_before_anything_else() -> None:
    made = make_first_administrator()
    assert made
    name, password = made
    client = Client()
    client.post("/account/sign-in/", {"login": name, "password": password})
    for page in ["/", "/account/", "/admin/", SECURITY, APP]:
        assert client.get(page)["Location"] == "/account/password/", page
    page = client.get("/account/password/").content.decode()
    assert "only you know" in page
    same = client.post("/account/password/", {"oldpassword": password, "password1": password})
    assert "have already" in same.content.decode()
    client.post("/account/password/", {"oldpassword": password, "password1": NEW})
    for page in ["/", "/account/", "/admin/", "/account/password/"]:
        assert client.get(page)["Location"] == SECURITY, page
    set_up_app(client)
    assert client.get("/admin/").status_code == 200
    assert client.get("/").status_code == 200


# Who lost them --------------------------------------------------------------------------------------------------------


@committing
def test_rescue_prints_a_password_for_once_and_writes_down_who_did_it(
    alice: User, mailoutbox: list[EmailMessage], caplog: pytest.LogCaptureFixture
) -> None:
    client = signed_in(with_mail(alice))
    with_app(alice)
    watch = EndWatch()
    out, said = StringIO(), StringIO()
    call_command("rescue", "ALICE", by="Charlie", stdout=out, stderr=said)
    password = out.getvalue().strip()
    assert "Alice's one-time password" in said.getvalue()
    assert not is_signed_in(client)
    assert [end.reason for end in watch.look()] == [EndedSession.Reason.RESCUED]
    assert not Authenticator.objects.exists()
    trace = Trace.objects.get(what=Trace.What.RESCUED)
    assert (trace.user, trace.by) == (alice, "Charlie")
    assert "Charlie gave back access to the account of Alice." in caplog.text
    assert password not in caplog.text
    assert "given back" in mailoutbox[0].subject
    client.post("/account/sign-in/", {"login": "Alice", "password": password})
    assert client.get("/account/")["Location"] == "/account/password/"


def test_rescue_names_who_is_at_the_keyboard_unless_told(alice: User) -> None:
    call_command("rescue", "Alice", stdout=StringIO(), stderr=StringIO())
    assert "@" in Trace.objects.get().by


@pytest.mark.parametrize("name", ["Nobody Here", "nobody@example.org", ""])
def test_rescue_of_nobody_says_so(alice: User, name: str) -> None:
    with pytest.raises(CommandError, match="Nobody has the name"):
        call_command("rescue", name)


@pytest.mark.usefixtures("in_one_moment")
def test_a_visitor_asks_for_a_passkeys_riddle_thirty_times_a_minute_at_most(client: Client) -> None:
    asked = [Client().get("/account/sign-in/passkey/", headers={"accept": "application/json"}) for _ in range(31)]
    assert [answer.status_code for answer in asked] == [200] * 30 + [429]
    assert Session.objects.count() == 30
