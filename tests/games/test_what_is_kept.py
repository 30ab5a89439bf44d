"""Whatever is kept of a person is decided here, column by column: is it in their export, and what if they go for good?

A new column that points at a person, or that takes free text, fails until it is decided and has its line.
"""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import models
from django.utils import timezone

from accounts import closing, export, moderation, sessions, tokens
from accounts.models import ApiToken, EndedSession, Role, TakenName, User
from games import rooms
from games.models import (
    Act,
    Admission,
    Appeal,
    Career,
    Case,
    Figures,
    Game,
    Generation,
    Glance,
    Ignored,
    Letter,
    Meeting,
    Message,
    Milestone,
    Nudge,
    Opponent,
    Rating,
    RatingEvent,
    Report,
    Room,
    Seat,
    Waiting,
)

pytestmark = pytest.mark.django_db

ERASED, PSEUDONYM, KEPT = "erased", "pseudonym", "kept"


@dataclass(frozen=True, slots=True)
class Decided:
    """Which part of the export has it, or why none; what becomes of it when the person goes, and why it stays."""

    part: str
    fate: str
    why: str = ""


def of(part: str, fate: str = ERASED, why: str = "") -> Decided:
    return Decided(part, fate, why)


def no(reason: str, fate: str = ERASED, why: str = "") -> Decided:
    return Decided(f"not: {reason}", fate, why)


THEIR_GAMES = "the games are the other players' too"
THE_LEDGER = "the ratings of others are worked out from it"
THE_LOG = "what moderators did stands for good, as the privacy page says"
A_SECRET = "a secret, or what is worked out from one"
STAFFS_WORK = "the work of staff is the site's"

# Columns that point at a person, or at a person's seat in a game.
POINTERS = {
    "account.EmailAddress.user": of("mail"),
    "accounts.ApiToken.user": of("tokens"),
    "accounts.EndedSession.user": no("a ring for other processes", PSEUDONYM, "sockets must hear it; gone in a day"),
    "accounts.TakenName.holder": no("a hash of the name"),
    "accounts.Trace.user": of("history"),
    "accounts.User_groups.user": no("nobody has rights by a group"),
    "accounts.User_user_permissions.user": no("nobody has rights one by one"),
    "admin.LogEntry.user": no("the administration changes nothing, so it writes none", PSEUDONYM, "there are none"),
    "games.Act.by": no(STAFFS_WORK, PSEUDONYM, THE_LOG),
    "games.Act.person": of("moderation", PSEUDONYM, THE_LOG),
    "games.Admission.user": of("rooms"),
    "games.Appeal.decided_by": no(STAFFS_WORK, PSEUDONYM, THE_LOG),
    "games.Appeal.person": of("moderation", PSEUDONYM, THE_LOG),
    "games.Career.user": no("worked out from their games", PSEUDONYM, THEIR_GAMES),
    "games.Case.about": no("who reported them stays unknown to them", PSEUDONYM, THE_LOG),
    "games.Case.claimed_by": no(STAFFS_WORK, PSEUDONYM, THE_LOG),
    "games.Case.decided_by": no(STAFFS_WORK, PSEUDONYM, THE_LOG),
    "games.Figures.seat": of("games", PSEUDONYM, THEIR_GAMES),
    "games.Game.voided_by": no(STAFFS_WORK, PSEUDONYM, THE_LOG),
    "games.Glance.person": of("moderation"),
    "games.Ignored.other": no("who ignores them is the others' business"),
    "games.Ignored.person": of("moderation"),
    "games.Letter.person": of("moderation"),
    "games.Meeting.by": of("rooms"),
    "games.Meeting_accepted.user": of("rooms"),
    "games.Message.author": of("moderation"),
    "games.Milestone.user": no("worked out from the ratings", PSEUDONYM, "a place on a board, set anew each minute"),
    "games.Nudge.seat": of("rooms"),
    "games.Opponent.opponent": no("worked out from their games", PSEUDONYM, THEIR_GAMES),
    "games.Opponent.user": no("worked out from their games", PSEUDONYM, THEIR_GAMES),
    "games.Rating.user": of("ratings", PSEUDONYM, THE_LEDGER),
    "games.RatingEvent.player": of("ratings", PSEUDONYM, THE_LEDGER),
    "games.Report.about": no("who reported them stays unknown to them", PSEUDONYM, THE_LOG),
    "games.Report.reporter": of("moderation", PSEUDONYM, THE_LOG),
    "games.Room.owner": of("rooms", PSEUDONYM, "a closed room is where games were played"),
    "games.RoomSeat.user": of("rooms"),
    "games.Seat.user": of("games", PSEUDONYM, THEIR_GAMES),
    "games.Waiting.user": of("rooms"),
    "mfa.Authenticator.user": of("second_factors"),
    "usersessions.UserSession.user": of("sessions"),
}

