"""The edge under attack, over a real Daphne without a proxy: what is too much, too long or too slow ends early."""

import http.client
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from midnight import stack
from midnight.edge import http_protocol
from tests.midnight.running import ROOT, clean_environment, eventually, manage
from tests.services import running_valkey

pytestmark = pytest.mark.slow

TOKEN = "t" * 20
UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
)


class Web:
    """A web process alone, on a port of its own."""

    def __init__(self, folder: Path, descriptors: int = 0, **settings: str) -> None:
        """`descriptors`: how many files and sockets it may open, where not as many as we."""
        self.output = folder / f"output-{time.monotonic_ns()}"
        with stack.listen("127.0.0.1", 0) as listener, self.output.open("wb") as output:
            self.port: int = listener.getsockname()[1]
            limit = f"ulimit -n {descriptors}; " if descriptors else ""
            command = f"{limit}exec {sys.executable} {ROOT}/manage.py web --skip-checks --fd {listener.fileno()}"
            self.process = stack.child(
                ["sh", "-c", command],
                cwd=ROOT,
                env=clean_environment(
                    MIDNIGHT_VAR=str(folder),
                    REDIS_URL=f"unix://{folder}/valkey.sock",
                    SITE_URL=f"http://localhost:{self.port}",
                    **settings,
                ),
                pass_fds=[listener.fileno()],
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.output.read_text()

    def memory(self) -> int:
        return int(psutil.Process(self.process.pid).memory_info().rss)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder with a database, the collected files and a Valkey, for one web process after another."""
    with tempfile.TemporaryDirectory(prefix="midnight-") as name, running_valkey(Path(name) / "valkey.sock"):
        for words in (["migrate", "--verbosity=0"], ["collectstatic", "--noinput", "--verbosity=0"]):
            done = manage(*words, MIDNIGHT_VAR=name)
            assert done.returncode == 0, done.stderr
        yield Path(name)


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[Web]:
    site = Web(folder, **options)
    try:
        assert status(ask(site, "/healthz", more="X-Forwarded-For: 192.0.2.255\r\n")) in (200, 503)
        yield site
    finally:
        stack.stop(site.process)
        sys.stdout.write(site.said())  # says why a test failed


def line_to(site: Web) -> socket.socket:
    return socket.create_connection(("127.0.0.1", site.port), timeout=120)


def head(site: Web, path: str = "/about/", method: str = "GET", more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: localhost:{site.port}\r\n{more}\r\n".encode("latin-1")


def heard(line: socket.socket) -> bytes:
    """Everything until the site closes the line."""
    found = b""
    while piece := line.recv(65536):
        found += piece
    return found


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def ask(site: Web, path: str = "/about/", method: str = "GET", more: str = "", body: bytes = b"") -> bytes:
    with closing(line_to(site)) as line:
        line.sendall(head(site, path, method, f"{more}Connection: close\r\n") + body)
        return heard(line)


def is_open(site: Web) -> bool:
    """Whether it answers with a page; it may also hang up at once."""
    try:
        return status(ask(site)) == 200
    except (OSError, IndexError):
        return False


def figures(site: Web) -> str:
    """What this process counts, asked as if from an address of its own."""
    return ask(site, "/metrics", more=f"Authorization: Bearer {TOKEN}\r\nX-Forwarded-For: 192.0.2.254\r\n").decode()


def refused(site: Web, kind: str) -> float:
    found = re.search(rf'midnight_refused_total\{{kind="{kind}"\}} ([\d.]+)', figures(site))
    return float(found[1]) if found else 0


@pytest.fixture(scope="module")
def site(place: Path) -> Iterator[Web]:
    with serving(place, METRICS_TOKEN=TOKEN) as site:
        yield site


@pytest.fixture(scope="module")
def limited(place: Path) -> Iterator[Web]:
    """Two requests a second and six at once, behind one proxy: however slow the machine is, more can be asked."""
    with serving(place, TRUSTED_PROXIES="1", METRICS_TOKEN=TOKEN, REQUEST_RATE="2") as site:
        yield site


class TestBodies:
    def test_a_long_body_is_refused_before_it_is_read(self, site: Web) -> None:
        before = refused(site, "body_too_large")
        with closing(line_to(site)) as line:
            line.sendall(head(site, method="POST", more="Content-Length: 300000000\r\n"))
            assert status(heard(line)) == 413
        assert refused(site, "body_too_large") == before + 1

    def test_its_sender_reads_the_answer_while_still_sending(self, site: Web) -> None:
        assert status(ask(site, method="POST", more="Content-Length: 4000000\r\n", body=b"x" * 4_000_000)) == 413

    def test_three_hundred_megabytes_take_no_memory(self, site: Web) -> None:
        before = site.memory()
        with closing(line_to(site)) as line, pytest.raises(OSError, match=r"reset|Broken pipe"):  # noqa: PT012
            line.sendall(head(site, method="POST", more="Content-Length: 300000000\r\n"))
            for _ in range(300):
                line.sendall(b"x" * 1_000_000)
        assert site.memory() < before + 20 * 1024 * 1024

    def test_a_body_in_chunks_is_cut_off_at_its_limit(self, site: Web) -> None:
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        assert status(ask(site, method="POST", more="Transfer-Encoding: chunked\r\n", body=chunk * 5)) == 413

    def test_a_record_of_a_megabyte_is_read(self, site: Web) -> None:
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n"
        assert status(ask(site, "/replay/", "POST", form, b"x" * 1_000_000)) == 403, "only Django asks for a token"
        assert status(ask(site, "/replay/", "POST", "Content-Length: 2097153\r\n")) == 413

    def test_the_limits_are_those_of_nginx(self) -> None:
        text = (ROOT / "midnight" / "deploy" / "nginx.conf").read_text()
        assert re.findall(r"client_max_body_size (\w+);", text) == ["64k", "2m"]
        assert http_protocol.longest_body(b"/about/") == 64 * 1024
        assert http_protocol.longest_body(b"/replay/") == 2 * 1024 * 1024


class TestHeaders:
    def test_no_header_moves_the_addresses_of_the_site(self, site: Web) -> None:
        answer = ask(site, "/", more="Daphne-Root-Path: @evil.example\r\n")
        assert status(answer) == 200
        assert b"evil.example" not in answer

    @pytest.mark.parametrize(
        "more",
        [
            "Daphne-Root-Path: /\xff\xfe\r\n",
            f"{UPGRADE}Daphne-Root-Path: /\xff\r\n",
            f"{UPGRADE}Sec-WebSocket-Protocol: \xff\r\n",
            "X-Forwarded-For: \xff, \x80\r\n",
        ],
    )
    def test_bytes_beyond_ascii_are_no_fault_of_the_site(self, site: Web, more: str) -> None:
        answer = ask(site, "/ws/1/news" if "Upgrade" in more else "/about/", more=more)
        assert status(answer) < 500
        assert "Traceback" not in site.said()

    def test_a_method_beyond_ascii_is_refused(self, site: Web) -> None:
        assert status(ask(site, method="G\xffT")) == 400


def test_slow_heads_bodies_and_silence_are_refused(site: Web) -> None:
    """Heads that drip, lines that say nothing, a body that does not come, a second request that begins and stops."""
    before = refused(site, "too_slow")
    with ExitStack() as lines:

        def opened(said: bytes = b"") -> socket.socket:
            line = lines.enter_context(closing(line_to(site)))
            line.sendall(said)
            return line

        dripping = [opened(head(site)[:-2]) for _ in range(20)]
        silent, bodiless = opened(), opened(head(site, method="POST", more="Content-Length: 100\r\n"))
        second = opened(head(site, "/static/midnight/deco.woff2", "HEAD"))
        assert status(second.recv(65536)) == 200
        second.sendall(head(site)[:-2])
        until = time.monotonic() + http_protocol.HEAD_SECONDS - 3
        while time.monotonic() < until:
            time.sleep(1)
            for line in dripping:
                line.sendall(b"X-More: yes\r\n")
        assert is_open(site)
        assert {status(heard(line)) for line in (*dripping, silent, bodiless, second)} == {408}
    assert refused(site, "too_slow") == before + 23


class TestLimits:
    """What one address may ask for; the others are served meanwhile."""

    @pytest.fixture
    def site(self, limited: Web) -> Web:
        return limited

    def test_requests_beyond_the_burst_wait_and_others_do_not(self, site: Web) -> None:
        said = Counter(status(ask(site, more="X-Forwarded-For: 192.0.2.1\r\n")) for _ in range(30))
        assert set(said) == {200, 429}
        assert said[200] >= 6
        other = ask(site, more="X-Forwarded-For: 192.0.2.2\r\n")
        assert status(other) == 200
        assert 'midnight_refused_total{kind="rate"}' in figures(site)
        assert "Refused since the last such line: rate" in site.said()

    def test_a_refusal_says_when_to_come_again_in_six_languages(self, site: Web) -> None:
        def refusal(path: str) -> bytes:
            while status(answer := ask(site, path, more="X-Forwarded-For: 192.0.2.3\r\n")) != 429:
                pass
            return answer

        page, machine = refusal("/history/"), refusal("/api/1/games/")
        assert re.search(rb"Retry-After: [1-9]", page)
        assert re.findall(rb'<p lang="(..)">', page) == [b"en", b"fr", b"it", b"es", b"pt", b"de"]
        assert b'"code": "too_fast"' in machine
        assert ask(site, "/history/", "HEAD", "X-Forwarded-For: 192.0.2.3\r\n").endswith(b"\r\n\r\n")

    def test_costly_pages_are_fewer(self, site: Web) -> None:
        plain = Counter(status(ask(site, "/about/", more="X-Forwarded-For: 192.0.2.4\r\n")) for _ in range(30))
        costly = Counter(status(ask(site, "/history/", more="X-Forwarded-For: 192.0.2.5\r\n")) for _ in range(30))
        assert plain[200] >= 6
        assert costly[200] < plain[200]

    def test_a_net_of_one_home_counts_as_one(self, site: Web) -> None:
        said = Counter(status(ask(site, more=f"X-Forwarded-For: 2001:db8::{n:x}\r\n")) for n in range(1, 31))
        assert said[429] > 0

    def test_no_visitor_writes_their_own_address(self, site: Web) -> None:
        said = Counter(status(ask(site, more=f"X-Forwarded-For: 10.0.0.{n}, 192.0.2.6\r\n")) for n in range(30))
        assert said[429] > 0

    def test_sockets_beyond_an_addresss_share_are_refused(self, place: Path) -> None:
        with (
            serving(place, TRUSTED_PROXIES="1", METRICS_TOKEN=TOKEN, ADDRESS_SOCKETS="30") as site,
            ExitStack() as lines,
        ):
            origin = f"Origin: http://localhost:{site.port}\r\n"

            def opened(address: str) -> int:
                line = lines.enter_context(closing(line_to(site)))
                line.sendall(head(site, "/ws/1/news/lobby", more=f"{UPGRADE}{origin}X-Forwarded-For: {address}\r\n"))
                return status(line.recv(4096))

            assert Counter(opened("192.0.2.7") for _ in range(40)) == {101: 30, 429: 10}
            assert opened("192.0.2.8") == 101
            assert 'midnight_open{kind="sockets"} 31.0' in figures(site)
            lines.close()
            eventually(lambda: 'midnight_open{kind="sockets"} 0.0' in figures(site))


class TestExhaustion:
    def test_no_more_lines_than_the_process_bears(self, place: Path) -> None:
        with serving(place, PROCESS_SOCKETS="5", PROCESS_REQUESTS="20") as site, ExitStack() as lines:
            held = [lines.enter_context(closing(line_to(site))) for _ in range(40)]
            assert Counter(status(heard(line)) for line in held[30:]) == {503: 10}
            assert "Refused since the last such line: connections" in site.said()
            lines.close()
            eventually(lambda: is_open(site))

    def test_an_addresss_lines_are_bounded_without_a_proxy(self, place: Path) -> None:
        limits = {"REQUEST_RATE": "2", "ADDRESS_SOCKETS": "5"}
        with serving(place, **limits) as site, ExitStack() as lines:
            held = [lines.enter_context(closing(line_to(site))) for _ in range(20)]
            assert Counter(status(heard(line)) for line in held[12:]) == {429: 8}
            lines.close()

    def test_what_takes_too_much_memory_is_refused(self, place: Path) -> None:
        with serving(place, PROCESS_MEMORY_MB="20") as site:
            answer = ask(site)
            assert status(answer) == 503
            assert b"Retry-After: 30" in answer
            assert "Refused since the last such line: memory" in site.said()

    def test_a_flood_of_lines_leaves_descriptors_for_the_site(self, place: Path) -> None:
        with serving(place, descriptors=400) as site, ExitStack() as lines:
            inside = lines.enter_context(closing(line_to(site)))
            inside.sendall(head(site, "/about/", "HEAD"))
            assert status(inside.recv(65536)) == 200
            outside = [lines.enter_context(closing(line_to(site))) for _ in range(500)]
            eventually(lambda: "Refused since the last such line: descriptors" in site.said())
            inside.sendall(head(site, "/history/", "HEAD"))
            assert status(inside.recv(65536)) == 200
            for line in outside:
                line.close()
            eventually(lambda: is_open(site))
            assert site.said().count("Refused since") <= 5
            assert "Traceback" not in site.said()


def test_the_soft_limit_of_open_files_is_raised() -> None:
    code = (
        "import resource, django; django.setup();"
        "from midnight.edge import admission;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 900)); admission.raise_descriptor_limit();"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE), admission.last_descriptor())"
    )
    environment = clean_environment(DJANGO_SETTINGS_MODULE="midnight.settings", SECRET_KEY="x1Y2-z3W4_" * 6)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "(900, 900) 644", done.stderr


SERVER = """
import sys, django
django.setup()
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from midnight.edge import http_protocol
from midnight.edge.application import with_edge

async def application(scope, receive, send):
    length = [(b"content-length", b"655360")] if scope["path"] == "/whole" else []
    status = int(scope["query_string"] or b"200")
    await send({"type": "http.response.start", "status": status, "headers": length})
    for _ in range(10):
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})

