"""No stranger's wrong passwords keep the owner out, and guessing stays bounded."""

from collections.abc import Callable
from http.cookies import Morsel
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django.fixtures import Settings

from accounts import attempts, sessions
from accounts.models import EndedSession, User
from tests.accounts.conftest import PASSWORD, code_now, committing, is_signed_in, signed_in, with_app, with_mail

pytestmark = pytest.mark.django_db
SIGN_IN, CODE, FORGOTTEN, CHANGE = (
    "/account/sign-in/",
    "/account/sign-in/code/",
    "/account/password/forgotten/",
    "/account/password/",
)
NEW = "pommes de terre"
HOME = "192.0.2.7"


def attempt(
    address: str, password: str = "not the password", client: Client | None = None, login: str = "Alice"
) -> Any:
    return (client or Client()).post(SIGN_IN, {"login": login, "password": password}, REMOTE_ADDR=address)


def was_judged(answer: Any) -> bool:
    """Whether the password was looked at: wrong, but not one too many."""
    return "do not belong together" in answer.content.decode()


def known_device(user: User) -> Client:
    """A browser that has signed in, and out again."""
    client = signed_in(user)
    client.post("/account/sign-out/")
    assert not is_signed_in(client)
    return client


def device_cookie(client: Client) -> Morsel[str] | None:
    return client.cookies.get("devices")


@pytest.mark.parametrize("wrong", [10, 100, 250])
def test_strangers_wrong_passwords_keep_no_owner_out(alice: User, wrong: int) -> None:
    for number in range(wrong):
        attempt(f"198.51.{number // 250}.{number % 250}")
    elsewhere = Client()
    attempt("192.0.2.99", PASSWORD, elsewhere)
    assert is_signed_in(elsewhere)


def test_a_housemates_wrong_passwords_stop_no_known_device(alice: User) -> None:
    own = known_device(alice)
    for _ in range(100):
        attempt(HOME)
    stranger = Client()
    assert not is_signed_in(stranger)
    assert "Too many" in attempt(HOME, PASSWORD, stranger).content.decode() or attempt(HOME).status_code == 429
    assert attempt(HOME, PASSWORD, own).status_code == 302
    assert is_signed_in(own)


def test_a_known_device_has_ten_tries_of_its_own(alice: User) -> None:
    own, other = known_device(alice), known_device(alice)
    answers = [attempt(f"198.51.100.{number}", client=own) for number in range(11)]
    assert [was_judged(answer) for answer in answers] == [True] * 10 + [False]
    assert attempt("198.51.100.200", PASSWORD, other).status_code == 302


