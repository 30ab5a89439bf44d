"""Log lines: one JSON object each in production, one readable line in a terminal, and no secret in either."""

import json
import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

# Which request, socket or task a line belongs to.
request_id: ContextVar[str] = ContextVar("request_id", default="")

# What a log call may add to its line (extra=…), in this order.
FACTS = ("method", "view", "status", "ms", "user", "task")

HIDDEN = "[hidden]"
# Longer than anything of ours; what strangers send may be so long that looking for secrets in it takes minutes.
LONG_WORD = re.compile(r"(?<!\S)\S{501,}")
SECRETS = [
    # user:password@ in an address
    (re.compile(r"(?<=://)[^\s/@]*@"), f"{HIDDEN}@"),
    (re.compile(r"[^\s@<>()\[\]\"',;:=]+@[^\s@<>()\[\]\"',;:=]+\.[A-Za-z]{2,}"), HIDDEN),
    # PostgreSQL quotes the row that it refuses.
    (re.compile(r"(?<=\)=\()[^)]*(?=\))"), HIDDEN),
    (re.compile(r"(Failing row contains )\(.*?\)", re.DOTALL), rf"\1({HIDDEN})"),
    # name: value, name=value, "name": "value"
    (
        re.compile(
            r"(?i)((?:[\w-]*(?:password|passwd|secret|csrf|sessionid|session_key|cookie|authorization|api_?key)[\w-]*"
            r"|\w+[_-]token)[\"']?\s*[:=]\s*)"
            r"(?:\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic)\s+)?[^\s\"',;&)}]+)"
        ),
        rf"\1{HIDDEN}",
    ),
]


def new_id() -> str:
    return secrets.token_hex(8)


@contextmanager
def belonging_to(name: str) -> Iterator[None]:
    """Every line logged inside carries this id, and so do the tasks that are sent."""
    before = request_id.set(name)
    try:
        yield
    finally:
        request_id.reset(before)


def without_secrets(text: str) -> str:
    text = LONG_WORD.sub(HIDDEN, text)
    for pattern, replacement in SECRETS:
        text = pattern.sub(replacement, text)
    return text


class SafeFormatter(logging.Formatter):
    """What both formats share: the sentence and its traceback without secrets, and without the paths of requests,
    where one-time links are found.
    """

    def sentence(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        request = getattr(record, "request", None)
        if path := getattr(request, "path", ""):
            route = getattr(getattr(request, "resolver_match", None), "route", None)
            text = text.replace(path, f"/{route}" if route is not None else HIDDEN) if path != "/" else text
        return without_secrets(text)

    def id_of(self, record: logging.LogRecord) -> str:
        meta = getattr(getattr(record, "request", None), "META", {})
        return request_id.get() or str(meta.get("midnight.id", ""))

    def trace(self, record: logging.LogRecord) -> str:
        return without_secrets(self.formatException(record.exc_info)) if record.exc_info else ""


class JsonFormatter(SafeFormatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self.sentence(record),
            "request_id": self.id_of(record),
        }
        line |= {name: getattr(record, name) for name in FACTS if hasattr(record, name)}
        if trace := self.trace(record):
            line["trace"] = trace
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(SafeFormatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{time} {record.levelname:<7} {self.sentence(record)}"
        if name := self.id_of(record):
            line += f"  [{name}]"
        return "\n".join(filter(None, [line, self.trace(record)]))
