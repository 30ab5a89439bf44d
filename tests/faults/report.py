"""midnight/FAULTS.md: what the long campaign found, one line for each fault, written by the campaign itself."""

import platform
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.faults.campaign import Outcome
from tests.faults.faults import FAULTS
from tests.faults.up import FAULTS_OF_UP
from tests.midnight.running import ROOT

FILE = ROOT / "midnight" / "FAULTS.md"
ORDER = (*FAULTS, *FAULTS_OF_UP)
COLUMNS = (
    "fault",
    "aim",
    "standstill",
    "plays again after its end",
    "well again after",
    "longest wait without a word",
    "what players are told",
    "what an operator sees",
    "resumed",
    "memory",
    "log lines a minute",
    "moves compared",
    "aim missed by",
)
HEAD = """\
# What a fault costs

Written by `.venv/bin/pytest tests/faults --long`: people play at four tables or more, and at a ranked one, while one
fault after the other happens to a site of its own. That is nginx, two web processes, worker and beat, PostgreSQL and
Valkey, each on a host of its own: a network namespace where the run may make some (as root), else behind a proxy that
can go mute. The lines of `up` are of `manage.py up` with SQLite. Last run on {machine}.

After every fault the run fails unless each acknowledged move is in the log once, every page equals its reload, play
goes on by itself, every record verifies, no game is void, no player is marked as missing, and jobs are sent.

- *Standstill*: the longest time without an accepted move at a table that always has one to make. Aim: 1 s where
  another process is well, 10 s where a host is lost, and elsewhere play goes on 5 s after the end of the fault.
- *Well again*: how long after the end of the fault `/healthz` said 200 again. Aim: within 30 s.
- *Longest wait without a word*: how long a move waited until its player was told anything: an answer, a notice, or
  that the line is gone.
- *What an operator sees*: `/livez`, `/readyz` and `/healthz` of each web process, asked every other second; what is not
  named here answered 200. A traceback is an error that the code did not foresee.
- *Resumed*: countdowns after a fault, the most in one game. Aim: one.
- *Memory*: the process that grew most. Aim: by less than 100 MB.
- *Log lines a minute*: the most of any process of ours. Aim: 60.

"""


def write(outcomes: Sequence[Outcome], file: Path = FILE) -> None:
    """Write these lines into the table; faults that this run left out keep theirs."""
    found = _kept(file) | {outcome.fault.name: _line(outcome) for outcome in outcomes}
    lines = [found[fault.name] for fault in ORDER if fault.name in found]
    memory = psutil.virtual_memory().total // 2**30
    machine = f"{psutil.cpu_count()} processors, {memory} GB, Python {platform.python_version()}"
    head = HEAD.format(machine=machine)
    rows = [_row(COLUMNS), _row(["---"] * len(COLUMNS)), *lines]
    file.write_text(head + "\n".join(rows) + "\n")


def _kept(file: Path) -> dict[str, str]:
    """The lines that are there, by fault."""
    if not file.exists():
        return {}
    rows = re.findall(r"^\| ([^|]+) \|.*$", file.read_text(), re.MULTILINE)
    lines = [line for line in file.read_text().splitlines() if line.startswith("| ")]
    return {name: line for name, line in zip(rows, lines, strict=True) if name not in ("fault", "---")}


def _line(outcome: Outcome) -> str:
    process, before, most = outcome.memory
    name, lines = outcome.lines
    cells = [
        outcome.fault.name,
        outcome.fault.aim.name,
        f"{outcome.still:.1f} s",
        f"{outcome.after:.1f} s",
        "-" if outcome.well is None else f"{outcome.well:.0f} s",
        f"{outcome.unheard:.1f} s",
        _counted(outcome.told),
        _counted(outcome.seen),
        str(outcome.resumed),
        f"{process} {before} → {most} MB",
        f"{name} {lines}",
        str(outcome.acknowledged),
        "; ".join([*outcome.missed(), *outcome.wrong]) or "-",
    ]
    return _row(cells)


def _counted(what: Counter[str]) -> str:
    return ", ".join(f"{count} × {name}" for name, count in sorted(what.items())) or "nothing"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"