def test_one_household_guesses_fifty_passwords_a_day(
    alice: User, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(attempts, "MOST_SHORT", 10_000)
    monkeypatch.setattr(attempts, "MOST_MINUTE_AT_HOME", 10_000)
    monkeypatch.setattr(attempts, "MOST_FORMS", 10_000)
    answers = [attempt(HOME) for _ in range(60)]
    assert sum(map(was_judged, answers)) == attempts.MOST_DAY == 50
    assert "Try again tomorrow" in answers[-1].content.decode()
    monkeypatch.setattr(attempts, "MOST_DAY", 10_000)
    judged = 50 + sum(was_judged(attempt(HOME, login=f"Nobody {number}")) for number in range(300))
    assert judged == attempts.MOST_DAY_AT_HOME == 300


def test_under_attack_each_further_household_guesses_five(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "UNDER_ATTACK", 20)
    for number in range(20):
        assert was_judged(attempt(f"198.51.100.{number}"))
    later = [sum(was_judged(attempt(f"203.0.113.{number}")) for _ in range(8)) for number in range(4)]
    assert later == [5, 5, 5, 5]
    assert attempt("192.0.2.99", PASSWORD).status_code == 302
    assert was_judged(attempt("203.0.113.1", login="Bob")), "other accounts have their own count"


def test_all_networks_of_one_provider_line_share_an_end(alice: User) -> None:
    answers = [attempt(f"2001:db8:1:{number:x}::1") for number in range(50)]
    assert sum(map(was_judged, answers)) == attempts.MOST_SHORT_WIDE
    assert was_judged(attempt("2001:db8:2::1"))


def test_unknown_names_and_addresses_are_limited_alike(alice: User) -> None:
    with_mail(alice)
    known_device(alice)
    answers = {}
    for number, login in enumerate(("Alice", "Nobody", "alice@example.org", "nobody@example.org")):
        answers[login] = [was_judged(attempt(f"198.51.100.{number}", login=login)) for _ in range(12)]
    assert list(answers.values()) == [[True] * 10 + [False] * 2] * 4


# Codes of a second factor ---------------------------------------------------------------------------------------------


def halfway_in(address: str, client: Client) -> Client:
    assert attempt(address, PASSWORD, client)["Location"] == CODE
    return client


def code(client: Client, address: str, said: str) -> Any:
    return client.post(CODE, {"code": said}, REMOTE_ADDR=address)


def test_a_thiefs_wrong_codes_stop_no_known_device(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with_app(alice)
    own = signed_in(alice, code="now")
    own.post("/account/sign-out/")
    monkeypatch.setattr(attempts, "MOST_CODES_DAY", 15)
    for number in range(20):
        address = f"198.51.100.{number}"
        code(halfway_in(address, Client()), address, "000000")
    thief = halfway_in("203.0.113.1", Client())
    assert "Too many" in code(thief, "203.0.113.1", "000000").content.decode(), "bounded from all addresses together"
    recovery = alice.authenticator_set.get(type="recovery_codes").wrap().get_unused_codes()[0]
    assert code(halfway_in(HOME, own), HOME, recovery)["Location"] == "/"
    assert is_signed_in(own)


def test_a_right_code_costs_nothing(alice: User) -> None:
    with_app(alice)
    for unused in alice.authenticator_set.get(type="recovery_codes").wrap().get_unused_codes()[:9]:
        assert code(halfway_in(HOME, Client()), HOME, unused)["Location"] == "/"
    assert "not right" in code(halfway_in(HOME, Client()), HOME, "000000").content.decode()
    assert code(halfway_in(HOME, Client()), HOME, code_now())["Location"] == "/"


# Letters for a forgotten password -------------------------------------------------------------------------------------


@committing
def test_strangers_who_ask_for_letters_stop_no_owner(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    for number in range(30):
        asked = Client().post(FORGOTTEN, {"email": "alice@example.org"}, REMOTE_ADDR=f"198.51.100.{number}")
        assert asked.status_code == 302
    assert len(mailoutbox) == attempts.LETTERS_IN_ALL, "the mailbox is not flooded"
    own = Client().post(FORGOTTEN, {"email": "alice@example.org"}, REMOTE_ADDR=HOME)
    assert own.status_code == 302
    link = next(word for word in mailoutbox[-1].body.split() if "/password/new/" in word)
    form = Client()
    place = form.get(link[link.index("/account/") :])["Location"]
    assert form.post(place, {"password1": NEW}).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password(NEW), "and the letter that is there works"


@committing
def test_strangers_who_claim_an_address_do_not_hold_up_its_owner(
    alice: User, bob: User, mailoutbox: list[EmailMessage]
) -> None:
    claim = {"email": "alice@example.org", "action_add": ""}
    stranger = signed_in(bob)
    for _ in range(5):
        stranger.post("/account/mail/", claim, REMOTE_ADDR="198.51.100.1")
        stranger.post("/account/mail/", {"email": claim["email"], "action_send": ""}, REMOTE_ADDR="198.51.100.1")
    assert len(mailoutbox) <= 3, "the mailbox is not flooded"
    mailoutbox.clear()
    signed_in(alice).post("/account/mail/", claim, REMOTE_ADDR=HOME)
    assert len(mailoutbox) == 1


def test_asking_for_letters_answers_alike(alice: User) -> None:
    with_mail(alice)
    answers = []
    for number, mail in enumerate(("alice@example.org", "nobody@example.org")):
        address = f"198.51.100.{number}"
        answers.append([Client().post(FORGOTTEN, {"email": mail}, REMOTE_ADDR=address).status_code for _ in range(5)])
    assert answers == [[302] * 3 + [429] * 2] * 2


@committing
def test_a_new_password_by_mail_opens_the_way_from_there(alice: User, mailoutbox: list[EmailMessage]) -> None:
    with_mail(alice)
    for _ in range(11):
        attempt(HOME)
    Client().post(FORGOTTEN, {"email": "alice@example.org"}, REMOTE_ADDR=HOME)
    link = next(word for word in mailoutbox[-1].body.split() if "/password/new/" in word)
    form = Client(REMOTE_ADDR=HOME)
    form.post(form.get(link[link.index("/account/") :])["Location"], {"password1": NEW})
    assert attempt(HOME, NEW).status_code == 302


# The cookie -----------------------------------------------------------------------------------------------------------


def test_the_cookie_is_signed_closed_to_scripts_and_long_lived(alice: User) -> None:
    cookie = device_cookie(signed_in(alice))
    assert cookie is not None
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] >= 180 * 24 * 60 * 60
    assert "Alice" not in cookie.value


def change_password(user: User, client: Client) -> None:
    client.post(CHANGE, {"oldpassword": PASSWORD, "password1": NEW})


def sign_out_everywhere(user: User, client: Client) -> None:
    sessions.end_all(user, EndedSession.Reason.SIGNED_OUT)


@pytest.mark.parametrize("then", [change_password, sign_out_everywhere])
def test_a_new_password_makes_other_devices_strangers(alice: User, then: Callable[[User, Client], None]) -> None:
    stolen, own = known_device(alice), signed_in(alice)
    before = device_cookie(own)
    then(alice, own)
    for _ in range(12):
        attempt(HOME, client=stolen)
    assert not was_judged(attempt(HOME)), "they count for the household as a stranger's do"
    if then is change_password:
        after = device_cookie(own)
        assert before is not None
        assert after is not None
        assert before.value != after.value
        own.post("/account/sign-out/")
        assert attempt(HOME, NEW, own).status_code == 302, "the device at which it was changed stays known"


@pytest.mark.parametrize("forged", ["", "nonsense", "W10:1xTui0:bYUg", "{}"])
def test_a_forged_cookie_is_no_device(alice: User, forged: str) -> None:
    stranger = Client()
    stranger.cookies["devices"] = forged
    assert sum(was_judged(attempt(HOME, client=stranger)) for _ in range(12)) == 10


def test_the_cookie_of_one_account_is_no_key_to_another(alice: User, bob: User) -> None:
    client = known_device(bob)
    assert sum(was_judged(attempt(HOME, client=client)) for _ in range(12)) == 10
    assert not was_judged(attempt(HOME))


def test_a_browser_remembers_several_accounts(alice: User, bob: User) -> None:
    client = known_device(alice)
    client.post(SIGN_IN, {"login": "Bob", "password": PASSWORD})
    client.post("/account/sign-out/")
    for _ in range(30):
        attempt(HOME)
    assert attempt(HOME, PASSWORD, client).status_code == 302


def test_guests_and_half_signed_in_people_leave_no_device(alice: User) -> None:
    with_app(alice)
    half = halfway_in(HOME, Client())
    guest = Client()
    guest.post("/account/guest/")
    assert device_cookie(half) is None
    assert device_cookie(guest) is None
