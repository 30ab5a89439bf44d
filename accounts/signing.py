"""Who somebody is: by name or mail address and password. And how a visitor becomes a person of the house."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.backends import ModelBackend
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from accounts import looks
from accounts.models import Trace, User


def person_of(login: str) -> User | None:
    """Whose name, or whose confirmed mail address, this is. No name has an @ in it."""
    login = login.strip()
    if "@" in login:
        address = EmailAddress.objects.filter(email=login.lower(), verified=True).select_related("user").first()
        return address.user if address else None
    return User.objects.filter(folded_name=looks.fold(login), is_guest=False).first()


class NameOrMailBackend(ModelBackend):
    """Signs in by name or confirmed mail address; it takes as long to refuse a stranger as to refuse a password."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **others: Any
    ) -> User | None:
        if not username or not password:
            return None
        user = person_of(username)
        if user is None:
            User().set_password(password)
            return None
        return user if user.check_password(password) and self.user_can_authenticate(user) else None


def sign_up(name: str, password: str, *, mail: str = "", **preferences: Any) -> User:
    """A new named account. The mail address counts only when it has been confirmed."""
    with transaction.atomic():
        user = User.objects.create_user(name, password, **preferences)
        remember_mail(user, mail)
        Trace.objects.create(user=user, what=Trace.What.JOINED)
    return user


def remember_mail(user: User, mail: str) -> None:
    """Keep an address until it is confirmed. Whether somebody else has it is nobody's business, so it is not asked."""
    if mail:
        EmailAddress.objects.create(user=user, email=mail.lower(), primary=True, verified=False)


def remember_suspended(request: HttpRequest, user: User) -> None:
    """Who proved here that they are somebody who is suspended reads what was written to them, and appeals."""
    request.session.cycle_key()
    request.session["suspended"] = {"person": user.pk, "proof": user.get_session_auth_hash()}


def suspended_person(request: HttpRequest) -> User | None:
    """Whoever proved so, as long as they are suspended and nothing has ended their sessions since."""
    known = request.session.get("suspended", {})
    user = User.objects.filter(pk=known.get("person"), deleted_at=None).first()
    if user is None or not user.is_suspended:
        return None
    return user if constant_time_compare(known["proof"], user.get_session_auth_hash()) else None
