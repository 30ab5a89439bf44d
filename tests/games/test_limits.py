"""How often an address may come to a door, and that the limit holds while Valkey does not answer."""

import time

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from pytest_django import Settings

from games import limits

MOST = 3


@pytest.fixture(autouse=True)
def the_same_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "own_counts", limits.OwnCounts())
    now = time.time()
    monkeypatch.setattr(limits.time, "time", lambda: now)


@pytest.fixture
def without_valkey(settings: Settings) -> None:
    cache = settings.CACHES["default"]
    settings.CACHES = {"default": {**cache, "LOCATION": "unix:///nowhere/valkey.sock"}}


def come(address: str = "192.0.2.1") -> int | None:
    request: HttpRequest = RequestFactory().get("/", REMOTE_ADDR=address)
    return limits.take("door", request, MOST)


def test_an_address_comes_so_often_and_no_more() -> None:
    assert [come() for _ in range(MOST + 1)] == [2, 1, 0, None]
    assert come("192.0.2.2") == 2


def test_the_limit_holds_without_valkey(without_valkey: None) -> None:
    assert [come() for _ in range(MOST + 1)] == [2, 1, 0, None]
    assert come("192.0.2.2") == 2


def test_the_next_minute_counts_anew(without_valkey: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [come() for _ in range(MOST + 1)][-1] is None
    later = time.time() + limits.SECONDS
    monkeypatch.setattr(limits.time, "time", lambda: later)
    assert come() == 2


def test_many_addresses_fill_no_memory(without_valkey: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEYS", 2)
    assert [come(f"192.0.2.{number}") for number in range(2)] == [2, 2]
    # All others share one count.
    assert [come(f"192.0.2.{number}") for number in range(10, 14)] == [2, 1, 0, None]
