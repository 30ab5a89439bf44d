"""An open WebSocket between a listener and a transport that are none."""

import asyncio
import gc
import weakref

import pytest

from games.frames import CloseCode
from midnight.websocket import connection, frames
from midnight.websocket.budget import Households, Limits, Rate
from midnight.websocket.connection import Bounds
from tests.midnight.websocket import client
from tests.midnight.websocket.fake import Pair

FEW = Limits(line=Rate(1, 20), household=Rate(1, 1_000))
SOON = Bounds(close_seconds=0.01, cut_seconds=0.01)


async def until_ended(pair: Pair) -> list[int]:
    async with asyncio.timeout(30):
        await pair.listener.over.wait()
    return pair.listener.codes


# Right frames.


async def test_texts_and_bytes_are_heard_in_order() -> None:
    pair = Pair().open()
    pair.send(client.text("one") + client.frame(frames.BINARY, b"two") + client.text("née"))
    assert pair.listener.messages == ["one", b"two", "née"]


async def test_fragments_are_one_message_with_a_ping_between() -> None:
    pair = Pair().open()
    pair.send(client.frame(frames.TEXT, "né".encode()[:2], final=False))
    pair.send(client.frame(frames.PING, b"there?"))
    pair.send(client.frame(frames.CONTINUATION, "né".encode()[2:], final=False))
    pair.send(client.frame(frames.CONTINUATION, b"e"))
    assert pair.listener.messages == ["née"]
    assert pair.frames == [(frames.PONG, b"there?")]


async def test_what_is_said_before_there_is_a_transport_is_sent_with_it() -> None:
    pair = Pair()
    pair.connection.send("one")
    pair.connection.send(b"two")
    pair.open()
    assert pair.frames == [(frames.TEXT, b"one"), (frames.BINARY, b"two")]


# Wrong frames.


@pytest.mark.parametrize("name", client.WRONG)
async def test_a_wrong_frame_is_answered_with_its_code(name: str) -> None:
    stream, code = client.WRONG[name]
    pair = Pair(SOON).open()
    pair.send(stream)
    pair.send(client.text("more"))
    assert pair.close_codes == [code]
    assert pair.transport.paused
    assert pair.transport.ended
    assert not pair.listener.messages
    assert await until_ended(pair) == [frames.ABNORMAL]


# Ends.


@pytest.mark.parametrize("code", [3001, frames.NO_CODE])
async def test_a_page_that_closes_is_answered_with_its_code(code: int) -> None:
    pair = Pair().open()
    pair.send(client.close(None if code == frames.NO_CODE else code) + client.text("more"))
    assert pair.close_codes == [code]
    assert await until_ended(pair) == [code]
    assert not pair.listener.messages
    assert not pair.transport.aborted


async def test_the_applications_code_is_sent_and_answered() -> None:
    pair = Pair().open()
    pair.connection.close(4001, "go")
    pair.connection.send("too late")
    pair.send(client.text("crossed it") + client.frame(frames.PING, b"me too") + client.close(4001))
    assert pair.frames == [(frames.CLOSE, b"\x0f\xa1go")]
    assert await until_ended(pair) == [4001]
    assert not pair.listener.messages


async def test_a_page_that_does_not_answer_a_close_is_cut() -> None:
    pair = Pair(SOON).open()
    pair.connection.close(4001)
    assert await until_ended(pair) == [frames.ABNORMAL]
    assert pair.transport.aborted


async def test_a_broken_line_ends_once() -> None:
    pair = Pair().open()
    pair.send(client.text("last")[:-1])
    pair.connection.connection_lost(ConnectionResetError())
    pair.connection.close(4001)
    pair.connection.abort()
    assert pair.listener.codes == [frames.ABNORMAL]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["close", "abort", "flood"])
async def test_an_end_before_or_after_the_transport_comes_is_kept(how: str, when: str) -> None:
    pair = Pair(SOON, limits=FEW)
    if when == "after":
        pair.open()
    if how == "close":
        pair.connection.close(4001)
    elif how == "abort":
        pair.connection.abort()
    else:
        pair.connection._flood()
    if when == "before":
        pair.open()
    assert pair.close_codes == {"close": [4001], "abort": [], "flood": [connection.FLOOD]}[how]
    assert await until_ended(pair) == [frames.ABNORMAL]
    await asyncio.sleep(0)
    assert pair.transport.closed


async def test_nothing_of_an_ended_connection_waits_for_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        pair = Pair().open()
        pair.send(client.text("hello") + client.close())
        await until_ended(pair)
        seen = weakref.ref(pair.listener)
        connection_id = id(pair.connection)
        pair.transport.connection = None  # type: ignore[assignment]  # as transports do
        del pair
        await asyncio.sleep(0)
        assert seen() is None
        # By type: to ask a lazy object for its class evaluates it.
        assert not any(id(one) == connection_id for one in gc.get_objects() if type(one) is connection.Connection)
    finally:
        gc.enable()


# Bounds.


def test_the_code_for_too_much_is_the_tables() -> None:
    assert connection.FLOOD == CloseCode.FLOOD


