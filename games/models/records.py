"""What is kept of finished games for good: the whole of each as one packed record, and figures for lists."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from games.models.play import Game, Seat


class Record(models.Model):
    """A finished game that was looked at: packed away, or parked with what is wrong with it.

    The record has no names in it: they are joined when it is given out.
    """

    game = models.OneToOneField(Game, models.CASCADE, primary_key=True, related_name="record")
    at = models.DateTimeField(auto_now_add=True, db_index=True)
    packed = models.BinaryField(null=True)
    faults = models.TextField(blank=True)

    class Meta:
        verbose_name = _("record")
        verbose_name_plural = _("records")
        constraints = [
            models.CheckConstraint(
                condition=Q(packed__isnull=False, faults="") | Q(packed__isnull=True) & ~Q(faults=""),
                name="record_or_faults",
            )
        ]
        indexes = [models.Index(fields=["at"], name="record_parked", condition=Q(packed=None))]

    def __str__(self) -> str:
        return str(self.game_id)


class Figures(models.Model):
    """What one seat did in a finished game, in columns: lists and profiles never open a record.

    Times are milliseconds. A time to a key counts from the start of the search it was stashed in, the shortest one of
    the game. The time in a place is from a lift there to the next lift elsewhere; the three make `searched_ms`.
    """

    class Plan(models.TextChoices):
        GARAGE = "garage", _("Garage only")
        OFFICE = "office", _("Up to the office")
        SAFE = "safe", _("Up to the safe")
        BAGS = "bags", _("Bags first")

    seat = models.OneToOneField(Seat, models.CASCADE, primary_key=True, related_name="figures")

    lifts = models.PositiveIntegerField()
    twice = models.PositiveIntegerField()
    stashes = models.PositiveIntegerField()
    searched_ms = models.PositiveBigIntegerField()
    iron_key_ms = models.PositiveIntegerField(null=True)
    brass_key_ms = models.PositiveIntegerField(null=True)
    garage_ms = models.PositiveIntegerField()
    office_ms = models.PositiveIntegerField()
    safe_ms = models.PositiveIntegerField()
    first_escapes = models.PositiveSmallIntegerField()

    # Tiles on the board when the searches ended, keys and drawers too.
    garage_loot = models.PositiveSmallIntegerField()
    office_loot = models.PositiveSmallIntegerField()
    safe_loot = models.PositiveSmallIntegerField()
    bags = models.PositiveSmallIntegerField()
    plan = models.CharField(max_length=6, choices=Plan, blank=True)

    art_bought = models.PositiveSmallIntegerField()
    cards_bought = models.PositiveSmallIntegerField()
    bags_opened = models.PositiveSmallIntegerField()
    completed = models.PositiveSmallIntegerField()

    silver = models.PositiveSmallIntegerField()
    gold = models.PositiveSmallIntegerField()
    uniques = models.PositiveSmallIntegerField()
    collections = models.PositiveSmallIntegerField()

    class Meta:
        verbose_name = _("figures")
        verbose_name_plural = _("figures")

    def __str__(self) -> str:
        return str(self.seat_id)
