"""`manage.py up`: the whole site in one command, and nothing left of it afterwards."""

import os
import re
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from midnight import stack
from tests.midnight.running import HANGS_SECONDS, Up, eventually, free_port, manage, running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site() -> Iterator[Up]:
    """One that nobody harms."""
    with running() as up:
        yield up


def test_it_says_what_it_does_and_prints_the_address_once_the_site_answers(site: Up) -> None:
    said = site.said()
    assert "Preparing the database (SQLite)" in said
    assert "Starting Valkey, the web process, the worker and beat." in said
    assert f"Midnight is open at http://localhost:{site.port}" in said
    assert site.get("/")[0] == 200
    eventually(lambda: set(site.children()) == {"valkey", "web", "worker", "letters", "beat"})


def test_what_a_page_loads_is_there_for_long_and_for_our_pages_only(site: Up) -> None:
    addresses = set(re.findall(r'"(/static/[^"#]+)', site.get("/")[2]))
    assert len(addresses) > 5
    for address in addresses:
        status, headers, _ = site.get(address)
        assert status == 200, address
        assert headers["Content-Type"] != "application/octet-stream", address
        assert headers["Cache-Control"] == "max-age=315360000, public, immutable", address
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


def test_its_worker_is_known_to_work_and_its_figures_are_read_next_door(site: Up) -> None:
    eventually(lambda: site.health()[0] == 200)
    assert "midnight_worker_heartbeat_age_seconds" in site.get("/metrics")[2]


def test_a_second_start_is_quick_and_shows_no_password_again(tmp_path: Path) -> None:
    with running(folder=tmp_path) as site:
        assert site.one_time_password()
    with running(folder=tmp_path) as site:
        assert site.work() < 10, "two cores do it in five seconds"
        assert site.one_time_password() is None
        assert "Preparing" not in site.said()
        assert "Collecting" not in site.said()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_of_it(number: signal.Signals, tmp_path: Path) -> None:
    with running(folder=tmp_path) as site:
        eventually(lambda: "letters" in site.children())
        children = site.children().values()
        code = site.end(number)
        assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)
        gone, left = psutil.wait_procs(list(children), timeout=HANGS_SECONDS)
        assert not left
        assert len(gone) == 5
    with running(folder=tmp_path, port=site.port) as again:
        assert again.get("/")[0] == 200


def test_a_signal_while_it_starts_stops_it_too(tmp_path: Path) -> None:
    site = Up(tmp_path)
    eventually(lambda: "Starting" in site.said())
    children = site.children().values()
    assert site.end(signal.SIGINT) == 0
    assert not psutil.wait_procs(list(children), timeout=HANGS_SECONDS)[1]
    assert "Traceback" not in site.said()


def test_a_child_that_dies_is_started_again() -> None:
    with running() as site:
        for name, said in [
            ("valkey", "Valkey was killed by SIGKILL: starting it again"),
            ("letters", "The worker ended with status 1: starting it again"),
            ("worker", "The worker was killed by SIGKILL: starting it again"),
            ("beat", "Beat was killed by SIGKILL: starting it again"),
            ("web", "The web process was killed by SIGKILL: starting it again"),
        ]:
            before = eventually(lambda: found if len(found := site.children()) == 5 else None)
            before[name].kill()
            eventually(lambda said=said: said in site.said())
            after = eventually(lambda: found if len(found := site.children()) == 5 else None)
            assert after[name].pid != before[name].pid
            assert site.get("/")[0] == 200
        eventually(lambda: site.health()[0] == 200)
        assert site.process.poll() is None


def test_a_child_that_is_frozen_is_ended_and_started_again() -> None:
    with running() as site:
        frozen = site.children()["web"]
        frozen.suspend()
        # Whoever asks meanwhile waits.
        assert site.get("/")[0] == 200
        assert "The web process stands still: ending it." in site.said()
        assert not frozen.is_running()


def looks(one: stack.Child) -> Iterator[str]:
    """All that is said about it, until it is given up."""
    while True:
        one.process.wait()
        try:
            if said := one.look():
                yield said
        except stack.CannotRun as why:
            yield str(why)
            return