@pytest.mark.parametrize("name", client.FLOODS)
async def test_any_flood_is_cut_at_the_first_frame_too_many(name: str) -> None:
    pair = Pair(SOON, limits=FEW).open()
    pair.send(client.FLOODS[name] * 10_000)
    assert pair.close_codes == [connection.FLOOD]
    assert len(pair.listener.messages) + len(pair.frames) <= 21
    assert pair.transport.paused
    assert await until_ended(pair) == [frames.ABNORMAL]


async def test_empty_fragments_without_end_are_cut() -> None:
    pair = Pair(SOON, limits=FEW).open()
    pair.send(client.frame(frames.TEXT, final=False) + client.frame(frames.CONTINUATION, final=False) * 10_000)
    assert pair.close_codes == [connection.FLOOD]


async def test_a_frame_sent_byte_by_byte_costs_its_reads() -> None:
    pair = Pair(SOON, limits=FEW).open()
    for byte in client.frame(frames.BINARY, b"x" * 1_000):
        pair.send(bytes((byte,)))
    assert pair.close_codes == [connection.FLOOD]


async def test_large_messages_cost_more_than_small_ones() -> None:
    pair = Pair(SOON, limits=FEW).open()
    pair.send(client.frame(frames.BINARY, b"x" * 30_000))
    assert pair.close_codes == [connection.FLOOD]
    assert not pair.listener.messages


async def test_one_message_too_long_is_no_flood() -> None:
    households = Households(FEW)
    pair = Pair(SOON, households=households, household="198.51.100.7").open()
    pair.send(client.head(frames.TEXT, 10**9))
    assert pair.close_codes == [frames.TOO_BIG]
    assert not households.kept_out()


async def test_a_page_that_reads_nothing_is_cut_when_too_much_waits() -> None:
    pair = Pair(Bounds(unread_bytes=10_000), is_read=False).open()
    for _ in range(100):
        pair.connection.send("x" * 1_000)
    assert len(pair.transport.written) < 12_000
    assert await until_ended(pair) == [frames.ABNORMAL]
    assert pair.transport.aborted


async def test_a_page_that_pings_and_reads_nothing_is_cut() -> None:
    pair = Pair(Bounds(unread_bytes=10_000), is_read=False).open()
    for _ in range(200):
        pair.send(client.frame(frames.PING, b"x" * 125))
    assert await until_ended(pair) == [frames.ABNORMAL]
    assert len(pair.transport.written) < 11_000


async def test_a_message_that_takes_too_long_ends_the_connection() -> None:
    pair = Pair(Bounds(message_seconds=0, cut_seconds=0.01)).open()
    pair.send(client.frame(frames.TEXT, b"never", final=False))
    await asyncio.sleep(0.01)
    pair.send(client.frame(frames.PING))
    pair.connection.look()
    assert pair.close_codes == [frames.POLICY]


async def test_whole_messages_take_as_long_as_they_like() -> None:
    pair = Pair(Bounds(message_seconds=0)).open()
    both = client.text("one") + client.text("two")
    pair.send(both[:-3])
    pair.send(both[-3:])
    await asyncio.sleep(0.01)
    pair.connection.look()
    assert not pair.frames


async def test_a_page_is_pinged_and_lives_on_when_it_answers() -> None:
    pair = Pair(Bounds(ping_seconds=0, pong_seconds=0)).open()
    for turn in range(3):
        await asyncio.sleep(0.001)
        pair.connection.look()
        opcode, payload = pair.frames[-1]
        assert (len(pair.frames), opcode) == (turn + 1, frames.PING)
        pair.send(client.frame(frames.PONG, payload))
    assert not pair.listener.codes


@pytest.mark.parametrize("said", [[], [frames.PONG], [frames.TEXT, frames.PING]])
async def test_a_page_that_answers_no_ping_is_cut(said: list[int]) -> None:
    pair = Pair(Bounds(ping_seconds=0, pong_seconds=0)).open()
    await asyncio.sleep(0.001)
    pair.connection.look()
    pair.send(b"".join(client.frame(opcode, b"guess") for opcode in said))
    await asyncio.sleep(0.001)
    pair.connection.look()
    assert await until_ended(pair) == [frames.ABNORMAL]


async def test_a_connection_whose_transport_never_comes_ends() -> None:
    pair = Pair(Bounds(pong_seconds=0))
    await asyncio.sleep(0.001)
    pair.connection.look()
    assert pair.listener.codes == [frames.ABNORMAL]


async def test_a_household_that_sends_too_much_loses_its_busiest_socket() -> None:
    limits = Limits(line=Rate(0, 100), household=Rate(0, 120), per_read=0)
    households = Households(limits)
    quiet, busy = (Pair(SOON, households=households, household="198.51.100.7").open() for _ in range(2))
    busy.send(client.frame(frames.PONG) * 90)
    quiet.send(client.frame(frames.PONG) * 40)
    assert busy.close_codes == [connection.FLOOD]
    assert not quiet.close_codes
    assert await until_ended(busy)
