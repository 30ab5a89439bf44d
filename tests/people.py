"""People for tests who have played before: ranked games are open to them."""

from typing import Any

from django.utils import timezone

from accounts.models import User


def established(name: str, password: str | None = None, **fields: Any) -> User:
    """A player with an account and enough casual games behind them."""
    return User.objects.create_user(name, password, **{"established_at": timezone.now(), **fields})