def test_a_child_that_never_comes_up_is_given_up_with_a_sentence() -> None:
    one = stack.Child("It", lambda: stack.child(["false"]), set)
    assert list(looks(one)) == [
        "It ended with status 1: starting it again.",
        "It ended with status 1: starting it again in 2 seconds.",
        "It ended with status 1: starting it again in 4 seconds.",
        "It ended with status 1: starting it again in 8 seconds.",
        "It ended with status 1, for the 5th time before it was ready.",
    ]


def test_a_second_one_on_the_same_data_is_told_who_runs_already(tmp_path: Path) -> None:
    with running(folder=tmp_path) as site:
        second = manage("up", "--port", str(free_port()), MIDNIGHT_VAR=str(tmp_path / "var"))
        assert second.returncode == 1
        assert "already runs" in second.stderr
        assert f"process {site.process.pid}, http://localhost:{site.port}" in second.stderr
        assert site.health() == (200, {"ok": True, "database": "ok", "moves": "ok", "redis": "ok", "worker": "ok"})


def test_two_with_data_of_their_own_run_side_by_side() -> None:
    with running() as one, running() as other:
        assert one.get("/")[0] == other.get("/")[0] == 200


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = manage("up", "--port", str(port), MIDNIGHT_VAR=str(tmp_path))
    assert done.returncode == 1
    assert f"Port {port} is taken: choose another one with --port." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(3)", "ended with status 3"),  # what was asked is unread then: the line is reset
        ("line.recv(4096); os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("line.recv(4096); line.close(); listener.accept()", "hung up"),
    ],
)
def test_a_web_process_that_ends_before_its_first_answer_is_said(end: str, said: str) -> None:
    code = (
        f"import os, socket, sys; listener = socket.socket(fileno=int(sys.argv[1])); line, _ = listener.accept(); {end}"
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.fileno()
        web = stack.child([sys.executable, "-c", code, str(number)], pass_fds=[number])
        try:
            with pytest.raises(stack.CannotRun, match=f"The web process {said} before it was ready."):
                stack.Stack().first_status(listener, urlsplit("http://localhost"), web)
        finally:
            stack.stop(web)


@pytest.mark.parametrize("word", ["0", "65536", "-1", "eighty", ""])
def test_a_port_that_is_none_is_refused(word: str) -> None:
    done = manage("up", f"--port={word}")
    assert done.returncode == 2
    assert f"a port is a number from 1 to 65535, not {word!r}" in done.stderr


@pytest.mark.parametrize("key", ["", "x1Y2-z3W4_" * 6])
def test_a_folder_that_cannot_be_written_is_named(key: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    done = manage("up", MIDNIGHT_VAR=str(tmp_path / "file"), SECRET_KEY=key)
    assert done.returncode == 1
    assert str(tmp_path / "file") in done.stderr
    assert "cannot be written" in done.stderr
    assert "MIDNIGHT_VAR" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="up-") as folder:
        yield Path(folder)


def test_a_folder_that_is_too_deep_for_a_socket_is_said(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    done = manage("up", "--port", str(free_port()), MIDNIGHT_VAR=str(tmp_path / "var"), TMPDIR=str(deep))
    assert done.returncode == 1
    assert "too long for a socket's path" in done.stderr


def test_somebody_elses_folder_for_the_socket_is_not_used(tmp_path: Path, short_path: Path) -> None:
    site = Up(tmp_path, TMPDIR=str(short_path))
    site.until_open()
    address = next(short_path.glob("midnight-*"))
    assert stat.S_IMODE(address.stat().st_mode) == 0o700
    site.end()
    assert not address.exists()
    address.mkdir(mode=0o755)
    done = manage("up", "--port", str(site.port), MIDNIGHT_VAR=str(tmp_path / "var"), TMPDIR=str(short_path))
    assert done.returncode == 1
    assert f"{address} is somebody else's" in done.stderr


def test_a_database_that_does_not_answer_is_said(tmp_path: Path) -> None:
    done = manage(
        "up",
        "--port",
        str(free_port()),
        MIDNIGHT_VAR=str(tmp_path),
        DATABASE_URL=f"postgres://me:hushhush@127.0.0.1:{free_port()}/midnight",
    )
    assert done.returncode == 1
    assert "The database does not answer" in done.stderr
    assert "hushhush" not in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_in_a_terminal_reaches_the_children_through_it_alone(site: Up) -> None:
    children = {process.pid for process in site.children().values()}
    assert {os.getpgid(child) for child in children} <= children
