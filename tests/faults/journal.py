"""What players were told: every acknowledged move, written down before anything else happens with it."""

import json
import os
from pathlib import Path
from typing import NamedTuple


class Told(NamedTuple):
    """One acknowledged move: the number of the first event that it made, or 0 where its answer did not say it."""

    code: str
    seat: int
    command: str
    seq: int


class Journal:
    def __init__(self, file: Path) -> None:
        self.file = file
        self._open = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, told: Told) -> None:
        os.write(self._open, json.dumps(told).encode() + b"\n")

    def read(self) -> list[Told]:
        return [Told(*json.loads(line)) for line in self.file.read_text().splitlines()]

    def close(self) -> None:
        os.close(self._open)
