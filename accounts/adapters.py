"""What allauth asks of this house: who may come in, how letters go out, where secrets lie."""

import base64
import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts import addresses, attempts, closing, letters, sessions, signing
from accounts.attempts import Attempt
from accounts.models import User
from accounts.site_links import link_to


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _("This name or mail address and this password do not belong together."),
        "email_password_mismatch": _("This name or mail address and this password do not belong together."),
        "incorrect_password": _("That is not your password."),
        "enter_current_password": _("That is not your present password."),
        "incorrect_code": _("This code is not right, or no longer. Please enter the next one."),
        "too_many_login_attempts": _("Too many attempts. Please wait ten minutes and try again."),
        "too_many_attempts_today": _(
            "Too many attempts from your network today. Try again tomorrow, or on a device you have used here."
        ),
        "rate_limited": _("Too many attempts. Please wait a little and try again."),
        "duplicate_email": _("This is your address already."),
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        """The whole address, as people see it of their sessions; limits count the household of it by themselves."""
        return addresses.of_request(request)

    def is_safe_url(self, url: str | None) -> bool:
        """Whether one may be sent on to it: an address of this site. A bare word would be taken for a view's name."""
        return "/" in (url or "") and bool(super().is_safe_url(url))

    # Coming in and going out ------------------------------------------------------------------------------------------

    def login(self, request: HttpRequest, user: User) -> None:
        """A suspended person who has proved who they are, by all that they have, may read until when; and stays out."""
        if user.is_suspended:
            signing.remember_suspended(request, user)
            raise ImmediateHttpResponse(redirect("accounts:suspended"))
        if request.user.pk != user.pk:
            sessions.end_current(request)
        super().login(request, user)
        # Whoever has just signed in need not prove it again before the next delicate step.
        record_authentication(request, user, method="signed_in", reauthenticated=True)

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        if user.closed_at and closing.reopen(user):
            messages.success(request, gettext("Welcome back: your account is open again."))
        response: HttpResponse = super().post_login(request, user, **kwargs)
        return response

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        return redirect("account_login")

    def set_password(self, user: User, password: str) -> None:
        user.set_password(password)
        user.must_change_password = False
        user.save(update_fields=["password", "must_change_password"])

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("accounts:settings")

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        return reverse("account_email" if self.request.user.is_authenticated else "account_login")

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        login = _login_of(credentials)
        user = signing.person_of(login)
        self._attempt = attempts.of_password(request, _account_of(login, user), user)
        refuse_too_many(self, self._attempt)

    def _rollback_login_failed_rl_usage(self) -> None:
        """What allauth calls where the password was right."""
        self._attempt.give_back()

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        """A new password by mail opens the way from here, for the address and for the name."""
        login = _login_of(credentials)
        user = signing.person_of(login)
        attempts.forget(request, _account_of(login, user))
        if user is not None:
            attempts.forget(request, _account_of(user.name, user))

    # Letters ----------------------------------------------------------------------------------------------------------

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        facts = {key: value for key, value in context.items() if key not in {"user", "request"}}
        letters.send(email, template_prefix, user=context.get("user"), **facts)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        facts = {"at": timezone.now(), "from_address": self.get_client_ip(self.request), **(context or {})}
        if email:
            letters.send(email, template_prefix, user=user, **facts)
        else:
            letters.to_person(user, template_prefix, **facts)

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return link_to("account_confirm_email", emailconfirmation.key)


def refuse_too_many(adapter: AccountAdapter, attempt: Attempt) -> None:
    """ValidationError where there were too many tries, with a sentence that says for how long to wait."""
    if attempt.refused_by is not None:
        today = attempt.refused_by.seconds == attempts.DAY
        raise adapter.validation_error("too_many_attempts_today" if today else "too_many_login_attempts")


def _login_of(credentials: dict[str, Any]) -> str:
    return str(credentials.get("username") or credentials.get("email") or "").strip()


def _account_of(login: str, user: User | None) -> str:
    """What tries count for: the account, however its name is spelled, or the address that was typed.

    Names are public, addresses are not: were one counter for both, ten wrong passwords for a name would tell of any
    address whether it is that person's.
    """
    if "@" in login:
        return f"mail:{login.lower()}"
    return f"user:{user.pk}" if user else f"name:{login.casefold()}"


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("This code is not right, or no longer. Please enter the next one."),
    }

    def encrypt(self, text: str) -> str:
        return keyring().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return keyring().decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": settings.SITE.hostname or "localhost", "name": "Midnight"}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        count = Authenticator.objects.filter(user=user, type=type).count()
        return gettext("Passkey") if not count else gettext("Passkey %(number)d") % {"number": count + 1}


def keyring() -> MultiFernet:
    """What secrets of apps and recovery codes are encrypted with: keys made from SECRET_KEY and its forerunners."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hashlib.sha256(b"accounts.second-factor:" + force_bytes(secret)).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
