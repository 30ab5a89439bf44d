"""Frames of RFC 6455, as a server reads and writes them: incremental, without I/O and without a clock."""

from collections.abc import Callable

CONTINUATION, TEXT, BINARY = 0, 1, 2
CLOSE, PING, PONG = 8, 9, 10

NORMAL, GOING_AWAY, PROTOCOL_ERROR = 1000, 1001, 1002
NO_CODE, ABNORMAL = 1005, 1006
BAD_PAYLOAD, POLICY, TOO_BIG, SERVER_ERROR = 1007, 1008, 1009, 1011
# What a close frame may carry, besides 3000 to 4999 (RFC 6455, 7.4, and IANA's registry).
_CODES = frozenset({1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014})
_OPCODES = frozenset({CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG})

LONGEST_CONTROL = 125
_FINAL, _RESERVED, _OPCODE = 0x80, 0x70, 0x0F
_MASKED, _LENGTH = 0x80, 0x7F

# Whether it ends its message, its opcode, and its payload without the mask.
Frame = tuple[bool, int, bytes]


class ViolationError(Exception):
    """The peer broke the protocol; `code` is what to close with."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Parser:
    """Takes a client's stream apart, one frame for each call of `next`.

    `charge(length)` is called once for each frame, as soon as its length is known and before its payload is waited
    for or touched. What it raises comes out of `next`. The parser is of no use after an exception.
    """

    __slots__ = ("_at", "_charge", "_charged", "_data", "_inside", "_message_bytes", "_most_bytes")

    def __init__(self, most_bytes: int, charge: Callable[[int], None]) -> None:
        self._most_bytes, self._charge = most_bytes, charge
        self._data = b""
        self._at = 0
        self._charged = False
        # Of a message in fragments.
        self._inside = False
        self._message_bytes = 0

    def feed(self, data: bytes) -> None:
        """Add what was read."""
        self._data = self._data[self._at :] + data if self._at < len(self._data) else data
        self._at = 0

    @property
    def is_between_messages(self) -> bool:
        """Whether the stream may end here without cutting a message or a frame in two."""
        return not self._inside and self._at >= len(self._data)

    def next(self) -> Frame | None:
        """The next whole frame, or None when more must be read first; ViolationError for a wrong one."""
        data, at = self._data, self._at
        there = len(data) - at
        if there < 2:
            return None
        first, second = data[at], data[at + 1]
        opcode, length, head = first & _OPCODE, second & _LENGTH, 6
        self._check(first, second, opcode)
        if length > LONGEST_CONTROL:
            size = 2 if length == 126 else 8
            head += size
            if there < 2 + size:
                return None
            length = int.from_bytes(data[at + 2 : at + 2 + size], "big")
            if length < (126 if size == 2 else 65_536) or length >> 63:
                raise ViolationError(PROTOCOL_ERROR, "a length in the wrong form")
        if not self._charged:
            self._admit(opcode, length)
        if there < head + length:
            return None
        mask_at = at + head - 4
        end = at + head + length
        payload = unmask(data[mask_at : mask_at + 4], data[mask_at + 4 : end])
        self._at, self._charged = end, False
        final = first >= _FINAL
        if opcode < CLOSE:
            self._inside = not final
            self._message_bytes = 0 if final else self._message_bytes + length
        return final, opcode, payload

    def _check(self, first: int, second: int, opcode: int) -> None:
        """Refuse what the first two bytes show to be wrong."""
        if first & _RESERVED:
            raise ViolationError(PROTOCOL_ERROR, "a reserved bit is set")
        if opcode not in _OPCODES:
            raise ViolationError(PROTOCOL_ERROR, "an unknown opcode")
        if not second & _MASKED:
            raise ViolationError(PROTOCOL_ERROR, "a frame without a mask")
        if opcode >= CLOSE:
            if first < _FINAL or second & _LENGTH > LONGEST_CONTROL:
                raise ViolationError(PROTOCOL_ERROR, "a control frame in fragments or too long")
        elif (opcode == CONTINUATION) is not self._inside:
            raise ViolationError(PROTOCOL_ERROR, "a fragment out of place")

    def _admit(self, opcode: int, length: int) -> None:
        """Refuse a frame that makes its message too long, and charge for any other."""
        if opcode < CLOSE and self._message_bytes + length > self._most_bytes:
            raise ViolationError(TOO_BIG, f"a message has at most {self._most_bytes} bytes")
        self._charge(length)
        self._charged = True


def unmask(mask: bytes, payload: bytes) -> bytes:
    """The payload with its mask taken off, or put on."""
    length = len(payload)
    if not length or mask == b"\0\0\0\0":
        return payload
    key = (mask * (length // 4 + 1))[:length]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")).to_bytes(length, "big")


def encode(opcode: int, payload: bytes) -> bytes:
    """A whole message or a control frame, as a server sends it: final and without a mask."""
    length = len(payload)
    if length <= LONGEST_CONTROL:
        return bytes((_FINAL | opcode, length)) + payload
    if length < 65_536:
        return bytes((_FINAL | opcode, 126)) + length.to_bytes(2, "big") + payload
    return bytes((_FINAL | opcode, 127)) + length.to_bytes(8, "big") + payload


def encode_close(code: int, reason: str = "") -> bytes:
    """A close frame; NO_CODE makes an empty one. The reason is cut to what fits."""
    if code == NO_CODE:
        return encode(CLOSE, b"")
    said = reason.encode()[: LONGEST_CONTROL - 2].decode(errors="ignore").encode()
    return encode(CLOSE, code.to_bytes(2, "big") + said)


def close_code(payload: bytes) -> int:
    """The code in a close frame that was read, NO_CODE in an empty one; ViolationError where it may not be sent."""
    if not payload:
        return NO_CODE
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or not (code in _CODES or 3000 <= code < 5000):
        raise ViolationError(PROTOCOL_ERROR, "no such close code")
    text(payload[2:])
    return code


def text(payload: bytes) -> str:
    """The text of a message; ViolationError where it is not UTF-8."""
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise ViolationError(BAD_PAYLOAD, "not UTF-8") from None
