"""Everything the house knows of a person, as one JSON document.

Each app adds its own part, by a function of the person that returns what JSON can hold:

    @export.part("games")
    def games_of(user: User) -> list[dict[str, Any]]: ...
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.utils import timezone

from accounts import tokens
from accounts.models import Trace, User

FORMAT = "midnight-export/1"
Part = Callable[[User], Any]
parts: dict[str, Part] = {}


def part(name: str) -> Callable[[Part], Part]:
    """Register what an app knows of a person under that name."""

    def register(function: Part) -> Part:
        if name in parts:
            raise ValueError(f"Two parts of the export are called {name}.")
        parts[name] = function
        return function

    return register


def everything(user: User) -> dict[str, Any]:
    return {"format": FORMAT, "at": iso(timezone.now()), **{name: of(user) for name, of in parts.items()}}


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None


@part("account")
def account(user: User) -> dict[str, Any]:
    return {
        "name": user.name,
        "guest": user.is_guest,
        "joined": iso(user.joined_at),
        "last_signed_in": iso(user.last_login),
        "last_seen_on": user.seen_on.isoformat(),
        "renamed": iso(user.renamed_at),
        "suspended_until": iso(user.suspended_until),
        "muted_until": iso(user.muted_until),
        "barred_until": iso(user.barred_until),
        "established_at": iso(user.established_at),
        "closed": iso(user.closed_at),
        "roles": [*(["administrator"] if user.is_superuser else []), *(["staff"] if user.is_staff else [])],
    }


@part("preferences")
def preferences(user: User) -> dict[str, Any]:
    return {
        "language": user.language,
        "theme": user.theme,
        "reduced_motion": user.reduced_motion,
        "patterns": user.patterns,
        "sounds": user.sounds,
        "chat": user.chat,
        "shown_by_search_engines": user.indexed,
        "mail_about_relaxed_games": user.turn_mail,
    }


@part("mail")
def mail(user: User) -> list[dict[str, Any]]:
    addresses = EmailAddress.objects.filter(user=user).order_by("pk")
    return [{"address": address.email, "confirmed": address.verified} for address in addresses]


@part("second_factors")
def second_factors(user: User) -> list[dict[str, Any]]:
    """Which there are, never their secrets."""
    return [
        {"kind": factor.type, "name": str(factor), "added": iso(factor.created_at), "used": iso(factor.last_used_at)}
        for factor in Authenticator.objects.filter(user=user).order_by("pk")
    ]


@part("sessions")
def living_sessions(user: User) -> list[dict[str, Any]]:
    return [
        {
            "signed_in": iso(session.created_at),
            "last_seen": iso(session.last_seen_at),
            "address": session.ip,
            "browser": session.user_agent,
        }
        for session in UserSession.objects.filter(user=user).order_by("pk")
    ]


@part("tokens")
def living_tokens(user: User) -> list[dict[str, Any]]:
    return [
        {"name": token.name, "made": iso(token.made_at), "used_on": token.used_on and token.used_on.isoformat()}
        for token in tokens.listed(user)
    ]


@part("history")
def history(user: User) -> list[dict[str, Any]]:
    return [
        {"at": iso(trace.at), "what": trace.what, "by": trace.by}
        for trace in Trace.objects.filter(user=user).order_by("pk")
    ]
