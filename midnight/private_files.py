"""What the site writes is for its own user alone: the database, letters with one-time links, the key."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

OTHERS = 0o077
# What these make belongs to the source tree, which any user may run.
WRITE_SOURCES = frozenset({"catalogs", "makemigrations"})


def keep_private(command: str = "") -> None:
    """Let no other user read what this command's process makes, and what is there of earlier ones.

    Only the months' records and the collected static files are for everybody; their writers say so. A file that
    another user owns and others may read cannot be mended from here: ImproperlyConfigured names it.
    """
    if command not in WRITE_SOURCES:
        os.umask(OTHERS)
    for path in _private():
        _tighten(path)


@contextmanager
def public() -> Iterator[None]:
    """What is made within is for everybody to read."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


def _private() -> Iterator[Path]:
    folder: Path = settings.VAR
    yield from (folder / "secret_key", folder / "up.lock", folder / "static.stamp")
    if mails := getattr(settings, "EMAIL_FILE_PATH", ""):
        # Nobody gets past a folder, so the letters in it need no look.
        yield Path(mails)
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3") and str(database["NAME"]).startswith("/"):
        yield from (Path(f"{database['NAME']}{part}") for part in ("", "-wal", "-shm", "-journal"))


def _tighten(path: Path) -> None:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        # Not there, or where we cannot look; what opens it says so.
        return
    if not mode & OTHERS:
        return
    try:
        path.chmod(mode & ~OTHERS)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} can be read by other users of this machine and is not ours to change ({error.strerror}): "
            f"run `chmod go= {path}` as its owner."
        ) from None
