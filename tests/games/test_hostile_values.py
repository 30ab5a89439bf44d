"""Whatever is written where a number, a date, a place in a list or a text belongs: every door has an answer to it.

The doors are those of `everybody.py`. Which words each of them listens to is found by looking over its shoulder, so a
new one is tried out without being named here. The suite tells each word a quarter of the values, another quarter at
each place; `--long` tells all of them everywhere.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.core.cache import cache
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import resolve
from django.utils.datastructures import MultiValueDict

from tests.games.everybody import ROLES, Door, House, address, asked, doors, house, said
from tests.games.matrix import ANSWERS
from tests.games.night_watch import client_of

VALUES = {
    "less than nothing": "-1",
    "more than a database holds": "9" * 19,
    "more than a machine holds": "9" * 25,
    "more digits than Python reads": "9" * 5_000,
    "a digit that is none": "²",
    "the last day of the calendar": "9999-12-31",
    "a far place in the history": f"1-{'9' * 23}",
    "a far place on a ladder": f"99999.99~{'9' * 18}",
    "a NUL": "a\0b",
    "half a character": "\ud800",
    "what a pattern or a quotation is made of": "%_'\"\\",
    "a long text without end": "[" * 20_000,
    "a long word without end": "x" * 20_000,
}
USUAL = "what is usual"
# The best answer first: whoever gets it is sent in.
BEST = "pabnxsum"


@dataclass(frozen=True)
class Trial:
    """One door, tried in one way: with what it is usually told, and one thing that is not."""

    method: str
    path: str
    usual: dict[str, Any]
    step: int

    def requests(self, heard: set[str], *, also_the_path: bool) -> Iterator[tuple[str, str, str]]:
        """What is tried, the address, and the form; what is listened to meanwhile is tried as well."""
        yield USUAL, *self._with({})
        for name, part in resolve(self.path).kwargs.items() if also_the_path else ():
            before, _, after = self.path.rpartition(str(part))
            for what, value in self._values(name):
                yield f"{what} in the path", before + quote(value, errors="surrogatepass", safe="") + after, ""
        tried: set[str] = set()
        while words := sorted({*heard, *self.usual} - tried):
            tried.update(words)
            for word in words:
                for what, value in self._values(word):
                    yield f"{what} as {word}", *self._with({word: value})

    def _values(self, place: str) -> list[tuple[str, str]]:
        first = zlib.crc32(f"{resolve(self.path).route} {place}".encode()) % self.step
        return list(VALUES.items())[first :: self.step]

    def _with(self, unusual: dict[str, str]) -> tuple[str, str]:
        told = urlencode({**self.usual, **unusual}, errors="surrogatepass")
        return (self.path, told) if self.method == "post" else (f"{self.path}?{told}", "")


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The words for which somebody has looked in an address or a form."""
    words: set[str] = set()

    def noting(way: Callable[..., Any]) -> Callable[..., Any]:
        def noted(self: QueryDict, word: str, *rest: Any) -> Any:
            words.add(word)
            return way(self, word, *rest)

        return noted

    for name in ("__getitem__", "__contains__", "getlist"):
        monkeypatch.setattr(QueryDict, name, noting(getattr(MultiValueDict, name)), raising=False)
    return words


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_value_breaks_a_door(method: str, heard: set[str], so_often: Callable[[int, int], int]) -> None:
    here = house()
    clients = {role: _client(here, role) for role in ROLES}
    heard.clear()
    clients["visitor"].get("/about/")
    everywhere, tried, wrong, step = frozenset(heard), set(), [], so_often(4, 1)
    for door in doors():
        role = best_role(door, method)
        if role is None:
            continue
        client, cookies = clients[role], clients[role].cookies.copy()
        trial = Trial(method, address(door, here), said(door, here) if method == "post" else asked(door), step)
        heard.clear()
        for what, path, form in trial.requests(heard, also_the_path=door.name not in tried):
            cache.clear()
            with transaction.atomic():
                answer = client.generic(method.upper(), path, form, "application/x-www-form-urlencoded")
                transaction.set_rollback(True)
            client.cookies = cookies.copy()
            if door.name != "about":
                heard -= everywhere
            if what == USUAL and method == "get":
                heard |= _filters(door)
            if answer.status_code >= 500 and "u" not in ANSWERS[door.key]:
                wrong.append(f"{door.key}: {answer.status_code} at {what}")
        tried.add(door.name)
    assert not wrong, "\n".join(wrong)


def best_role(door: Door, method: str) -> str | None:
    """Who gets furthest at this door; nobody where it is closed to everybody, or stands in the event loop."""
    answers = ANSWERS.get(door.key, "mmmmmm mmmmmm").split()[0 if method == "get" else 1]
    if set(answers) == {"m"}:
        return None
    return min(reversed(ROLES), key=lambda role: BEST.index(answers[ROLES.index(role)]))


def _client(here: House, role: str) -> Client:
    client = client_of(here.people[role], proved=True) if role in here.people else Client()
    client.raise_request_exception = False
    return client


def _filters(door: Door) -> set[str]:
    """What the administration's lists listen to: they read all that there is, whatever its name."""
    for model, one in admin.site._registry.items():
        if door.name == f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist":
            classes = [each for each in one.list_filter if isinstance(each, type)]
            own = {each.parameter_name for each in classes}
            names = [each if isinstance(each, str) else each[0] for each in one.list_filter if each not in classes]
            columns = {f"{name}__{how}" for name in names for how in ("exact", "isempty")}
            return {"q", "p", "o", "pk__lt", *own, *columns}
    return set()
