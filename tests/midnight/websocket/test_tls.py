"""Sockets under TLS that Daphne ends itself: they stay with Twisted, within the same limits."""

from collections.abc import Iterator

import pytest

from midnight.websocket import frames
from tests.midnight.running import eventually
from tests.midnight.websocket import client
from tests.midnight.websocket.client import frame
from tests.midnight.websocket.served import PATIENCE, Site, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving("tls", tmp_path_factory.mktemp("tls")) as running:
        yield running


@pytest.fixture(autouse=True)
def everyone_leaves(site: Site) -> Iterator[None]:
    yield
    site.hang_up()


def test_texts_and_bytes_come_back(site: Site) -> None:
    page = site.open()
    page.send(client.text("née"), frame(frames.BINARY, b"y" * 60_000), frame(frames.PING, b"?"))
    came = [(frames.TEXT, "née".encode()), (frames.BINARY, b"y" * 60_000), (frames.PONG, b"?")]
    assert sorted(page.receive(3)) == sorted(came)
    assert site.page()[0] == 200


def test_the_application_closes_and_hears_of_the_end(site: Site) -> None:
    page = site.open("/tls")
    page.say("close")
    assert page.close_code() == 4001
    site.until_heard("/tls", "close", 4001)


@pytest.mark.parametrize(("number", "name"), list(enumerate(client.FLOODS)))
def test_a_flood_is_cut_and_its_address_kept_out(site: Site, number: int, name: str) -> None:
    address = f"127.8.0.{number + 1}"
    page = site.open(host=address)
    page.send(client.FLOODS[name] * 2_000)
    page.rest()
    assert site.shake_hands(host=address).status == 429
    eventually(lambda: site.figure("midnight_websocket_open") == 0, PATIENCE)
