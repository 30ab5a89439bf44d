"""`/metrics`: what happens in this process, for who may know it."""

import time

import pytest
import redis
from django.test import Client
from pytest_django import Settings

from midnight import health

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    """A client on this machine that calls it by its own name."""
    return Client(SERVER_NAME="localhost")


def figure(client: Client, name: str) -> float:
    lines = client.get("/metrics").content.decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.rpartition(" ")[0] == name), 0)


def test_requests_are_counted_by_view_and_status(client: Client) -> None:
    home = 'midnight_requests_total{method="GET",status="200",view="games:home"}'
    lost = 'midnight_requests_total{method="GET",status="404",view="none"}'
    before = figure(client, home), figure(client, lost)
    client.get("/")
    client.get("/nowhere/")
    client.get("/nowhere/else/")
    assert (figure(client, home), figure(client, lost)) == (before[0] + 1, before[1] + 2)


def test_the_time_they_take_is_measured(client: Client) -> None:
    name = 'midnight_request_seconds_count{view="games:home"}'
    before = figure(client, name)
    client.get("/")
    assert figure(client, name) == before + 1


def test_a_strange_method_makes_no_figure_of_its_own(client: Client) -> None:
    client.generic("BREW", "/")
    assert 'method="BREW"' not in client.get("/metrics").content.decode()


def test_the_process_and_the_workers_heartbeat_are_there(client: Client, valkey: redis.Redis) -> None:
    assert figure(client, "process_resident_memory_bytes") > 0
    assert figure(client, "midnight_worker_heartbeat_age_seconds") == -1
    valkey.set(health.HEARTBEAT, time.time() - 7)
    assert 7 <= figure(client, "midnight_worker_heartbeat_age_seconds") < 60


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("10.0.0.7", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),
        ("127.0.0.1", {"X-Real-IP": "127.0.0.1"}, 404),
        ("127.0.0.1", {"X-Forwarded-Proto": "https"}, 404),
        ("127.0.0.1", {"Via": "1.1 proxy"}, 404),
        ("127.0.0.1", {"Host": "testserver"}, 404),
        ("", {}, 404),
    ],
)
def test_without_a_token_only_this_machine_reads_them(address: str, headers: dict[str, str], status: int) -> None:
    client = Client(REMOTE_ADDR=address, SERVER_NAME="localhost")
    assert client.get("/metrics", headers=headers).status_code == status


def test_behind_a_proxy_they_need_a_token(settings: Settings, client: Client) -> None:
    """The proxy asks from this machine, and may add no header at all."""
    settings.TRUSTED_PROXIES = 1
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "k" * 20
    assert client.get("/metrics", headers={"Authorization": "Bearer " + "k" * 20}).status_code == 200


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("Bearer " + "k" * 20, 200), ("Bearer wrong", 404), ("", 404), ("Bearer é", 404), ("k" * 20, 404)],
)
def test_with_a_token_only_who_knows_it(settings: Settings, client: Client, authorization: str, status: int) -> None:
    settings.METRICS_TOKEN = "k" * 20
    assert client.get("/metrics", headers={"Authorization": authorization}).status_code == status
