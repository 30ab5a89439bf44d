"""What touches the database in its own way holds on PostgreSQL too: the same tests once more, on that."""

import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from midnight import stack

ROOT = Path(__file__).resolve().parent.parent
# However long all of it takes: a test that is silent for so long hangs.
MOST_QUIET_SECONDS = 600


@pytest.mark.slow
def test_everything_marked_both_databases_passes_on_postgresql() -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))}
    run = stack.child(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-m", "both_databases", "tests"],
        cwd=ROOT,
        env={**outside, "TEST_DATABASE": "postgresql", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        said = until_it_ends(run)
    finally:
        run.kill()
        run.wait()
    assert run.returncode == 0, said


def until_it_ends(run: subprocess.Popen[bytes]) -> str:
    """All that it says; an AssertionError where it falls silent and does not end."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert run.stdout is not None
        with run.stdout:
            for line in run.stdout:
                lines.put(line.decode(errors="replace"))
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    said: list[str] = []
    while True:
        try:
            said.append(lines.get(timeout=MOST_QUIET_SECONDS))
        except queue.Empty:
            raise AssertionError(f"It hangs:\n{''.join(said)}") from None
        if not said[-1]:
            return "".join(said)
