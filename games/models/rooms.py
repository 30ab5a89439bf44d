"""Rooms, who sits in them, and who waits for a match.

A room's state is what its rows say, and nothing is said twice: a room plays while a game of its own has not ended.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from games.models.play import Game, new_code


class Room(models.Model):
    """A place to play one game after another, with one address."""

    class Closed(models.TextChoices):
        STALE = "stale", _("Nobody came for a long time.")
        OVER = "over", _("Nobody asked for another game.")
        LEFT = "left", _("Everybody has left.")
        OWNER = "owner", _("The owner has closed it.")
        STAFF = "staff", _("Staff has closed it.")

    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    created = models.DateTimeField(pgettext_lazy("room", "created"), default=timezone.now)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    size = models.PositiveSmallIntegerField(default=2)
    rulebook = models.CharField(max_length=2, default="fr")
    pace = models.CharField(max_length=8, choices=Game.Pace, default=Game.Pace.LIVE)
    ranked = models.BooleanField(default=False)
    public = models.BooleanField(default=True)
    # Empty where they are drawn; empty where they are those of the pace.
    faces = models.JSONField(default=list)
    limits = models.JSONField(default=dict)
    # How long the people of a match had waited for it; None for a room that somebody opened.
    waited_seconds = models.PositiveIntegerField(null=True)

    # Grows with every change: a page drops what is older than what it shows.
    version = models.PositiveIntegerField(default=1)
    touched = models.DateTimeField(default=timezone.now)
    closed = models.DateTimeField(null=True)
    why_closed = models.CharField(max_length=8, choices=Closed, blank=True)

    class Meta:
        verbose_name = _("room")
        verbose_name_plural = _("rooms")
        indexes: ClassVar = [
            models.Index(F("public"), F("touched").desc(), name="room_open", condition=Q(closed=None)),
            models.Index(F("created").desc(), name="room_matched", condition=Q(waited_seconds__isnull=False)),
            # What the administration filters by, the latest first.
            models.Index(F("id").desc(), name="room_not_closed", condition=Q(closed=None)),
            models.Index("pace", F("id").desc(), name="room_pace"),
            models.Index(F("id").desc(), name="room_ranked", condition=Q(ranked=True)),
            models.Index(F("id").desc(), name="room_casual", condition=Q(ranked=False)),
            models.Index(F("id").desc(), name="room_public", condition=Q(public=True)),
            models.Index(F("id").desc(), name="room_private", condition=Q(public=False)),
        ]

    def __str__(self) -> str:
        return self.code


class RoomSeat(models.Model):
    """Somebody in a seat of a room, or a bot that is to play there."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="room_seats")
    strength = models.CharField(max_length=12, blank=True)
    character = models.CharField(max_length=8)
    # The room's pace again: one live seat a person, whatever two requests do at once.
    live = models.BooleanField()
    agrees = models.BooleanField(default=False)
    # From the start of a game until this person has put its score sheet away.
    at_table = models.BooleanField(default=False)
    since = models.DateTimeField(default=timezone.now)
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("seat in a room")
        verbose_name_plural = _("seats in rooms")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["room", "number"], name="room_seat_a_number"),
            models.UniqueConstraint(fields=["room", "user"], name="room_seat_a_person"),
            models.UniqueConstraint(fields=["room", "character"], name="room_seat_a_character"),
            models.UniqueConstraint(fields=["user"], condition=Q(live=True), name="one_live_seat_a_person"),
            models.CheckConstraint(condition=Q(user=None) ^ Q(strength=""), name="a_person_or_a_bot"),
        ]

    def __str__(self) -> str:
        return f"{self.room_id}/{self.number}"


class Admission(models.Model):
    """A person whom somebody invited into a room, or whom its owner showed out."""

    room = models.ForeignKey(Room, models.CASCADE, related_name="admissions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="admissions")
    invited = models.BooleanField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["room", "user"], name="one_admission_a_person")]
        indexes: ClassVar = [models.Index(fields=["user", "-at"], name="admission_of_person")]

    def __str__(self) -> str:
        return f"{self.room_id}: {self.user_id}"


class Waiting(models.Model):
    """Somebody whose page waits for a match: as long as it says so every few seconds."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="waiting")
    players = models.PositiveSmallIntegerField()
    rating = models.DecimalField(max_digits=7, decimal_places=2)
    since = models.DateTimeField(default=timezone.now)
    seen = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["players", "since"], name="waiting_for_players")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.players}"


class Nudge(models.Model):
    """When a person was last told by mail that a game waits for them, and whether they want to hear of it at all."""

    seat = models.OneToOneField("games.Seat", models.CASCADE, primary_key=True, related_name="nudge")
    sent = models.DateTimeField(null=True)
    # When a worker began to send the next letter; None once the mail server has it.
    tried = models.DateTimeField(null=True)
    muted = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.seat_id)


class Meeting(models.Model):
    """When the people of a relaxed game want to be there for its next search: proposed by one, accepted by all."""

    game = models.OneToOneField("games.Game", models.CASCADE, primary_key=True, related_name="meeting")
    at = models.DateTimeField()
    # How long the game's log was when it was proposed: a search that begins later is the one it was for.
    head = models.PositiveIntegerField(default=0)
    proposed = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    accepted = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")

    def __str__(self) -> str:
        return str(self.game_id)
