"""A setting that is missing or malformed is named in one sentence, by every process, without its value."""

import json
import secrets
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from kombu.utils.url import url_to_parts

from midnight import stack
from midnight.settings import secret_key
from tests.midnight.running import ROOT, clean_environment, free_port, manage

GOOD_KEY = secrets.token_urlsafe(50)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SITE_URL", "play.example.org", "SITE_URL must look like https://play.example.org."),
        ("SITE_URL", "ftp://play.example.org", "SITE_URL must look like"),
        ("SITE_URL", "https://", "SITE_URL must look like"),
        ("SITE_URL", "https://play.example.org/midnight", "SITE_URL must look like"),
        ("SITE_URL", "https://me:hushhush@play.example.org", "SITE_URL must look like"),
        ("SITE_URL", "https://play.example.org:port", "SITE_URL must look like"),
        ("SITE_URL", "https://play.example.org:99999", "SITE_URL must look like"),
        ("SITE_URL", "https://[::1", "SITE_URL must look like"),
        ("DATABASE_URL", "mysql://me:hushhush@host/name", "DATABASE_URL must look like postgres://"),
        ("DATABASE_URL", "postgres://me:hush/hush@host/name", "DATABASE_URL must look like postgres://"),
        ("DATABASE_URL", "postgres://me:hushhush@host", "DATABASE_URL names no database"),
        ("DATABASE_URL", "sqlite://", "DATABASE_URL names no file"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL must look like redis://"),
        ("REDIS_URL", "http://:hushhush@localhost:6379", "REDIS_URL must look like redis://"),
        ("EMAIL_URL", "mail.example.org", "EMAIL_URL must look like smtp://"),
        ("EMAIL_URL", "smtp://", "EMAIL_URL names no host"),
        ("SECRET_KEY", "hushhush", "SECRET_KEY must be at least 50 random characters."),
        ("SECRET_KEY", "ab" * 40, "SECRET_KEY must be at least 50 random characters."),
        ("METRICS_TOKEN", "hushhush", "METRICS_TOKEN must be at least 20 characters."),
        ("DEBUG", "perhaps", "DEBUG must be yes or no, not 'perhaps'."),
        ("TRUSTED_PROXIES", "-1", "TRUSTED_PROXIES must be a whole number, 0 or more, not '-1'."),
        ("REQUEST_RATE", "0", "REQUEST_RATE must be a whole number, 1 or more, not '0'."),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be json or text, not 'xml'."),
    ],
)
def test_a_malformed_setting_is_one_sentence(name: str, value: str, sentence: str) -> None:
    done = manage("check", **{"SECRET_KEY": GOOD_KEY, name: value})
    assert done.returncode == 1
    assert done.stderr.startswith(f"Midnight cannot start: {sentence}")
    assert len(done.stderr.splitlines()) == 1
    assert "hushhush" not in done.stderr


@pytest.mark.parametrize("words", [["up"], ["web", "--port", "1"], ["worker"], ["beat"], ["migrate"]])
def test_every_process_says_it(words: list[str]) -> None:
    done = manage(*words, SITE_URL="nowhere")
    assert done.returncode == 1
    assert done.stderr.startswith("Midnight cannot start: SITE_URL")


