"""What a person has to do before anything else: set a new password, or protect an account that could harm others."""

from dataclasses import dataclass
from typing import Final

from allauth.mfa.models import Authenticator
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User

ALWAYS = {"account_logout", "account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"}


@dataclass(frozen=True)
class Duty:
    """The page where it is done, the pages that belong to it, and a sentence on why."""

    page: str
    pages: frozenset[str]
    why: str | Promise


NEW_PASSWORD: Final = Duty(
    "account_change_password",
    frozenset({"account_change_password", *ALWAYS}),
    _("Before anything else, please choose a password that only you know."),
)
SECOND_FACTOR: Final = Duty(
    "mfa_index",
    frozenset(
        {
            "mfa_index",
            "mfa_activate_totp",
            "mfa_add_webauthn",
            "mfa_view_recovery_codes",
            "mfa_generate_recovery_codes",
            "mfa_download_recovery_codes",
            *ALWAYS,
        }
    ),
    _("Your account may act on others, so a password alone is not enough: please add a passkey or an app's codes."),
)


def has_second_factor(user: User) -> bool:
    factors = Authenticator.objects.filter(user=user)
    return bool(factors.exclude(type=Authenticator.Type.RECOVERY_CODES).exists())


def first_duty(user: User) -> Duty | None:
    """What stands before everything else for this person; a socket must not open either while there is any."""
    if user.must_change_password:
        return NEW_PASSWORD
    if (user.is_staff or user.is_superuser) and not has_second_factor(user):
        return SECOND_FACTOR
    return None
