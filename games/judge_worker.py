"""The process that judges and draws records from outside: one after another, each in a child with an end to its cost.

`games/judging.py` starts it and speaks with it: a line of JSON with a length, then that many bytes, both ways. A child
that takes too much time or memory is ended by the system; this process and the site go on. It ends by itself when
nothing has been asked for a while, and when the site that started it is gone.
"""

import json
import logging
import os
import resource
import select
import signal
import sys
import tempfile
from typing import IO, Any

import django

logger = logging.getLogger(__name__)

# What one record may cost: processor, wall clock, memory, and what is drawn of it.
CPU_SECONDS = 0.5
WALL_SECONDS = 15
MEMORY_BYTES = 768 * 1_024 * 1_024
PAGE_BYTES = 2 * 1_024 * 1_024
# What a pipe's file takes beside the page: faults are fewer.
FILE_BYTES = PAGE_BYTES + 64 * 1_024
# What is wrong further on often comes of what is wrong before.
MOST_FAULTS = 200
IDLE_SECONDS = 300
NICE = 10

Answer = dict[str, Any]
COSTLY: Answer = {"is": "costly"}


def main(cpu_seconds: float) -> None:
    django.setup()
    os.nice(NICE)
    _warm_up()
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while question := _next_line(questions):
        asked = json.loads(question)
        answer, page = _judged_apart(questions.read(asked["bytes"]), asked["language"], cpu_seconds)
        answers.write(json.dumps(answer | {"bytes": len(page)}).encode() + b"\n" + page)
        answers.flush()


def _next_line(questions: IO[bytes]) -> bytes:
    """The next question; nothing where none comes for a while, or the site is gone."""
    ready, _, _ = select.select([questions], [], [], IDLE_SECONDS)
    return questions.readline() if ready else b""


def _warm_up() -> None:
    """Load what every child needs, once and before the first of them."""
    from django.conf import settings
    from django.template.loader import get_template
    from django.utils.translation import gettext, override

    from games import replaying  # noqa: F401

    get_template("games/_replay.html")
    for language, _ in settings.LANGUAGES:
        with override(language):
            gettext("Replay")


def _judged_apart(document: bytes, language: str, cpu_seconds: float) -> tuple[Answer, bytes]:
    """What a child makes of a record; COSTLY where the system had to end it."""
    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            _be_the_child(document, language, cpu_seconds, file)
        _, status = os.waitpid(child, 0)
        if status != 0:
            return COSTLY, b""
        file.seek(0)
        answer: Answer = json.loads(file.readline())
        return answer, file.read()


def _be_the_child(document: bytes, language: str, cpu_seconds: float, file: IO[bytes]) -> None:
    code = 1
    try:
        _limit_itself(cpu_seconds)
        answer, page = judged(document, language)
        file.write(json.dumps(answer).encode() + b"\n" + page)
        file.flush()
        code = 0
    except MemoryError:
        code = 2
    except Exception:
        logger.exception("A record cannot be judged")
    finally:
        # Nothing of the parent's is tidied up by its child.
        os._exit(code)


def _limit_itself(cpu_seconds: float) -> None:
    """Have the system end this process where it takes too much: nothing here handles the signals of both timers."""
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))


def judged(document: bytes, language: str) -> tuple[Answer, bytes]:
    """The faults of a record, or the replay of one that has none, drawn in that language."""
    from django.template.loader import render_to_string
    from django.utils.translation import override

    from games import names, replaying
    from games.rules.judge import judge
    from games.rules.record import read_record

    faults = judge(document)
    if faults:
        return {"is": "faulty", "faults": [str(fault) for fault in faults[:MOST_FAULTS]], "all": len(faults)}, b""
    record = read_record(document)
    if replaying.is_too_much_to_draw(record):
        return {"is": "large"}, b""
    with override(language or None):
        prepared = replaying.prepare(record)
        context = {"replay": prepared, "who": prepared.who, "names": names}
        page = render_to_string("games/_replay.html", context).encode()
    return ({"is": "drawn"}, page) if len(page) <= PAGE_BYTES else ({"is": "large"}, b"")


if __name__ == "__main__":
    main(float(sys.argv[1]))
