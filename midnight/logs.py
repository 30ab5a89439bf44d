"""Log lines: one JSON object each in production, one readable line in a terminal, no secret in either, and no flood.

A fault that lasts is logged by each attempt that fails. `RateLimitedHandler`, which settings.LOGGING gives to every
process, writes the first of them whole and the others as one line with a count, so callers just log each failure.
"""

import copy
import json
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TextIO

# Which request, socket or task a line belongs to.
request_id: ContextVar[str] = ContextVar("request_id", default="")

# What a log call may add to its line (extra=…), in this order.
FACTS = ("method", "view", "status", "ms", "user", "task", "repeated")

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
        if hasattr(record, "repeated"):
            return ""  # it stands for many, each with an id of its own
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


# A fault that lasts has a line after 1, 4 and 16 more seconds, and then one a minute: 4 in its first minute, since a
# database that is away is a dozen different faults.
FIRST_PAUSE = 1.0
GROWTH = 4
LONGEST_PAUSE = 60.0
# Of so many different faults it is known when they were last written; the one that was quiet for longest is forgotten.
MOST_FAULTS = 200
# What differs from one occurrence to the next where a message was put together before it was logged.
VARIABLE = re.compile(r"0x[0-9a-fA-F]+|\d+")
LONGEST_TEMPLATE = 200

Fault = tuple[object, ...]


@dataclass(slots=True)
class Repeated:
    """One fault: how often it came back since its last line, and when it may have a line again."""

    pause: float
    due: float
    count: int = 0
    last: logging.LogRecord | None = None

    def add(self, record: logging.LogRecord) -> None:
        self.count += 1
        # A copy, since other handlers have the same record. Without its traceback, which would keep frames alive.
        self.last = copy.copy(record)
        self.last.exc_info = self.last.exc_text = self.last.stack_info = None

    def take(self, now: float) -> logging.LogRecord | None:
        """The last occurrence, with the count in its message; None where there was none since the last line."""
        line, self.last = self.last, None
        if line is None:
            return None
        message = " ".join(line.getMessage().split())
        line.msg, line.args = f"{message} ({self.count} more like this)", None
        line.__dict__["repeated"] = self.count
        self.pause = min(GROWTH * self.pause, LONGEST_PAUSE)
        self.due, self.count = now + self.pause, 0
        return line


class RateLimitedHandler(logging.StreamHandler[TextIO]):
    """Writes each warning or error that is new at once and whole, and repetitions of it as single lines with a count.

    Two records are the same fault if logger, level, message template (numbers aside), view, status and the place where
    the exception was raised are equal; the arguments may differ. Counts that nothing follows are written with the next
    record of any kind, or at the process's end. What is below WARNING is never held back.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._clock = clock
        self._faults: OrderedDict[Fault, Repeated] = OrderedDict()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(record)
        except Exception:
            # As every handler does: a line that cannot be written must not break what is logged about.
            self.handleError(record)

    def _write(self, record: logging.LogRecord) -> None:
        now = self._clock()
        self._write_due(now)
        if record.levelno < logging.WARNING:
            super().emit(record)
            return
        fault = fault_of(record)
        repeated = self._faults.get(fault)
        if repeated is None:
            super().emit(record)
            self._remember(fault, now)
            return
        repeated.add(record)
        self._faults.move_to_end(fault)
        if repeated.due <= now:
            self._write_count(repeated, now)

    def close(self) -> None:
        """Write every count that is still open, then close."""
        self.acquire()
        try:
            now = self._clock()
            for repeated in self._faults.values():
                self._write_count(repeated, now)
            self._faults.clear()
        finally:
            self.release()
        super().close()

    def _remember(self, fault: Fault, now: float) -> None:
        self._faults[fault] = Repeated(FIRST_PAUSE, now + FIRST_PAUSE)
        if len(self._faults) > MOST_FAULTS:
            _, quietest = self._faults.popitem(last=False)
            self._write_count(quietest, now)

    def _write_due(self, now: float) -> None:
        for fault, repeated in list(self._faults.items()):
            if repeated.last is not None and repeated.due <= now:
                self._write_count(repeated, now)
            elif repeated.due + LONGEST_PAUSE <= now:
                # It was away for so long that its next occurrence is news again.
                del self._faults[fault]

    def _write_count(self, repeated: Repeated, now: float) -> None:
        if (line := repeated.take(now)) is not None:
            super().emit(line)


def fault_of(record: logging.LogRecord) -> Fault:
    """What makes two records occurrences of the same fault."""
    template = VARIABLE.sub("#", str(record.msg)[:LONGEST_TEMPLATE])
    facts = (getattr(record, "view", None), getattr(record, "status", None))
    return (record.name, record.levelno, template, *facts, *_raised_at(record))


def _raised_at(record: logging.LogRecord) -> Fault:
    """The type of the exception and the innermost place in its traceback; nothing where there is none."""
    if not record.exc_info or record.exc_info[0] is None:
        return ()
    kind, _, trace = record.exc_info
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (kind, *((trace.tb_frame.f_code, trace.tb_lineno) if trace else ()))
