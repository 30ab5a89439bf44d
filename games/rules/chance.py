"""All the chance of a game, from one seed: who knows it can lay out the whole game again (R8.11).

RECORD.md says the algorithm in words. Nothing here may ever change: every game ever played hangs on it.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

SEED_BYTES = 32
NONCE_BYTES = 16
NO_NONCE = bytes(NONCE_BYTES)  # of a bot, and of a browser that sent none in time
BOARDS = ("1", "2", "3", "4")
FACES = ("A", "B")

_NUMBERS = 1 << 32


def commitment(server_seed: bytes) -> str:
    """What everybody is shown before the first move."""
    return hashlib.sha256(server_seed).hexdigest()


def game_seed(server_seed: bytes, nonces: Sequence[bytes]) -> bytes:
    """The seed of one game; the nonces are in the order of the seats."""
    return hashlib.sha256(server_seed + b"".join(nonces)).digest()


class Stream:
    """The numbers that one seed gives under one label."""

    def __init__(self, seed: bytes, label: str) -> None:
        self._numbers = _numbers(seed, label)

    def below(self, k: int) -> int:
        """The next number of 0 … k − 1, each as likely as any other."""
        limit = _NUMBERS - _NUMBERS % k
        for number in self._numbers:
            if number < limit:
                return number % k
        raise AssertionError("the numbers never end")

    def shuffle(self, items: Sequence[T]) -> list[T]:
        shuffled = list(items)
        for i in range(len(shuffled) - 1, 0, -1):
            j = self.below(i + 1)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        return shuffled


def shuffle(seed: bytes, label: str, items: Sequence[T]) -> list[T]:
    """The items in the order that the seed gives them under this label; the labels are in RECORD.md."""
    return Stream(seed, label).shuffle(items)


def draw_markets(seed: bytes, players: int) -> list[str]:
    """As many market faces as there are players, in their order on the table (R2.2)."""
    stream = Stream(seed, "markets")
    boards = stream.shuffle(BOARDS)[:players]
    return [board + FACES[stream.below(len(FACES))] for board in boards]


def _numbers(seed: bytes, label: str) -> Iterator[int]:
    n = 0
    while True:
        block = hmac.digest(seed, f"{label}:{n}".encode("ascii"), "sha256")
        for start in range(0, len(block), 4):
            yield int.from_bytes(block[start : start + 4], "big")
        n += 1
