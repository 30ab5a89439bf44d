"""What people say to each other beside the board, and whom they would rather not hear."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

MOST_LETTERS = 200


class Message(models.Model):
    """One thing said in a channel: the key of a preset, which everybody reads in their language, or words."""

    class Audience(models.TextChoices):
        PLAYERS = "players", _("players")
        WATCHERS = "watchers", _("watchers")

    channel = models.CharField(max_length=24)
    audience = models.CharField(max_length=8, choices=Audience)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="messages")
    at = models.DateTimeField(default=timezone.now)
    preset = models.CharField(max_length=20, blank=True)
    words = models.CharField(max_length=MOST_LETTERS, blank=True)
    hidden = models.BooleanField(default=False)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.CheckConstraint(condition=Q(preset="") ^ Q(words=""), name="a_preset_or_words"),
        ]
        indexes = [
            models.Index(fields=["channel", "audience", "id"], name="message_in_channel"),
            models.Index(fields=["author", "at"], name="message_of_author"),
            models.Index(fields=["at"], name="message_old"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class Ignored(models.Model):
    """Somebody whose words a person does not want to read. Blocked, they are not matched with each other either, and
    neither sits down in a room of the other's."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="ignoring")
    other = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    blocked = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["person", "other"], name="ignored_once")]

    def __str__(self) -> str:
        return f"{self.person_id}: {self.other_id}"
