"""Collected files: those of the version before stay for a day, for pages that were loaded before a deployment."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command

from midnight.management.commands.collectstatic import KEPT_SECONDS

Deploy = Callable[[str], str]


@pytest.fixture
def static(tmp_path: Path, settings: Any) -> Path:
    """The folder that nginx gives out."""
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [tmp_path / "source"]
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": "midnight.storage.Files"}}
    return tmp_path / "static"


@pytest.fixture
def deploy(static: Path, settings: Any) -> Deploy:
    def collect(content: str) -> str:
        """Collect a version whose one script says that; the answer is the script's name."""
        source = static.parent / "source"
        source.mkdir(exist_ok=True)
        (source / "script.js").write_text(content * 100)
        # As in a process of its own, which reads what the one before left.
        settings.STATIC_ROOT = static
        call_command("collectstatic", interactive=False, verbosity=0)
        return str(staticfiles_storage.stored_name("script.js"))

    return collect


def grow_old(folder: Path, name: str, seconds: float) -> None:
    for path in folder.glob(f"{name}*"):
        os.utime(path, (time.time() - seconds,) * 2)


def test_pages_of_both_versions_find_their_scripts(deploy: Deploy, static: Path) -> None:
    old, new = deploy("old"), deploy("new")
    assert old != new
    assert (static / old).read_text() == "old" * 100
    assert (static / new).read_text() == "new" * 100
    assert (static / f"{old}.gz").exists()


def test_a_file_stays_for_a_day_after_its_last_version(deploy: Deploy, static: Path) -> None:
    old = deploy("old")
    # However long that version ran.
    grow_old(static, old, 30 * KEPT_SECONDS)
    deploy("new")
    assert (static / old).exists()
    grow_old(static, old, KEPT_SECONDS - 60)
    deploy("new")
    assert (static / old).exists()


def test_a_file_goes_a_day_after_its_last_version(deploy: Deploy, static: Path) -> None:
    old, new = deploy("old"), deploy("new")
    for name in (old, new):
        grow_old(static, name, KEPT_SECONDS + 60)
    deploy("new")
    left = {path.name for path in static.iterdir()}
    assert left == {"script.js", "script.js.gz", new, f"{new}.gz", "staticfiles.json"}


def test_a_dry_run_removes_nothing(deploy: Deploy, static: Path) -> None:
    old, _ = deploy("old"), deploy("new")
    grow_old(static, old, 2 * KEPT_SECONDS)
    call_command("collectstatic", interactive=False, verbosity=0, dry_run=True)
    assert (static / old).exists()


def test_an_older_version_that_comes_back_has_its_own_scripts(deploy: Deploy, static: Path) -> None:
    old, _ = deploy("old"), deploy("new")
    source = static.parent / "source" / "script.js"
    (static / "script.js").touch()
    source.write_text("old" * 100)
    os.utime(source, (0, 0))
    call_command("collectstatic", interactive=False, verbosity=0)
    assert staticfiles_storage.stored_name("script.js") == old
