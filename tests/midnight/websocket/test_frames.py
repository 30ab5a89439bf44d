"""The parser of WebSocket frames, by itself and beside another one."""

import itertools
import random
from collections.abc import Callable

import pytest
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from midnight.websocket import frames
from midnight.websocket.frames import Parser, ViolationError
from tests.midnight.websocket import client
from tests.midnight.websocket.fake import Pair

MOST = 65_536


def parse(stream: bytes, step: int = 0, charges: list[int] | None = None) -> list[frames.Frame]:
    """Every frame of a stream that is read in steps of so many bytes, or at once."""
    parser = Parser(MOST, (lambda _: None) if charges is None else charges.append)
    found = []
    for at in range(0, len(stream), step or len(stream)):
        parser.feed(stream[at : at + (step or len(stream))])
        while (frame := parser.next()) is not None:
            found.append(frame)
    return found


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 4_096, 65_535, 65_536])
def test_a_frame_of_any_length_is_read(length: int) -> None:
    payload = random.Random(length).randbytes(length)
    assert parse(client.frame(frames.BINARY, payload)) == [(True, frames.BINARY, payload)]


def test_what_is_read_does_not_depend_on_where_it_is_cut() -> None:
    stream = b"".join(
        [
            client.text("one"),
            client.frame(frames.TEXT, b"tw", final=False),
            client.frame(frames.PING, b"still there?"),
            client.frame(frames.CONTINUATION, b"o"),
            client.frame(frames.BINARY, bytes(200)),
        ]
    )
    assert parse(stream, step=1) == parse(stream, step=7) == parse(stream)


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
def test_a_written_frame_says_its_length(length: int) -> None:
    written = frames.encode(frames.TEXT, b"x" * length)
    assert written.endswith(b"x" * length)
    assert len(written) == length + (2 if length < 126 else 4 if length < 65_536 else 10)


def test_each_frame_is_charged_once_before_its_payload_is_there() -> None:
    charges: list[int] = []
    stream = client.frame(frames.TEXT, b"x" * 300)
    assert not parse(stream[:-1], step=1, charges=charges)
    assert charges == [300]


def test_nothing_of_a_frame_is_taken_that_is_not_paid() -> None:
    def refuse(_: int) -> None:
        raise KeyError

    parser = Parser(MOST, refuse)
    parser.feed(client.text("hello") * 1_000)
    with pytest.raises(KeyError):
        parser.next()


@pytest.mark.parametrize("name", [name for name, (_, code) in client.WRONG.items() if code == frames.TOO_BIG])
def test_a_message_too_long_is_refused_at_its_head(name: str) -> None:
    with pytest.raises(ViolationError) as refused:
        parse(client.WRONG[name][0])
    assert refused.value.code == frames.TOO_BIG


def test_a_reason_is_cut_between_two_letters() -> None:
    written = frames.encode_close(4001, "é" * 100)
    assert len(written) <= 127
    assert written[4:].decode() == "é" * 61


# Beside the parser of `websockets`.


def random_stream(dice: random.Random) -> bytes:
    """Some frames, most of them right."""
    parts, inside = [], False
    for _ in range(dice.randint(1, 12)):
        kind = dice.random()
        payload = dice.choice([b"", b"x", "né ☃ 🂡".encode(), dice.randbytes(dice.randint(0, 300)), b"y" * 30_000])
        if kind < 0.25:
            parts.append(client.frame(dice.choice([frames.PING, frames.PONG]), payload[:125]))
        elif kind < 0.3:
            parts.append(client.close(dice.choice([1000, 1001, 3001, 4999, 1005, 42, 2999]), payload[:20]))
        elif kind < 0.33:
            parts.append(client.frame(frames.CLOSE, payload[: dice.randint(0, 2)]))
        elif kind < 0.4:
            parts.append(bytes((dice.randrange(256), dice.randrange(126))) + dice.randbytes(dice.randint(0, 20)))
        else:
            final = dice.random() < 0.6
            wrong = dice.random() < 0.04
            opcode = frames.CONTINUATION if inside is not wrong else dice.choice([frames.TEXT, frames.BINARY])
            parts.append(client.frame(opcode, payload, final=final))
            inside = not final
    stream = b"".join(parts)
    return stream[: dice.randint(0, len(stream))] if dice.random() < 0.2 else stream


def cut(stream: bytes, dice: random.Random) -> list[bytes]:
    marks = sorted({0, len(stream), *(dice.randint(0, len(stream)) for _ in range(dice.randint(0, 6)))})
    return [stream[a:b] for a, b in itertools.pairwise(marks)]


def as_websockets_hear(pieces: list[bytes]) -> tuple[list[str | bytes], list[bytes], bool, int | None]:
    """The messages, the pongs, whether it failed, and the peer's close code."""
    protocol = ServerProtocol(state=State.OPEN, max_size=MOST)
    messages: list[str | bytes] = []
    pongs: list[bytes] = []
    fragments, kind = b"", Opcode.TEXT
    for piece in pieces:
        protocol.receive_data(piece)
    for frame in protocol.events_received():
        if frame.opcode is Opcode.PING:
            pongs.append(bytes(frame.data))
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            kind, fragments = frame.opcode, b""
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            fragments += frame.data
            if frame.fin:
                try:
                    messages.append(fragments.decode() if kind is Opcode.TEXT else fragments)
                except UnicodeDecodeError:
                    return messages, pongs, True, None
    received = protocol.close_rcvd
    # It takes a close amid a message for a fault, which RFC 6455 does not.
    return messages, pongs, received is None and protocol.parser_exc is not None, received and received.code


def as_ours_hears(pieces: list[bytes]) -> tuple[list[str | bytes], list[bytes], bool, int | None]:
    pair = Pair().open()
    for piece in pieces:
        pair.send(piece)
    pongs = [payload for opcode, payload in pair.frames if opcode == frames.PONG]
    failed = pair.transport.ended
    return pair.listener.messages, pongs, failed, pair.close_codes[0] if pair.close_codes and not failed else None


async def test_ours_hears_what_another_parser_hears(so_often: Callable[[int, int], int]) -> None:
    failed = closed = 0
    for seed in range(so_often(200, 2_000)):
        dice = random.Random(seed)
        pieces = cut(random_stream(dice), dice)
        ours = as_ours_hears(pieces)
        # It judges a frame when it has all of it.
        theirs = as_websockets_hear([*pieces, bytes(MOST)] if ours[2] else pieces)
        assert ours == theirs, f"seed {seed}"
        failed += ours[2]
        closed += ours[3] is not None
    # The streams were not all of one kind.
    assert failed
    assert closed
