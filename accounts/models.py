"""People."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """Somebody who plays, watches or keeps the rooms fair."""
