"""Log lines: readable or JSON, each with the id of what it belongs to, none with a secret."""

import io
import json
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import shared_task
from django.test import Client, RequestFactory
from pytest_django import Settings

from midnight.celery import app, send_request_id
from midnight.logs import (
    HIDDEN,
    LONGEST_PAUSE,
    MOST_FAULTS,
    JsonFormatter,
    RateLimitedHandler,
    TextFormatter,
    belonging_to,
    request_id,
    without_secrets,
)


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("games.table", logging.INFO, __file__, 1, message, args, None)
    made.__dict__.update(extra)
    return made


class Lines(logging.Handler):
    """Keeps what our JSON format would have written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def written() -> Iterator[list[str]]:
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler.lines
    logging.getLogger().removeHandler(handler)


# Secrets --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("cannot reach postgres://midnight:s3cr3t@db:5432/midnight", "s3cr3t"),
        ("redis://:s3cr3t@cache:6379/0 is away", "s3cr3t"),
        ("no such person: someone.else@mail.example.org", "someone"),
        ("UNIQUE failed\nDETAIL:  Key (email)=(me@x.example) already exists.", "me@x"),
        ("DETAIL:  Key (name)=(s3cr3t) already exists.", "s3cr3t"),
        ("DETAIL:  Failing row contains (1, s3cr3t, null).", "s3cr3t"),
        ("password=s3cr3t&next=/", "s3cr3t"),
        ('{"password1": "s3cr3t"}', "s3cr3t"),
        ("{'new_password': 's3cr3t words'}", "s3cr3t"),
        ("csrfmiddlewaretoken=s3cr3t", "s3cr3t"),
        ("Cookie: sessionid=s3cr3t; theme=dark", "s3cr3t"),
        ("Authorization: Bearer s3cr3t", "s3cr3t"),
        ("Set-Cookie: __Host-sessionid=s3cr3t; Secure", "s3cr3t"),
        ("METRICS_TOKEN=s3cr3t", "s3cr3t"),
    ],
)
def test_no_secret_is_written(text: str, secret: str) -> None:
    assert secret not in without_secrets(text)
    assert HIDDEN in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    ["game 12 is at 381", "not_your_turn: wait for seat 2", "seat=3 tile=17 token=2 at 12:30:05.5", "a @ b, 3 / 4", ""],
)
def test_an_ordinary_sentence_stays_as_it_is(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize("sign", ["x", "9", "-", "a.", "token_"])
def test_nobody_makes_the_log_work_for_minutes_by_one_long_word(sign: str) -> None:
    word = sign * (60_000 // len(sign))
    began = time.process_time()
    assert without_secrets(f"Invalid: {word} was sent") == f"Invalid: {HIDDEN} was sent"
    assert time.process_time() - began < 2


def test_a_traceback_is_written_without_secrets() -> None:
    try:
        raise ValueError("password=s3cr3t of me@mail.example")
    except ValueError:
        made = record("it failed")
        made.exc_info = sys.exc_info()
    for text in (JsonFormatter().format(made), TextFormatter().format(made)):
        assert "ValueError" in text
        assert "s3cr3t" not in text
        assert "me@mail" not in text


def test_a_path_that_is_a_one_time_link_is_not_written() -> None:
    request = RequestFactory().get("/account/reset/3-one-time-key/")
    line = json.loads(JsonFormatter().format(record("Internal Server Error: %s", request.path, request=request)))
    assert "one-time-key" not in line["message"]


@pytest.mark.django_db
def test_whatever_people_send_nothing_of_it_is_logged(written: list[str], client: Client) -> None:
    secrets = {
        "password1": "correct horse battery 1",
        "email": "alice.private@mail.example",
        "login": "alice.private@mail.example",
        "password": "correct horse battery 1",
    }
    client.cookies["sessionid"] = "abcdefsessionkey"
    for path in ("/account/sign-up/", "/account/sign-in/", "/nowhere/alice.private@mail.example/", "/metrics"):
        client.post(path, secrets, headers={"Authorization": "Bearer abcdefbearertoken"})
        client.get(path, secrets, headers={"Authorization": "Bearer abcdefbearertoken"})
    assert len(written) >= 6
    everything = "\n".join(written)
    for secret in (*secrets.values(), "horse", "alice.private", "abcdefsessionkey", "abcdefbearertoken"):
        assert secret not in everything


# Lines ----------------------------------------------------------------------------------------------------------------


def test_a_suspicious_request_leaves_one_line_and_no_traceback(written: list[str], client: Client) -> None:
    assert client.post("/account/sign-in/", {f"word{number}": "" for number in range(1_001)}).status_code == 400
    assert client.get("/about/", headers={"Host": "elsewhere.example"}).status_code == 400
    assert [json.loads(line)["level"] for line in written] == ["INFO", "INFO"]


def test_a_json_line_holds_its_facts() -> None:
    with belonging_to("ab12"):
        line = json.loads(JsonFormatter().format(record("seat %s sits", 3, view="games:home", status=200)))
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "INFO",
        "logger": "games.table",
        "message": "seat 3 sits",
        "request_id": "ab12",
        "view": "games:home",
        "status": 200,
    }


def test_a_line_in_a_terminal_is_one_line() -> None:
    with belonging_to("ab12"):
        text = TextFormatter().format(record("seat %s sits", 3))
    assert text[8:] == " INFO    seat 3 sits  [ab12]"


def test_a_newline_in_what_is_logged_makes_no_second_json_line() -> None:
    assert "\n" not in JsonFormatter().format(record("one\ntwo"))


# Faults that last -----------------------------------------------------------------------------------------------------


class Log:
    """A rate-limited log whose clock stands until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._stream = io.StringIO()
        self.handler = RateLimitedHandler(self._stream, lambda: self.now)
        self.handler.setFormatter(JsonFormatter())
        self._logger = logging.Logger("games.table")
        self._logger.addHandler(self.handler)

    def error(self, message: str, *args: object, **more: Any) -> None:
        self._logger.error(message, *args, **more)

    def info(self, message: str) -> None:
        self._logger.info(message)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    def messages(self) -> list[str]:
        return [line["message"] for line in self.lines()]


