"""A client's frames, right and wrong ones."""

import os

from midnight.websocket import frames


def frame(opcode: int, payload: bytes = b"", *, final: bool = True, mask: bytes | None = None) -> bytes:
    """A frame as a client sends it."""
    return head(opcode, len(payload), final=final) + masked(payload, os.urandom(4) if mask is None else mask)


def head(opcode: int, length: int, *, final: bool = True) -> bytes:
    """The frame's beginning, up to its mask."""
    first = (0x80 if final else 0) | opcode
    if length < 126:
        return bytes((first, 0x80 | length))
    size, mark = (2, 126) if length < 65_536 else (8, 127)
    return bytes((first, 0x80 | mark)) + length.to_bytes(size, "big")


def masked(payload: bytes, mask: bytes) -> bytes:
    return mask + frames.unmask(mask, payload)


def text(said: str) -> bytes:
    return frame(frames.TEXT, said.encode())


def close(code: int | None = None, reason: bytes = b"") -> bytes:
    return frame(frames.CLOSE, b"" if code is None else code.to_bytes(2, "big") + reason)


# What no client may send, with the code that it is closed with.
WRONG: dict[str, tuple[bytes, int]] = {
    "a reserved bit": (b"\xc1\x80" + masked(b"", b"mask"), 1002),
    "no mask": (b"\x81\x02hi", 1002),
    "an unknown message opcode": (frame(3, b"x"), 1002),
    "an unknown control opcode": (frame(11, b"x"), 1002),
    "a control frame in fragments": (frame(frames.PING, b"x", final=False), 1002),
    "a long control frame": (head(frames.PING, 126) + masked(b"x" * 126, b"mask"), 1002),
    "a fragment of nothing": (frame(frames.CONTINUATION, b"x"), 1002),
    "a message in a message": (frame(frames.TEXT, b"x", final=False) + text("y"), 1002),
    "a length of two bytes too many": (b"\x81\xfe\x00\x05" + masked(b"hello", b"mask"), 1002),
    "a length of six bytes too many": (b"\x81\xff" + (200).to_bytes(8, "big") + masked(b"x" * 200, b"mask"), 1002),
    "a negative length": (b"\x81\xff" + b"\xff" * 8 + b"mask", 1002),
    "a text that is not UTF-8": (frame(frames.TEXT, b"\xff"), 1007),
    "a text cut in a letter": (frame(frames.TEXT, "é".encode()[:1]), 1007),
    "a surrogate": (frame(frames.TEXT, b"\xed\xa0\x80"), 1007),
    "a message too long": (head(frames.TEXT, 65_537), 1009),
    "fragments too long": (
        frame(frames.BINARY, b"x" * 40_000, final=False) + head(frames.CONTINUATION, 40_000),
        1009,
    ),
    "half a close code": (frame(frames.CLOSE, b"\x03"), 1002),
    "a close code that is none": (close(1004), 1002),
    "a close code for no frame": (close(1005), 1002),
    "a close code too small": (close(999), 1002),
    "a close code too large": (close(5000), 1002),
    "a reason that is not UTF-8": (close(1000, b"\xff"), 1007),
}

# What is repeated without end.
FLOODS: dict[str, bytes] = {
    "pings": frame(frames.PING, b"x"),
    "pongs": frame(frames.PONG),
    "empty texts": text(""),
    "long texts": frame(frames.TEXT, b"x" * 4_000),
}