@pytest.mark.parametrize("words", [["web", "--port", str(free_port())], ["worker"], ["beat"]])
def test_without_redis_a_process_of_its_own_does_not_start(words: list[str], tmp_path: Path) -> None:
    done = manage(*words, MIDNIGHT_VAR=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.strip().endswith("No Redis: set REDIS_URL, or run the whole site with `manage.py up`.")


@pytest.mark.parametrize("words", [["web", "--port", str(free_port())], ["worker"], ["beat"]])
def test_a_public_site_does_not_start_on_a_redis_without_a_password(words: list[str], tmp_path: Path) -> None:
    https = {"SITE_URL": "https://play.example.org", "MIDNIGHT_VAR": str(tmp_path)}
    done = manage(*words, REDIS_URL="redis://valkey:6379/0", **https)
    assert done.returncode == 1
    assert "REDIS_URL names no password" in done.stderr


@pytest.mark.parametrize(
    ("address", "guarded"),
    [
        ("redis://valkey:6379/0", False),
        ("redis://midnight@valkey:6379/0", False),
        ("rediss://valkey:6379/0", False),
        ("redis://:secret@valkey:6379/0", True),
        ("redis://midnight:secret@valkey:6379/0", True),
        ("unix:///run/valkey.sock", True),
    ],
)
def test_a_redis_is_guarded_by_a_password_or_a_socket(address: str, guarded: bool) -> None:
    assert stack.is_guarded(address) is guarded


def test_djangos_own_server_is_not_offered() -> None:
    done = manage("runserver", "8000")
    assert done.returncode == 1
    assert "manage.py up" in done.stderr


def read(*names: str, **settings: str) -> list[Any]:
    """What these settings are in an environment of their own."""
    code = f"import json; from midnight import settings; print(json.dumps([getattr(settings, n) for n in {names}]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=clean_environment(SECRET_KEY=GOOD_KEY, **settings),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def test_a_key_is_made_once_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    for _ in range(2):
        assert manage("check", MIDNIGHT_VAR=str(tmp_path)).returncode == 0
        first = (tmp_path / "secret_key").read_text()
        assert len(first) >= 50
    assert (tmp_path / "secret_key").read_text() == first
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    assert [file.name for file in tmp_path.iterdir()] == ["secret_key"]


def keep_a_key(folder: Path) -> None:
    secret_key(folder)


def take_the_lock(folder: Path) -> None:
    with stack.lock(folder, "http://localhost:8000"):
        pass


@pytest.mark.parametrize("begin", [keep_a_key, take_the_lock])
def test_a_runtime_folder_that_we_make_is_for_nobody_else_and_one_that_is_there_stays_as_it_is(
    begin: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    new, there = tmp_path / "new", tmp_path / "there"
    there.mkdir()
    there.chmod(0o755)
    for folder in (new, there):
        begin(folder)
        assert list(folder.iterdir())
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (new, there)] == [0o700, 0o755]


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%41b", "a b"])
def test_whatever_the_runtime_folder_is_called_the_data_is_in_it(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    (databases, mail) = read("DATABASES", "EMAIL_FILE_PATH", MIDNIGHT_VAR=str(folder))
    assert databases["default"]["NAME"] == str(folder / "midnight.sqlite3")
    assert mail == str(folder / "mail")


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%41b", "a b"])
def test_whatever_the_temporary_folder_is_called_valkey_is_found_in_it(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    address, broker = read("REDIS_URL", "CELERY_BROKER_URL", TMPDIR=str(folder))
    found = redis.ConnectionPool.from_url(address).connection_kwargs["path"]
    assert found.startswith(f"{folder}/midnight-")
    assert f"/{url_to_parts(broker).path}" == found


def test_an_escaped_password_reaches_the_database_as_it_is() -> None:
    (databases,) = read("DATABASES", DATABASE_URL="postgres://me:p%40s%2Fs@host/name?sslmode=require")
    assert databases["default"]["PASSWORD"] == "p@s/s"
    assert databases["default"]["OPTIONS"]["sslmode"] == "require"


def test_https_makes_every_cookie_safe_and_lets_in_no_page_but_ours() -> None:
    https = {
        "ORIGINS": ["https://play.example.org"],
        "SESSION_COOKIE_NAME": "__Host-sessionid",
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_NAME": "__Host-csrftoken",
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_HSTS_SECONDS": 365 * 24 * 60 * 60,
        "TRUSTED_PROXIES": 1,
        "LOG_FORMAT": "json",
    }
    assert dict(zip(https, read(*https, SITE_URL="https://play.example.org"), strict=True)) == https


@pytest.mark.parametrize(
    ("address", "broker"),
    [
        ("redis://:secret@cache:6379/1", "redis://:secret@cache:6379/1"),
        ("unix:///run/redis.sock?db=2", "redis+socket:///run/redis.sock?virtual_host=2"),
    ],
)
def test_jobs_travel_through_the_same_redis(address: str, broker: str) -> None:
    assert read("CELERY_BROKER_URL", REDIS_URL=address) == [broker]