# Columns in which something of a person may be written.
WRITTEN = {
    "account.EmailAddress.email": of("mail"),
    "accounts.ApiToken.mark": no(A_SECRET),
    "accounts.ApiToken.name": of("tokens"),
    "accounts.TakenName.mark": no(A_SECRET, KEPT, "nobody ever gets the name again"),
    "accounts.Trace.by": no("who did something to others"),
    "accounts.User.folded_name": no("the name, spelt for signing in"),
    "accounts.User.name": of("account"),
    "accounts.User.password": no(A_SECRET),
    "games.Act.after": no("facts for undoing it"),
    "games.Act.before": no("facts for undoing it"),
    "games.Act.words": of("moderation"),
    "games.Appeal.answer": of("moderation"),
    "games.Appeal.words": of("moderation"),
    "games.Letter.words": of("moderation"),
    "games.Message.words": of("moderation"),
    "games.Report.said": no("what somebody else said"),
    "games.Report.words": of("moderation"),
    "mfa.Authenticator.data": no(A_SECRET),
    "usersessions.UserSession.ip": of("sessions"),
    "usersessions.UserSession.user_agent": of("sessions"),
}

# What nobody types: keys, codes, words of the house, moves.
OF_THE_HOUSE = {
    *("account.EmailConfirmation.key", "accounts.EndedSession.session_key", "auth.Group.name"),
    *("admin.LogEntry.change_message", "admin.LogEntry.object_id", "admin.LogEntry.object_repr"),
    *("auth.Permission.codename", "auth.Permission.name", "contenttypes.ContentType.app_label"),
    *("contenttypes.ContentType.model", "games.Act.room", "games.Event.body", "games.Event.command_id"),
    *("games.Game.code", "games.Game.commitment", "games.Game.edition", "games.Game.faces", "games.Game.limits"),
    *("games.Game.markets_by", "games.Game.reason", "games.Game.rulebook"),
    *("games.GameSecret.server_seed", "games.SeatSecret.nonce"),
    *("games.FairnessLine.digest", "games.FairnessLine.head", "games.Glance.raised"),
    *("games.Message.channel", "games.Message.preset", "games.Milestone.board", "games.Record.faults"),
    *("games.Record.packed", "games.Report.channel", "games.Report.household"),
    *("games.Room.code", "games.Room.faces", "games.Room.limits"),
    *("games.Room.rulebook", "games.RoomSeat.character", "games.RoomSeat.strength", "games.Seat.character"),
    *("games.Seat.share", "games.Seat.strength", "games.Server.name", "games.Server.pulse"),
    *("sessions.Session.session_data", "sessions.Session.session_key"),
    *("usersessions.UserSession.data", "usersessions.UserSession.session_key"),
}

# These stand in the export anyway.
NAMES = ("Alice", "alice")

FREE = (models.CharField, models.TextField, models.JSONField, models.GenericIPAddressField, models.BinaryField)


