"""The cast, and workers that work at once."""

from collections.abc import Iterator

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.test import Client

from accounts.models import User
from midnight.celery import app

PASSWORD = "gratin dauphinois"
SECRET = "JBSWY3DPEHPK3PXP"


@pytest.fixture(autouse=True)
def _workers_at_once() -> Iterator[None]:
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("Alice", PASSWORD)


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("Bob", PASSWORD)


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create_superuser("Charlie", PASSWORD)


def signed_in(user: User, **headers: str) -> Client:
    """A browser in which somebody has signed in by name and password."""
    client = Client(headers=headers or None)
    answer = client.post("/account/sign-in/", {"login": user.name, "password": PASSWORD})
    assert answer.status_code == 302, answer.content.decode()
    return client


def with_mail(user: User, address: str = "alice@example.org") -> User:
    EmailAddress.objects.create(user=user, email=address, verified=True, primary=True)
    return user


def with_app(user: User) -> User:
    """With codes from an app, and recovery codes."""
    TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def code_now() -> str:
    return format_hotp_value(hotp_value(SECRET, next(iter(yield_hotp_counters_from_time()))))


def is_signed_in(client: Client) -> bool:
    return client.get("/account/data/").status_code == 200
