"""Reading what came from outside: strict JSON and values of the expected type, or a sentence that says why not."""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

MOST_BYTES = 16 * 1024 * 1024  # the longest game that a record can hold has some 200,000 events
MOST_DIGITS = 4_000  # Python itself reads a few more

_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


class Misread(ValueError):
    """The document is not what it should be; the message is a sentence, the code is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def parse(document: str | bytes) -> object:
    """The value that one JSON document holds."""
    try:
        data = document.encode() if isinstance(document, str) else document
        text = data.decode()
    except UnicodeError:
        raise Misread("not_utf8", "this is not text in UTF-8") from None
    if len(data) > MOST_BYTES:
        raise Misread("too_big", f"this is larger than {MOST_BYTES:,} bytes")
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise Misread("not_json", f"this is not JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Misread("too_deep", "this is nested too deeply") from None
    if _HALF_CHARACTER.search(text):
        _refuse_half_characters(value)
    return value


def shown(value: object) -> str:
    """The value as a short piece of a sentence; a collection is named, not printed."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:56]} …"


def members(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Misread("wrong_type", f"{where} is {shown(value)}, it must be an object")
    return value


def member(source: dict[str, object], name: str, where: str) -> object:
    if name not in source:
        raise Misread("missing", f'{where} has no "{name}"')
    return source[name]


def items(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise Misread("wrong_type", f"{where} is {shown(value)}, it must be a list")
    return value


def whole(value: object, where: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Misread("wrong_type", f"{where} is {shown(value)}, it must be a whole number")
    if not least <= value <= most:
        raise Misread("out_of_range", f"{where} is {shown(value)}, it must be {least} to {most}")
    return value


def truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise Misread("wrong_type", f"{where} is {shown(value)}, it must be true or false")
    return value


def text(value: object, where: str, most: int) -> str:
    if not isinstance(value, str):
        raise Misread("wrong_type", f"{where} is {shown(value)}, it must be a text")
    if len(value) > most:
        raise Misread("out_of_range", f"{where} is longer than {most} characters")
    return value


def choice(value: object, where: str, choices: Iterable[T]) -> T:
    """The one of the choices that the value equals; true is not 1 here."""
    known = tuple(choices)
    for one in known:
        if type(value) is type(one) and value == one:
            return one
    listed = ", ".join(str(one) for one in known)
    raise Misread("unknown_name", f"{where} is {shown(value)}, it must be one of: {listed}")


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise Misread("name_twice", f"the name {shown(name)} stands twice in one object")
            seen.add(name)
    return names


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise Misread("number_too_big", f"a number has more than {MOST_DIGITS} digits")
    return int(digits)


def _fraction(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise Misread("number_too_big", "a number is too big")
    return number


def _not_a_number(name: str) -> float:
    raise Misread("not_a_number", f"{name} is not JSON")


def _refuse_half_characters(value: object) -> None:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, str) and not one.isascii():
            try:
                one.encode()
            except UnicodeError:
                raise Misread("half_character", "a text holds half a character (a lone surrogate)") from None


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_number, parse_float=_fraction, parse_constant=_not_a_number
)
