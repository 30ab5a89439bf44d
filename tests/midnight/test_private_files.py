"""What the site writes is for its own user alone, in a folder that everybody may look into too."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from midnight.private_files import keep_private
from tests.midnight.running import ROOT, clean_environment


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def manage_openly(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a shell whose umask lets everybody read what is made."""
    return subprocess.run(
        [sys.executable, ROOT / "manage.py", *words],
        cwd=ROOT,
        env=clean_environment(MIDNIGHT_VAR=str(folder)),
        capture_output=True,
        text=True,
        timeout=120,
        umask=0o022,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A runtime folder as systemd makes it, with what an earlier version wrote."""
    folder = tmp_path / "var"
    folder.mkdir()
    folder.chmod(0o755)
    for name in ("midnight.sqlite3", "midnight.sqlite3-wal"):
        (folder / name).touch()
        (folder / name).chmod(0o644)
    (folder / "mail").mkdir()
    (folder / "mail" / "old.log").write_text("a link")
    (folder / "mail").chmod(0o755)
    return folder


def test_files_in_an_open_folder_are_private(folder: Path) -> None:
    done = manage_openly(folder, "sendtestemail", "irma@example.org")
    assert done.returncode == 0, done.stderr
    assert mode(folder) == 0o755
    assert mode(folder / "mail") == 0o700
    assert mode(folder / "secret_key") == 0o600
    assert {mode(path) for path in folder.glob("midnight.sqlite3*")} == {0o600}
    (letter,) = (path for path in (folder / "mail").glob("*.log") if path.name != "old.log")
    assert mode(letter) == 0o600


def test_a_new_database_is_private(tmp_path: Path) -> None:
    done = manage_openly(tmp_path, "migrate", "contenttypes", "--verbosity=0")
    assert done.returncode == 0, done.stderr
    assert {mode(path) for path in tmp_path.glob("midnight.sqlite3*")} == {0o600}


def test_another_user_s_open_file_is_named_in_a_sentence(
    folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    settings.VAR, settings.EMAIL_FILE_PATH = folder, str(folder / "mail")
    monkeypatch.setattr(os, "umask", lambda mask: 0)
    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(ImproperlyConfigured, match=f"chmod go= {folder / 'mail'}"):
        keep_private()


@pytest.mark.slow
def test_collected_files_are_for_everybody(tmp_path: Path) -> None:
    done = manage_openly(tmp_path, "collectstatic", "--noinput", "--verbosity=0")
    assert done.returncode == 0, done.stderr
    for path in (tmp_path / "static").rglob("*"):
        assert mode(path) == (0o755 if path.is_dir() else 0o644), path
