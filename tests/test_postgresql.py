"""What touches the database in its own way holds on PostgreSQL too: the same tests once more, on that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_everything_marked_both_databases_passes_on_postgresql() -> None:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "both_databases", "tests"],
        cwd=ROOT,
        env={**outside, "TEST_DATABASE": "postgresql"},
        capture_output=True,
        text=True,
        timeout=1_800,
    )
    assert run.returncode == 0, run.stdout + run.stderr