def test_a_fault_of_every_millisecond_has_four_lines_a_minute() -> None:
    log = Log()
    for number in range(60_000):
        log.error("Table %s: no room (%d)", number % 7, number)
        log.now += 0.001
    assert len(log.lines()) == 4
    log.handler.close()
    assert log.messages()[0] == "Table 0: no room (0)"
    assert sum(line.get("repeated", 1) for line in log.lines()) == 60_000, "each occurrence is counted once"


def test_a_fault_that_lasts_for_hours_has_a_line_a_minute() -> None:
    log = Log()
    for _ in range(3 * 60 * 60):
        log.error("no room")
        log.now += 1
    assert len(log.lines()) <= 3 * 60 + 4


def test_the_first_error_has_its_traceback_and_repetitions_one_line() -> None:
    log = Log()
    for _ in range(24):
        try:
            raise ValueError("no room")
        except ValueError:
            log.error("A step failed", exc_info=True)
        log.now += 0.25
    assert "ValueError: no room" in log.lines()[0]["trace"]
    assert [("trace" in line, line["message"]) for line in log.lines()[1:]] == [
        (False, "A step failed (3 more like this)"),
        (False, "A step failed (16 more like this)"),
    ]


def test_a_repetition_of_several_lines_is_one_line() -> None:
    log = Log()
    for _ in range(2):
        log.error("no room\n  here\n")
    log.handler.close()
    assert log.messages() == ["no room\n  here\n", "no room here (1 more like this)"]


def test_different_faults_do_not_hide_each_other() -> None:
    log = Log()
    for fault in (ValueError, KeyError):
        for message in ("A step failed", "A look failed"):
            try:
                raise fault("here")
            except fault:
                log.error(message, exc_info=True)
    log.error("no room", extra={"view": "games:home", "status": 500})
    log.error("no room", extra={"view": "games:lobby", "status": 500})
    assert len([line for line in log.lines() if "trace" in line]) == 4
    assert log.messages()[4:] == ["no room", "no room"]


def test_an_ordinary_line_is_never_held_back_and_brings_counts_along() -> None:
    log = Log()
    for _ in range(3):
        log.error("no room")
    log.info("a seat sits")
    log.now += 1
    log.info("a seat sits")
    assert log.messages() == ["no room", "a seat sits", "no room (2 more like this)", "a seat sits"]


def test_a_fault_that_was_away_for_long_is_news_again() -> None:
    log = Log()
    log.error("no room")
    log.now += LONGEST_PAUSE + 1
    log.error("no room")
    assert log.messages() == ["no room", "no room"]


def test_a_line_that_cannot_be_written_breaks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    log = Log()
    for _ in range(3):
        log.error("%d games", "three")
        log.now += 10
    assert "Logging error" in capsys.readouterr().err


def test_endlessly_many_different_faults_fill_no_memory() -> None:
    log = Log()
    names = [
        f"{chr(65 + number // 26 // 26)}{chr(65 + number // 26 % 26)}{chr(65 + number % 26)}" for number in range(900)
    ]
    for name in names:
        log.error(name)
    assert len(log.lines()) == 900
    assert len(log.handler._faults) == MOST_FAULTS


def test_every_process_limits_its_log(settings: Settings) -> None:
    used = [settings.LOGGING["handlers"][name]["class"] for name in settings.LOGGING["root"]["handlers"]]
    assert used == ["midnight.logs.RateLimitedHandler"]


# Ids ------------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_request_has_an_id_in_its_answer_and_in_its_line(written: list[str], client: Client) -> None:
    name = client.get("/")["X-Request-ID"]
    (line,) = [json.loads(line) for line in written]
    assert line["request_id"] == name
    assert (line["view"], line["status"], line["method"]) == ("games:home", 200, "GET")
    assert client.get("/")["X-Request-ID"] != name


@pytest.mark.django_db
def test_an_error_has_the_id_of_its_request_too(written: list[str], client: Client) -> None:
    client.raise_request_exception = False
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert {json.loads(line)["request_id"] for line in written} == {answer["X-Request-ID"]}
    assert any("worker: no heartbeat yet" in line for line in written)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("proxies", "given", "taken"),
    [(1, "0123456789abcdef", True), (0, "0123456789abcdef", False), (1, "short", False), (1, "with a\nline", False)],
)
def test_the_proxys_id_is_kept_and_nobody_elses(
    settings: Settings, client: Client, proxies: int, given: str, taken: bool
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert (client.get("/", headers={"X-Request-ID": given})["X-Request-ID"] == given) is taken


def test_a_job_carries_the_id_of_the_request_that_asked_for_it() -> None:
    headers: dict[str, str] = {}
    with belonging_to("ab12"):
        send_request_id(headers=headers)
    assert headers == {"request_id": "ab12"}


def test_a_job_that_nobody_asked_for_has_an_id_of_its_own() -> None:
    seen = []

    @shared_task(name="tests.seen")
    def look() -> None:
        seen.append(request_id.get())

    try:
        look.apply()
        look.apply()
    finally:
        app.tasks.pop("tests.seen")
    assert all(seen)
    assert len(set(seen)) == 2
    assert request_id.get() == ""
