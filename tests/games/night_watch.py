"""The cast of the moderation's tests: people, moderators with a second factor, and games between people."""

import time
from collections.abc import Callable

import pytest
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.core.exceptions import ValidationError
from django.test import Client

from accounts.models import User
from games.models import Act, Case, Game, Reason, Report
from games.moderation import cases, reports
from games.moderation.reports import Moment
from games.opening import NewSeat, open_game
from games.shares import seal
from tests.people import established

SECRET = "JBSWY3DPEHPK3PXP"


def somebody(name: str, **fields: object) -> User:
    return established(name, "ten black gloves", **fields)


def moderator(name: str = "Juve", *, administrator: bool = False) -> User:
    user = somebody(name, is_staff=True, is_superuser=administrator)
    totp.TOTP.activate(user, SECRET)
    RecoveryCodes.activate(user)
    return user


def client_of(user: User, *, proved: bool = False) -> Client:
    """A browser of this person's; with `proved`, one that has just asked for the second factor again."""
    client = Client()
    client.force_login(user)
    if proved:
        session = client.session
        record = {"method": "mfa", "type": "totp", "at": time.time(), "reauthenticated": True}
        session[AUTHENTICATION_METHODS_SESSION_KEY] = [record]
        session["account_authentication_methods_user"] = str(user.pk)
        session.save()
    return client


def game_of(*people: User, **options: object) -> Game:
    characters = ("violet", "scarlet", "emerald", "amber")
    seats = [NewSeat(character, person.pk) for character, person in zip(characters, people, strict=False)]
    game = open_game(seats, **options)  # type: ignore[arg-type]
    seal(game.pk)
    return game


def reported(reporter: User, about: User, reason: Reason = Reason.INSULT, game: Game | None = None) -> Report:
    return reports.file_report(reporter, about, reason, "He shouts.", Moment(game))


def decided(case: Case, by: User, verdict: Report.Verdict = Report.Verdict.UPHELD, words: str = "") -> Act:
    """The same verdict on every report of a case."""
    return cases.decide(case, by, {report.pk: verdict for report in case.reports.all()}, words)


def claimed(about: User, by: User, reporter: User) -> Case:
    return cases.claim(reported(reporter, about).case, by)


def refused(doing: Callable[[], object]) -> str | None:
    """The code with which this is refused."""
    with pytest.raises(ValidationError) as raised:
        doing()
    return raised.value.code
