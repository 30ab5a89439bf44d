"""What somebody has played in all, counted as it is played: `careers.py` alone writes here."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Career(models.Model):
    """All counted games of one person in figures. Its row is what whoever counts for this person waits for.

    `games` to `uniques` are of games with a result. How the person left bears the names of `Seat.Conduct`, where the
    loot came from those of `Figures.Plan`.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")

    games = models.PositiveIntegerField(default=0)
    won = models.PositiveIntegerField(default=0)
    most_points = models.PositiveSmallIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    uniques = models.PositiveIntegerField(default=0)

    finished = models.PositiveIntegerField(default=0)
    left = models.PositiveIntegerField(default=0)
    missed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)

    garage = models.PositiveIntegerField(default=0)
    office = models.PositiveIntegerField(default=0)
    safe = models.PositiveIntegerField(default=0)
    bags = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("career")
        verbose_name_plural = _("careers")

    def __str__(self) -> str:
        return str(self.user_id)


class Opponent(models.Model):
    """How often somebody met another in games with a result, and who was ahead; the other one has a row of their own.

    No index finds the rows of an opponent: accounts keep their row, whatever becomes of the person.
    """

    pk = models.CompositePrimaryKey("user_id", "opponent_id")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    opponent = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    games = models.PositiveIntegerField(default=0)
    ahead = models.PositiveIntegerField(default=0)
    behind = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("opponent")
        verbose_name_plural = _("opponents")
        indexes = [models.Index(fields=["user", "-games", "opponent"], name="opponents_by_games")]

    def __str__(self) -> str:
        return f"{self.user_id}/{self.opponent_id}"

    @property
    def results(self) -> list[tuple[str, int]]:
        """How often each way, by the words that lists of games filter by."""
        return [("ahead", self.ahead), ("behind", self.behind)]
