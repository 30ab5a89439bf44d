"""Whoever puts a NUL where a text belongs asks for nothing, or wrongly; no page breaks over it."""

import pytest
from django.db import DataError
from django.http import HttpResponse
from django.test import RequestFactory

from games import rooms
from midnight.middleware import NulMiddleware
from tests.games.finishes import people
from tests.games.night_watch import client_of, game_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ASKED = [
    "/people/%00/",
    "/people/%00/opponents/",
    "/report/{person}/?game=%00",
    "/history/?player=%00",
    "/ladders/?pace=%00",
    "/play/?pace=%00",
    "/data/%00",
    "/letters/mute/%00/",
    "/api/1/players/?name=%00",
    "/api/1/games/?player=%00",
]
POSTED = [
    ("/talk/g-{game}/", {"words": "He\0y"}),
    ("/people/{person}/ignore/", {"how": "mute", "channel": "g-\0"}),
    ("/rooms/{room}/invite/", {"name": "Bo\0b"}),
    ("/rooms/{room}/bot/", {"strength": "\0"}),
    ("/report/{person}/", {"reason": "cheating", "words": "\0"}),
]


@pytest.mark.parametrize(("address", "form"), [*((address, None) for address in ASKED), *POSTED])
def test_a_nul_is_refused_or_found_nowhere(address: str, form: dict[str, str] | None) -> None:
    alice, bob = people("Alice", "Bob")
    room = rooms.open_room(alice)
    where = address.format(person=bob.pk, game=game_of(alice, bob).code, room=room.code)
    client = client_of(alice)
    answer = client.get(where) if form is None else client.post(where, form)
    assert answer.status_code < 500


def test_what_else_does_not_fit_stays_a_fault_of_ours() -> None:
    guard = NulMiddleware(lambda _: HttpResponse())
    asked = RequestFactory().get("/people/Alice/")
    assert guard.process_exception(asked, DataError("value out of range")) is None
    assert guard.process_exception(RequestFactory().get("/people/?name=%00"), ValueError("?")) is None
