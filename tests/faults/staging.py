"""What the campaign needs of the site from within: tables to sit down at, and what was played there.

Run in a process of its own with the site's settings: `python -m tests.faults.staging open|records < JSON > JSON`.
"""

import json
import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import django

if __name__ == "__main__":
    django.setup()

from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import log, opening, rules
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import events, terms
from games.rules.record import make_record, write_record

# A race has no end of its own, and none of its limits is near.
RACE = replace(terms.DEFAULT_LIMITS["live"], hold_ms=0, hand_ms=60_000, search_ms=30 * 60_000, countdown_ms=1_000)


def open_tables(tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One game for each of `{"players": 4, "ranked": false}`: its code, and the cookie of each seat."""
    opened = []
    for table in tables:
        people = [_person(named=table["ranked"]) for _ in range(table["players"])]
        seats = [NewSeat(character, person.pk) for character, person in zip(terms.CHARACTERS, people, strict=False)]
        if table["ranked"]:
            game = open_game(seats, ranked=True)
        else:
            game = open_game(seats, limits=replace(RACE, events=1_000_000))
        opened.append({"code": game.code, "cookies": [_cookie(person) for person in people]})
    return opened


def _person(named: bool) -> User:
    """A guest, or an account that may play ranked games."""
    if named:
        return User.objects.create_user(f"Fandor {secrets.token_hex(5)}", None, established_at=timezone.now())
    return User.objects.create_guest()


def _cookie(person: User) -> str:
    client = Client()
    client.force_login(person, settings.AUTHENTICATION_BACKENDS[0])
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


def records(codes: list[str]) -> list[str]:
    """The record of each of these games, as one line; a game that runs is ended there, as staff might end it."""
    found = []
    for game in Game.objects.filter(code__in=codes, head__gt=0):
        opened = opening.find_by_id(game.pk)
        assert opened is not None
        lines = log.since(game.pk, 0).lines
        happened = [events.read({**json.loads(line.body), "seq": line.seq, "at": line.at}) for line in lines]
        state = rules.replay(opened.terms(), happened)
        if state.phase != "over":
            happened += rules.void(state, "server", state.at)
        names = [sitter.name for sitter in opened.sitters]
        shares = None if opened.place is None else opened.shares()
        began = f"{game.created:%Y-%m-%dT%H:%M:%SZ}"
        found.append(write_record(make_record(game.code, began, opened.terms(), names, happened, shares, opened.place)))
    return found


if __name__ == "__main__":
    words: dict[str, Callable[[Any], Any]] = {"open": open_tables, "records": records}
    json.dump(words[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