def columns() -> list[tuple[str, type[models.Model], "models.Field[Any, Any]"]]:
    every = [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]
    return [
        (f"{model._meta.label}.{field.name}", model, field) for model in every for field in model._meta.concrete_fields
    ]


def pointing() -> dict[str, tuple[type[models.Model], str]]:
    """Every such column, with how its rows of one person are found."""
    found = {}
    for label, model, field in columns():
        if field.is_relation and field.related_model in (User, Seat):
            found[label] = (model, field.name if field.related_model is User else f"{field.name}__user")
    return found


def written() -> dict[str, tuple[type[models.Model], str]]:
    return {
        label: (model, field.name)
        for label, model, field in columns()
        if isinstance(field, FREE) and not field.choices and not field.is_relation
    }


def texts(column: tuple[type[models.Model], str]) -> str:
    model, field = column
    return json.dumps(list(model._default_manager.values_list(field, flat=True)), default=str, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Life:
    """Somebody of whom there is something in every column, and what it is."""

    person: User
    said: dict[str, str]


@pytest.fixture
def life() -> Life:
    alice, bob = User.objects.create_user("Alice", "gratin dauphinois"), User.objects.create_user("Bob")
    moderation.give_role(alice, Role.MODERATOR, by="Bob")
    said = {label: f"{label} of Alice"[-40:] for label in WRITTEN} | {
        "account.EmailAddress.email": "alice@example.org",
        "accounts.Trace.by": "Alice",
        "accounts.User.folded_name": "alice",
        "accounts.User.name": "Alice",
        "accounts.User.password": alice.password,
        "accounts.TakenName.mark": TakenName.objects.marks("Alice")[0],
        "usersessions.UserSession.ip": "203.0.113.77",
    }
    words = {label.partition(".")[2]: text for label, text in said.items()}
    now = timezone.now()

    EmailAddress.objects.create(user=alice, email=words["EmailAddress.email"], primary=True, verified=True)
    Authenticator.objects.create(user=alice, type="totp", data={"secret": words["Authenticator.data"]})
    UserSession.objects.create(
        user=alice, ip="203.0.113.77", user_agent=words["UserSession.user_agent"], session_key="a" * 32
    )
    token = tokens.make(alice, words["ApiToken.name"])[0]
    ApiToken.objects.filter(pk=token.pk).update(mark=words["ApiToken.mark"])
    sessions.tell(alice, EndedSession.Reason.SIGNED_OUT, session_key="b" * 32)
    moderation.mute(bob, now, by=alice.name)
    alice.groups.add(Group.objects.create(name="players"))
    alice.user_permissions.add(Permission.objects.order_by("pk")[0])

    room = rooms.open_room(alice, size=3, pace="relaxed")
    Room.objects.create(owner=alice, closed=now)
    Admission.objects.create(room=Room.objects.create(owner=bob), user=alice, invited=True)
    Waiting.objects.create(user=alice, players=2, rating=1500)
    ended = {"limits": {}, "ended": now, "ranked": True, "finish_seq": 1, "pace": "live"}
    game = Game.objects.create(**ended, rulebook="fr", voided_by=alice)
    seat = Seat.objects.create(game=game, number=0, user=alice, character="hat", ended=now)
    Seat.objects.create(game=game, number=1, user=bob, character="fox", ended=now)
    Nudge.objects.create(seat=seat, muted=True)
    counts = {field.name: 0 for field in Figures._meta.concrete_fields if not field.primary_key and not field.null}
    Figures.objects.create(seat=seat, **counts | {"plan": "safe"})
    Meeting.objects.create(game=game, at=now, by=alice).accepted.add(alice)
    Career.objects.create(user=alice)
    raised = [{"key": "fast", "value": 0.5, "of": 20, "other": bob.pk}]
    Glance.objects.create(person=alice, at=now, last=now, raised=raised, stands_out=True)
    Opponent.objects.create(user=alice, opponent=bob)
    Opponent.objects.create(user=bob, opponent=alice)
    Generation.objects.create(pace="live", number=0, from_seq=0, rated_to=1, state="current")
    Rating.objects.create(user=alice, pace="live", generation=0, last_played=now, season=date(2026, 9, 1))
    Milestone.objects.create(
        pace="live", board="season", generation=0, season=date(2026, 9, 1), place=1, score=1, user=alice
    )
    RatingEvent.objects.create(
        game=game,
        player=alice,
        generation=0,
        pace="live",
        finish_seq=1,
        at=now,
        before=1500,
        delta=1,
        after=1501,
        k=20,
        games_before=0,
        season=date(2026, 9, 1),
        season_gain=1,
    )

    Message.objects.create(channel=f"r-{room.code}", audience="players", author=alice, words=words["Message.words"])
    Ignored.objects.create(person=alice, other=bob)
    Ignored.objects.create(person=bob, other=alice)
    case = Case.objects.create(about=alice, claimed_by=alice)
    Case.objects.create(about=bob, decided_by=alice, decided=now)
    Report.objects.create(case=case, reporter=alice, about=bob, reason="spam", words=words["Report.words"])
    Report.objects.create(case=case, reporter=bob, about=alice, reason="spam", said=words["Report.said"])
    act = Act.objects.create(
        by=bob,
        person=alice,
        what="warn",
        reason="spam",
        words=words["Act.words"],
        before={"said": words["Act.before"], "channel": "g-x"},
        after={"name": words["Act.after"]},
    )
    of_hers = Act.objects.create(by=alice, person=bob, what="warn", reason="spam")
    Letter.objects.create(person=alice, kind="act", act=act, words=words["Letter.words"])
    Appeal.objects.create(
        act=act, person=alice, words=words["Appeal.words"], answer=words["Appeal.answer"], decided=now, decided_by=bob
    )
    Appeal.objects.create(act=of_hers, person=bob, words="No!", decided=now, decided_by=alice)
    return Life(alice, said)


def test_every_column_of_a_person_and_every_free_text_is_decided() -> None:
    assert set(pointing()) == set(POINTERS)
    assert set(written()) == {*WRITTEN, *OF_THE_HOUSE}
    assert not set(WRITTEN) & OF_THE_HOUSE
    for label, decided in (POINTERS | WRITTEN).items():
        assert decided.part in export.parts or decided.part.startswith("not: "), label
        assert bool(decided.why) == (decided.fate != ERASED), label


def test_what_is_to_be_in_the_export_is_there_and_what_is_not_is_not(life: Life) -> None:
    assert all(life.said[label] in texts(column) for label, column in written().items() if label in WRITTEN)
    taken = export.everything(life.person)
    whole = json.dumps(taken)
    for label, decided in WRITTEN.items():
        if decided.part in taken:
            assert life.said[label] in json.dumps(taken[decided.part]), label
        elif life.said[label] not in NAMES:
            assert life.said[label] not in whole, label
    for part in ("games", "ratings", "rooms", "history", "second_factors"):
        assert taken[part], part
    assert all(taken["rooms"].values()), taken["rooms"]
    assert all(taken["moderation"].values()), taken["moderation"]


def test_what_becomes_of_it_when_they_go_for_good_is_what_was_decided(life: Life) -> None:
    for label, (model, who) in pointing().items():
        if label != "admin.LogEntry.user":
            assert model._default_manager.filter(**{who: life.person.pk}).exists(), label
    closing.delete(life.person)
    for label, (model, who) in pointing().items():
        stays = POINTERS[label].fate == PSEUDONYM and label != "admin.LogEntry.user"
        assert model._default_manager.filter(**{who: life.person.pk}).exists() == stays, label
    for label, column in written().items():
        if label in WRITTEN:
            assert (life.said[label] in texts(column)) == (WRITTEN[label].fate == KEPT), label
    assert User.objects.get(pk=life.person.pk).name.startswith("Former ")
