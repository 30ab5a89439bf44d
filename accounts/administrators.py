"""The first administrator of an empty site."""

import secrets

from django.core.exceptions import ValidationError

from accounts.models import User

# No letter or digit that could be read as another: a one-time password is typed from a screen.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
NAMES = ["Commissaire", *(f"Commissaire {number}" for number in range(2, 100))]


def one_time_password() -> str:
    """About 98 bits, in four groups that a person can type."""
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(5)) for _ in range(4))


def make_first_administrator() -> tuple[str, str] | None:
    """Name and one-time password of a new administrator, or None where the site has one already.

    Signing in with it leads to a new password and a second factor before anything else.
    """
    if User.objects.filter(is_superuser=True, deleted_at=None).exists():
        return None
    password = one_time_password()
    for name in NAMES:
        try:
            User.objects.create_superuser(name, password, must_change_password=True)
        except ValidationError:
            continue
        return name, password
    raise RuntimeError("No name is left for a first administrator: make one with `manage.py createsuperuser`.")
