"""The six who may stand before a door, the house they stand in, and the doors that there are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts import tokens
from accounts.models import Role, User
from games import chat, ladder, rooms
from games.forms import SettingsForm
from games.models import Game, Reason, Room, What
from games.moderation import acts, appeals, cases
from games.moderation.acts import ON_PEOPLE, Why
from games.moderation.forms import GameActForm, RoomActForm
from games.moderation.reasons import REASONS
from games.views import rooms as room_views
from tests.games.finished import finished
from tests.games.night_watch import client_of, game_of, moderator, reported, somebody

ROLES = ("visitor", "guest", "player", "owner", "moderator", "administrator")
WHY = Why(Reason.INSULT)


@dataclass
class House:
    """One of everything that an address can name, and one person of each role."""

    people: dict[str, User]
    game: Game
    # A ranked one that is over and rated, in which neither of those who watch has sat.
    over: Game
    room: Room
    pks: dict[str, int] = field(default_factory=dict)

    def of_model(self, model: str) -> int:
        """The number of one row that the administration could show."""
        return {
            "accounts_user": self.people["player"].pk,
            "games_game": self.game.pk,
            "games_room": self.room.pk,
            "games_case": self.pks["case"],
            "games_act": self.pks["act"],
            "games_appeal": self.pks["appeal"],
            "games_ratingevent": self.pks["rated"],
        }.get(model, 1)

    def client(self, role: str) -> Client:
        return client_of(self.people[role]) if role in self.people else Client()


def house() -> House:
    """Irma owns the room and Max plays there; Juve watches over it, and Nick over Juve. Fandor is talked about."""
    people = {
        "guest": User.objects.create_guest(),
        "player": somebody("Max"),
        "owner": somebody("Irma Vep"),
        "moderator": moderator(),
        "administrator": moderator("Nick", administrator=True),
    }
    fandor, lupin = somebody("Fandor"), moderator("Lupin")
    room = rooms.open_room(people["owner"], size=3)
    rooms.sit(room, people["player"])
    game = game_of(people["owner"], people["player"])
    place = chat.place_of(chat.channel_of(game), people["player"].pk)
    assert place is not None
    message = chat.say(people["player"], place, preset="hello")
    act = acts.mute(lupin, fandor, timezone.now() + timedelta(days=1), WHY)
    case = reported(people["owner"], fandor).case
    cases.claim(case, people["moderator"])
    own = acts.mute(lupin, people["player"], timezone.now() + timedelta(days=1), WHY)
    appeal = appeals.appeal(act, fandor, "Please.")
    EmailAddress.objects.create(user=people["player"], email="max@example.org", verified=True, primary=True)
    tokens.make(people["player"], "mine")
    token = people["player"].tokens.get()
    pks = {
        "person": fandor.pk,
        "case": case.pk,
        "report": case.reports.get().pk,
        "act": act.pk,
        "own_act": own.pk,
        "appeal": appeal.pk,
        "message": message.pk,
        "token": token.pk,
        "nothing": 999_999,
    }
    over = finished("fr-3-ranked", [people["owner"], people["player"], fandor])
    ladder.rate_finished()
    pks["rated"] = over.rating_events.earliest("pk").pk
    return House(people, game, over, room, pks)


@dataclass(frozen=True)
class Door:
    """One address of the site as its pattern has it, by its name or, where it has none, its route.

    Where one pattern leads to many things, each word that it knows is a door.
    """

    name: str
    route: str
    parameters: tuple[str, ...]
    word: str = ""

    @property
    def key(self) -> str:
        return f"{self.name} {self.word}".strip()


OVER = "over"
# What can be asked for at one address: the word of a form or an address, or the same of a game that is over.
WORDS: dict[str, list[str]] = {
    "games:room_act": list(room_views.ACTS),
    "games:moderated_person": list(ON_PEOPLE),
    "games:act_in_case": list(ON_PEOPLE),
    "games:moderated_game": list(GameActForm.acts),
    "games:moderated_room": list(RoomActForm.acts),
    "games:role": list(Role),
    "games:decide_appeal": ["yes", "no"],
    "games:story": ["", OVER],
    "games:rating": ["", OVER],
    "games:record": ["", OVER],
    "games:replay": ["", OVER],
    "games:api_game": ["", OVER],
    "games:api_record": ["", OVER],
}


def doors() -> list[Door]:
    """Every address pattern that there is, once for each thing that it can be asked for."""
    found = [
        replace(door, word=str(word))
        for door in _walk(get_resolver().url_patterns)
        for word in WORDS.get(door.name, [""])
    ]
    return sorted(found, key=lambda door: door.key)


def _walk(patterns: list[Any], names: str = "", routes: str = "") -> Iterator[Door]:
    for pattern in patterns:
        route = routes + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            space = f"{names}{pattern.namespace}:" if pattern.namespace else names
            yield from _walk(pattern.url_patterns, space, route)
        elif isinstance(pattern, URLPattern):
            name = f"{names}{pattern.name}" if pattern.name else route
            yield Door(name, route, tuple(sorted(pattern.pattern.regex.groupindex)))


# What `pk` means at which door.
NAMED = {
    "accounts:end_session": "nothing",
    "accounts:revoke_token": "token",
    "games:act_in_case": "case",
    "games:appeal": "own_act",
    "games:case": "case",
    "games:claim": "case",
    "games:decide_appeal": "appeal",
    "games:decide_case": "case",
    "games:hide": "message",
    "games:hide_letter": "message",
    "games:release": "case",
    "games:undo": "act",
    "mfa_edit_webauthn": "nothing",
    "mfa_remove_webauthn": "nothing",
}


def address(door: Door, house: House) -> str:
    """Where the door is in that house."""
    game = house.over if door.word in (OVER, What.VOID_GAME) else house.game
    model = door.name.removeprefix("admin:").rsplit("_", 1)[0] if door.name.startswith("admin:") else ""
    values: dict[str, Any] = {
        "code": house.room.code if "rooms/" in door.route else game.code,
        "channel": chat.channel_of(house.game),
        "pk": house.pks[NAMED.get(door.name, "person")],
        "object_id": house.of_model(model),
        "app_label": "games",
        "content_type_id": 1,
        "uidb36": "1",
        "key": "no-such-key",
        "url": "nowhere",
        "name": "Fandor" if "people/" in door.route else "nothing.jsonl.gz",
        "what": door.word,
        "token": "no-such-token",
        "pace": "live",
        "number": 1,
        "day": "2026-01-31",
    }
    if "/" in door.name:
        return "/" + re.sub(r"<path:object_id>", str(house.of_model("")), re.sub(r"\(\?P<url>.*", "nowhere", door.name))
    return reverse(door.name, kwargs={name: values[name] for name in door.parameters})


def said(door: Door, house: House) -> dict[str, Any]:
    """What a form at that door says, where an empty one would be refused whoever sends it."""
    player = house.people["player"].pk
    reason = REASONS[What(door.word)][0] if door.word in REASONS else ""
    act = {"what": door.word, "hours": "24", "reason": reason, "person": player}
    settings = SettingsForm.of(house.room)
    if door.name in ("games:act_in_case", "games:moderated_person", "games:moderated_game", "games:moderated_room"):
        return act
    if door.name == "games:role":
        return {"role": door.word, "reason": "other"}
    if door.name == "games:decide_appeal":
        return {"granted": door.word}
    report = house.pks["report"]
    return {
        "games:hide": {"reason": "insult"},
        "games:decide_case": {f"report_{report}": "unfounded", "last": report},
        "games:report": {"reason": "threat"},
        "games:report_game": {"reason": "threat", "about": house.people["owner"].pk},
        "games:talk": {"preset": "luck"},
        "games:appeal": {"words": "Please."},
        "games:room_act invite": {"name": "Fandor"},
        "games:room_act show-out": {"person": player},
        "games:open_room": {"size": "2", "pace": "live", "rulebook": "fr", "ranked": "no", "public": "yes"},
        "games:room_settings": {
            name: settings.get_initial_for_field(field, name) or "" for name, field in settings.fields.items()
        },
    }.get(door.key, {})


def asked(door: Door) -> dict[str, str]:
    """What an address asks for there, where one word means something only beside another."""
    played_by = {"player": "Max", "opponent": "Irma Vep"}
    return {"games:history": played_by, "games:api_games": played_by}.get(door.name, {})


LETTERS = {200: "p", 400: "b", 403: "x", 404: "n", 405: "m", 409: "b", 422: "b", 503: "u"}


def letter_of(response: Any) -> str:
    """What the door said, as one letter of the matrix."""
    location = response.headers.get("Location", "")
    if response.status_code in (301, 302):
        return "s" if location.startswith(("/account/sign-in/", "/admin/login/")) else "a"
    return LETTERS[response.status_code]
