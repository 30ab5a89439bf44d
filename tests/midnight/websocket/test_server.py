"""Sockets of a real server, over TCP and over a unix socket."""

import itertools
import time
from collections.abc import Iterator

import pytest

from midnight.websocket import connection, frames
from tests.midnight.running import eventually
from tests.midnight.websocket import client
from tests.midnight.websocket.client import frame
from tests.midnight.websocket.served import PATIENCE, Client, Site, request, serving

pytestmark = pytest.mark.slow
paths = (f"/{number}" for number in itertools.count())
# Each test that abuses comes from an address of its own, which is kept out from then on.
addresses = (f"127.7.{number // 250}.{number % 250 + 1}" for number in itertools.count())


@pytest.fixture(scope="module", params=["tcp", "unix"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    # Over the unix socket comes what a trusted proxy passes on.
    with serving(request.param, tmp_path_factory.mktemp(request.param), int(request.param == "unix")) as running:
        yield running


@pytest.fixture(autouse=True)
def everyone_leaves(site: Site) -> Iterator[None]:
    yield
    site.hang_up()


@pytest.fixture
def path() -> str:
    return next(paths)


@pytest.fixture
def address() -> str:
    return next(addresses)


# Right frames.


@pytest.mark.parametrize("length", [1, 125, 126, 65_535])
def test_texts_and_bytes_of_any_length_come_back(site: Site, length: int, address: str) -> None:
    page = site.open(host=address)
    page.send(client.text("x" * length), frame(frames.BINARY, b"y" * length))
    assert page.receive(2) == [(frames.TEXT, b"x" * length), (frames.BINARY, b"y" * length)]


def test_a_text_sent_byte_by_byte_comes_back(site: Site, address: str) -> None:
    page = site.open(host=address)
    for byte in client.text("née"):
        page.send(bytes((byte,)))
        time.sleep(0.001)
    assert page.texts(1) == ["née"]


def test_many_texts_in_one_packet_come_back_in_order(site: Site, address: str) -> None:
    page = site.open(host=address)
    said = [str(number) for number in range(200)]
    page.say(*said)
    assert page.texts(200) == said


def test_fragments_with_a_ping_between_are_one_text(site: Site, address: str) -> None:
    page = site.open(host=address)
    page.send(frame(frames.TEXT, b"a", final=False), frame(frames.PING, b"?"), frame(frames.CONTINUATION, b"b"))
    assert page.receive(2) == [(frames.PONG, b"?"), (frames.TEXT, b"ab")]


# Wrong frames.


@pytest.mark.parametrize("name", client.WRONG)
def test_a_wrong_frame_ends_the_socket(site: Site, name: str, address: str) -> None:
    stream, code = client.WRONG[name]
    page = site.open(host=address)
    page.send(stream)
    assert page.close_code() == code


# Ends.


def test_the_application_hears_the_code_of_a_page_that_closes(site: Site, path: str) -> None:
    page = site.open(path)
    page.send(client.close(3001))
    assert page.close_code() == 3001
    site.until_heard(path, 3001)


def test_the_application_hears_of_a_close_without_a_code(site: Site, path: str) -> None:
    page = site.open(path)
    page.send(client.close())
    page.rest()
    site.until_heard(path, frames.NO_CODE)


@pytest.mark.parametrize("last", ["", "last words"])
def test_the_application_hears_of_a_page_that_goes_without_a_word(site: Site, path: str, last: str) -> None:
    page = site.open(path)
    if last:
        page.say(last)
    page.line.close()
    site.until_heard(path, *([last] if last else []), frames.ABNORMAL)


def test_the_application_hears_of_a_line_that_breaks(site: Site, path: str) -> None:
    page = site.open(path)
    page.say("one")
    assert page.texts(1) == ["one"]
    page.reset()
    site.until_heard(path, "one", frames.ABNORMAL)


def test_a_page_hears_the_applications_code(site: Site, path: str) -> None:
    page = site.open(path)
    page.say("close")
    assert page.receive(1) == [(frames.CLOSE, b"\x0f\xa1")]
    page.send(client.close(4001))
    assert not page.rest()
    site.until_heard(path, "close", 4001)


def test_a_page_that_does_not_answer_a_close_is_cut(site: Site, path: str) -> None:
    page = site.open(path)
    page.say("close")
    assert page.rest() == [(frames.CLOSE, b"\x0f\xa1")]
    site.until_heard(path, "close", frames.ABNORMAL)


def test_a_fault_of_the_application_is_1011(site: Site) -> None:
    page = site.open()
    page.say("raise")
    assert page.close_code() == frames.SERVER_ERROR


def test_a_refused_socket_is_403(site: Site) -> None:
    assert site.shake_hands("/refuse").status == 403


# The way from Twisted.


def test_what_is_said_and_closed_at_once_arrives(site: Site) -> None:
    for _ in range(20):
        page = site.open("/close-at-once")
        assert page.texts(1) == ["bye"]
        assert page.close_code() == 4404


def test_a_fault_at_once_is_1011(site: Site) -> None:
    assert site.open("/raise-at-once").close_code() == frames.SERVER_ERROR


def test_pages_that_leave_at_any_moment_leave_nothing_behind(site: Site, address: str) -> None:
    for number in range(60):
        gone = Client(site.connect(address))
        gone.send(request("/moments/close" if number % 2 else "/moments", {}))
        time.sleep(number % 10 / 2_000)
        if number % 3 == 0:
            gone.line.recv(1)
        if number % 4 < 2:
            gone.reset()
        else:
            gone.line.close()
    eventually(lambda: site.figure("midnight_websocket_open") == 0, PATIENCE)
    # Whatever was opened ended, in the application too.
    eventually(lambda: len(heard := site.heard("/moments")) == 2 * heard.count("opened"), PATIENCE)
    page = site.open(host=next(addresses))
    page.say("still here")
    assert page.texts(1) == ["still here"]


def test_who_sends_before_the_answer_is_cut(site: Site) -> None:
    page = Client(site.connect())
    page.send(request("/", {}))
    page.send(b"x" * 2_000_000)
    page.rest()
    assert site.page()[0] == 200


def test_pages_are_served_on_the_same_port(site: Site) -> None:
    page = site.open()
    assert site.page() == (200, "a page")
    page.send(client.close(1000))
    page.rest()
    assert site.page() == (200, "a page")


# Bounds.


@pytest.mark.parametrize("name", client.FLOODS)
def test_a_flood_is_cut_and_its_address_kept_out(site: Site, name: str, address: str) -> None:
    forwarded = {"X_Forwarded_For": f"{next(addresses)}, {address}"} if isinstance(site.address, str) else {}
    page = site.open(host=address, **forwarded)
    page.send(client.FLOODS[name] * 10_000)
    page.rest()
    refused = site.shake_hands(host=address, **forwarded)
    assert refused.status == 429
    assert "Retry-After:" in refused.headers
    assert site.page(host=address)[0] == 200
    other = {"X_Forwarded_For": f"{address}, {next(addresses)}"} if forwarded else {}
    assert site.shake_hands(host=next(addresses), **other).status == 101


def test_empty_fragments_without_end_are_cut(site: Site, address: str) -> None:
    page = site.open(host=address)
    page.send(frame(frames.TEXT, final=False), frame(frames.CONTINUATION, final=False) * 10_000)
    page.rest()
    assert site.figure("midnight_websocket_cut_total") > 0


def test_a_page_that_sent_too_much_hears_why(site: Site, address: str) -> None:
    page = site.open(host=address)
    page.send(frame(frames.PONG) * 301)
    assert page.close_code() == connection.FLOOD


def test_an_address_in_the_header_counts_through_our_proxy_only(site: Site, address: str) -> None:
    behind_proxy = isinstance(site.address, str)
    page = site.open(host=address, X_Forwarded_For="2001:db8:1:2::3")
    page.send(frame(frames.PONG) * 1_000)
    page.rest()
    same_network = site.shake_hands(host=next(addresses), X_Forwarded_For="2001:db8:1:2::4")
    assert same_network.status == (429 if behind_proxy else 101)


def test_who_reconnects_without_end_is_told_to_wait(site: Site, address: str) -> None:
    forwarded = {"X_Forwarded_For": address} if isinstance(site.address, str) else {}
    for _ in range(2_000):
        page = site.shake_hands(host=address, **forwarded)
        page.line.close()
        if page.status == 429:
            return
    pytest.fail("It was always let in.")


def test_a_page_that_reads_nothing_is_cut(site: Site, path: str, address: str) -> None:
    page = site.open(path, address)
    page.say("big")
    site.until_heard(path, "big", frames.ABNORMAL)