http_protocol.install()
Server(with_edge(application), endpoints=build_endpoint_description_strings(file_descriptor=int(sys.argv[1]))).run()
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where an application of our own answers behind the edge, with ten pieces to each request."""
    with stack.listen("127.0.0.1", 0) as listener:
        environment = clean_environment(DJANGO_SETTINGS_MODULE="midnight.settings", SECRET_KEY="x1Y2-z3W4_" * 6)
        command = [sys.executable, "-c", SERVER, str(listener.fileno())]
        process = stack.child(command, cwd=ROOT, env=environment, pass_fds=[listener.fileno()])
        try:
            yield listener.getsockname()[1]
        finally:
            stack.stop(process)


@pytest.mark.parametrize(
    ("method", "path", "length"),
    [
        ("HEAD", "/whole", "655360"),
        ("HEAD", "/pieces", None),
        ("GET", "/pieces?304", None),
        ("GET", "/pieces?204", None),
    ],
)
def test_an_answer_without_body_leaves_no_byte_on_the_line(
    port: int, method: str, path: str, length: str | None
) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
        for _ in range(3):
            line.request(method, path)
            answer = line.getresponse()
            assert answer.getheader("Content-Length") == length
            assert answer.read() == b""


def test_other_answers_are_whole(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
        for path in ("/whole", "/pieces") * 2:
            line.request("GET", path)
            assert len(line.getresponse().read()) == 655_360
