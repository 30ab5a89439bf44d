"""The cast, and workers that work at once."""

from collections.abc import Iterator

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.test import Client

from accounts.models import User
from midnight.celery import app

# For tests of what happens after a commit: letters and signals.
committing = pytest.mark.django_db(transaction=True)

PASSWORD = "gratin dauphinois"
SECRET = "JBSWY3DPEHPK3PXP"
# Longer than a mail address can be; and one that is so in small letters only.
LONG_ADDRESS = f"irma@{'.'.join(['a' * 60] * 5)}.example"
GROWING_ADDRESS = f"irma@{'.'.join(['İ' * 60] * 4)}.org"


@pytest.fixture(autouse=True)
def _workers_at_once() -> Iterator[None]:
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture(autouse=True)
def _an_apps_clock_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no code runs out between reading and typing it."""
    counter = next(totp.yield_hotp_counters_from_time())
    monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter([counter]))


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("Alice", PASSWORD)


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("Bob", PASSWORD)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("Charlie", PASSWORD)


def signed_in(user: User, *, code: str = "", **headers: str) -> Client:
    """A browser in which somebody has signed in by name and password, and by their app where they have one."""
    client = Client(headers=headers or None)
    answer = client.post("/account/sign-in/", {"login": user.name, "password": PASSWORD})
    if code:
        answer = client.post("/account/sign-in/code/", {"code": code_now() if code == "now" else code})
    assert answer.status_code == 302, answer.content.decode()
    return client


def with_mail(user: User, address: str = "alice@example.org") -> User:
    EmailAddress.objects.create(user=user, email=address, verified=True, primary=True)
    return user


def with_app(user: User) -> User:
    """With codes from an app, and recovery codes."""
    totp.TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def totp_code(secret: str) -> str:
    """What an app with that secret shows now."""
    return totp.format_hotp_value(totp.hotp_value(secret, next(totp.yield_hotp_counters_from_time())))


def code_now() -> str:
    return totp_code(SECRET)


def is_signed_in(client: Client) -> bool:
    return client.get("/account/data/").status_code == 200
