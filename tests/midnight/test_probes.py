"""`/livez` and `/readyz`: what a load balancer asks each web process, by address."""

import asyncio
import http.client
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings

from games import readiness
from games.storing import Storing
from midnight.asgi import application
from midnight.edge import probes
from tests.browser.site import HANGS_SECONDS, Site, running_site
from tests.midnight.running import eventually
from tests.settings import FOLDER, VALKEY
from tests.table.conftest import NewTables, new_tables

__all__ = ["new_tables"]

# A documentation's address would be no stranger's: Python counts it as private.
STRANGER = "8.8.8.8"


async def ask_inside(
    path: str, address: str = "127.0.0.1", *headers: tuple[bytes, bytes]
) -> tuple[int, dict[str, Any]]:
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"10.0.0.5:8001"), *headers],
        "client": (address, 40_000),
    }
    asked = ApplicationCommunicator(application, scope)
    await asked.send_input({"type": "http.request", "body": b""})
    status = (await asked.receive_output(30))["status"]
    body = (await asked.receive_output(30))["body"]
    await asked.wait()
    return status, json.loads(body) if body.startswith(b"{") else {}


async def test_that_it_lives_is_said_without_a_thread_or_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a thread")

    # The test's database is out of reach: it has no mark for it.
    monkeypatch.setattr(asyncio.get_running_loop(), "run_in_executor", refuse)
    assert await ask_inside("/livez") == (200, {"live": True})
    assert await ask_inside("/livez", "10.1.2.3") == (200, {"live": True})
    assert await ask_inside("/livez", "fd00::7") == (200, {"live": True})


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/livez", "/readyz"])
async def test_a_stranger_finds_no_such_page(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["*"])
    assert (await ask_inside(path, STRANGER))[0] == 404
    monkeypatch.setattr(settings, "TRUSTED_PROXIES", 1)
    assert (await ask_inside(path, "127.0.0.1", (b"x-forwarded-for", STRANGER.encode())))[0] == 404


def test_only_a_unix_socket_has_no_address_and_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TRUSTED_PROXIES", 1)
    assert probes.is_near("", "")
    assert not probes.is_near("127.0.0.1", "what is this")
    assert not probes.is_near("", STRANGER)
    assert probes.is_near("", "10.0.0.1")


async def test_a_process_is_ready_while_it_can_store_and_does_not_stop(new_tables: NewTables) -> None:
    tables = await new_tables()
    assert readiness.why_no_moves(tables) == ""
    tables.storing._row_written -= 1 + readiness.ROW_SECONDS
    assert readiness.why_no_moves(tables) == "no writes"
    tables.storing.row_written()
    tables.stopping = True
    assert readiness.why_no_moves(tables) == "stopping"
    # It is still to be stopped: its heartbeat would outlive this test.
    tables.stopping = False


def test_appends_that_fail_for_a_while_count_and_a_restart_does_not() -> None:
    moment = 100.0
    storing = Storing(lambda: moment)
    storing.not_appended()
    moment += 0.5
    storing.not_appended()
    assert not storing.cannot_append()
    moment += 0.5
    storing.not_appended()
    assert storing.cannot_append()
    storing.appended()
    assert not storing.cannot_append()
    for moment in (200.0, 202.0):  # noqa: B007 - the clock that is asked
        storing.not_appended()
    assert storing.cannot_append()
    moment += 7
    assert not storing.cannot_append(), "there may be nothing to store"


Answer = tuple[int, dict[str, Any]]


@pytest.fixture(scope="module")
def site(django_db_setup: None, valkey_server: object) -> Iterator[Site]:
    """A web process that is as full as can be, without a worker."""
    database = f"sqlite:///{settings.DATABASES['default']['NAME']}"
    site = Site(FOLDER, database, f"unix://{VALKEY}")
    site.environment |= {"PROCESS_MEMORY_MB": "1", "TRUSTED_PROXIES": "1"}
    site.answers = lambda: ask(site, "/livez")[0] == 200  # type: ignore[method-assign]
    try:
        site.start()
        yield site
    finally:
        site.stop()
        site.socket.close()


def ask(site: Site, path: str, host: str = "10.0.0.5:8001", **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=HANGS_SECONDS)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers={"Host": host, **named})
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, json.loads(body) if body.startswith(b"{") else {}
    except ConnectionError:
        return 0, {}
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_readiness_follows_the_database_and_life_does_not(site: Site, in_time: Callable[[float], float]) -> None:
    eventually(lambda: ask(site, "/readyz") == (200, {"ready": True}))
    assert ask(site, "/livez") == (200, {"live": True}), "full, and alive all the same"
    assert ask(site, "/")[0] == 503
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        eventually(lambda: ask(site, "/readyz") == (503, {"ready": False, "why": "no writes"}), in_time(5))
        assert ask(site, "/livez") == (200, {"live": True})
        other.execute("ROLLBACK")
    eventually(lambda: ask(site, "/readyz")[0] == 200, in_time(3))
    for path in ("/livez", "/readyz"):
        assert ask(site, path, X_Forwarded_For=STRANGER)[0] == 503, "one of many that it has no room for"


@pytest.fixture(scope="module")
def roomy(django_db_setup: None, valkey_server: object) -> Iterator[Site]:
    with running_site(FOLDER, f"sqlite:///{settings.DATABASES['default']['NAME']}", f"unix://{VALKEY}") as site:
        yield site


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_without_a_worker_the_site_is_ill_and_each_process_ready(roomy: Site) -> None:
    eventually(lambda: ask(roomy, "/readyz")[0] == 200)
    status, found = ask(roomy, "/healthz")
    assert (status, found["worker"], found["moves"]) == (503, "no heartbeat yet", "ok")
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        eventually(lambda: ask(roomy, "/healthz")[1]["moves"] == "none can be stored: no writes")
        other.execute("ROLLBACK")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "host", "statuses"),
    [
        ("/healthz", "10.0.0.5:8001", (200, 503)),
        ("/healthz", "balancer.example", (200, 503)),
        ("/metrics", "10.0.0.5:8001", (200,)),
        ("/metrics", "[fd00::5]:8001", (200,)),
        # A page that a browser on this machine has open may have a name of its own point here.
        ("/metrics", "evil.example", (400,)),
        ("/", "10.0.0.5:8001", (400,)),
    ],
)
def test_machines_next_door_may_call_by_address(roomy: Site, path: str, host: str, statuses: Sequence[int]) -> None:
    assert ask(roomy, path, host)[0] in statuses


def test_compose_ends_containers_that_do_not_live() -> None:
    compose = (Path(__file__).resolve().parents[2] / "midnight/deploy/compose.yaml").read_text()
    assert compose.count("/livez") == 2
