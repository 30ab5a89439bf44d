"""The public list of what was agreed on before each game: rows that the database itself never changes or deletes."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class FairnessLine(models.Model):
    """One game's line. It says nothing of the game itself, so that it can stay when the game is gone."""

    number = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    # The day whose file has it, in UTC: never earlier than that of the line before.
    day = models.DateField()
    digest = models.CharField(max_length=64)
    head = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("line of the public list")
        verbose_name_plural = _("lines of the public list")
        indexes = [models.Index(fields=["day", "number"], name="fairness_day")]

    def __str__(self) -> str:
        return str(self.number)
