"""What ladders are made of: the ledger, which only grows, and what is worked out from it.

A ladder is replayed as a new generation when a game in it is voided: from that game's number on its events take the
place of those of older generations, which stay for whoever wants to look. Only `ladder.py` writes here.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from games.models.play import Game
from games.rating import PROVISIONAL_GAMES, START, signed


class Ladder(models.Model):
    """How far the games of one pace are rated, and by which generation. Its row is what raters wait for."""

    pace = models.CharField(max_length=8, primary_key=True, choices=Game.Pace)
    generation = models.PositiveIntegerField(default=0)
    rated_to = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("ladder")
        verbose_name_plural = _("ladders")

    def __str__(self) -> str:
        return self.pace


class Generation(models.Model):
    """One replay of a ladder, from a game's number on; until it is whole, nobody sees it."""

    class State(models.TextChoices):
        BUILDING = "building", _("being worked out")
        CURRENT = "current", _("in force")
        DROPPED = "dropped", _("given up")

    pace = models.CharField(max_length=8, choices=Game.Pace)
    number = models.PositiveIntegerField()
    from_seq = models.BigIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.BUILDING)
    # How far it has come: which players' ratings before `from_seq` it knows, which games it has rated.
    seeded_to = models.BigIntegerField(default=0)
    seeded = models.BooleanField(default=False)
    rated_to = models.BigIntegerField()
    made = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        constraints = [models.UniqueConstraint(fields=["pace", "number"], name="one_generation_a_number")]

    def __str__(self) -> str:
        return f"{self.pace}/{self.number}"


class Rating(models.Model):
    """Where a player stands by one generation: the last event of the ledger, kept at hand."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="ratings")
    pace = models.CharField(max_length=8, choices=Game.Pace)
    generation = models.PositiveIntegerField()
    rating = models.DecimalField(max_digits=7, decimal_places=2, default=START)
    games = models.PositiveIntegerField(default=0)
    last_played = models.DateTimeField()
    # The season of the last game, and what was won and lost in it.
    season = models.DateField()
    season_gain = models.DecimalField(max_digits=7, decimal_places=2, default=0)

    class Meta:
        verbose_name = _("rating")
        verbose_name_plural = _("ratings")
        constraints = [models.UniqueConstraint(fields=["user", "pace", "generation"], name="one_rating_a_generation")]
        indexes = [
            models.Index(
                fields=["pace", "generation", "-rating", "user", "last_played"],
                name="ladder_all_time",
                condition=Q(games__gte=PROVISIONAL_GAMES),
            ),
            models.Index(
                fields=["pace", "generation", "season", "-season_gain", "user", "last_played"],
                name="ladder_of_season",
                condition=Q(games__gte=PROVISIONAL_GAMES),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.rating}"

    @property
    def shown_gain(self) -> str:
        return signed(self.season_gain)


class Milestone(models.Model):
    """Who stood at a round place of a board some moments ago: places are counted from the next milestone ahead."""

    pace = models.CharField(max_length=8, choices=Game.Pace)
    board = models.CharField(max_length=6)
    generation = models.PositiveIntegerField()
    season = models.DateField()
    place = models.PositiveIntegerField()
    score = models.DecimalField(max_digits=7, decimal_places=2)
    # The person may go, their place on the board stays.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, db_constraint=False, related_name="+")

    class Meta:
        verbose_name = _("milestone")
        verbose_name_plural = _("milestones")
        indexes = [models.Index(fields=["pace", "board", "place"], name="milestones_of_board")]

    def __str__(self) -> str:
        return f"{self.pace}/{self.board}: {self.place}"


class RatingEvent(models.Model):
    """One line of the ledger: what one game did to one player, by one generation."""

    game = models.ForeignKey(Game, models.PROTECT, related_name="rating_events")
    player = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="rating_events", db_index=False)
    generation = models.PositiveIntegerField()
    pace = models.CharField(max_length=8, choices=Game.Pace)
    finish_seq = models.BigIntegerField()
    at = models.DateTimeField()
    before = models.DecimalField(max_digits=7, decimal_places=2)
    delta = models.DecimalField(max_digits=6, decimal_places=2)
    after = models.DecimalField(max_digits=7, decimal_places=2)
    k = models.PositiveSmallIntegerField()
    games_before = models.PositiveIntegerField()
    # The player's season as it stands after this game.
    season = models.DateField()
    season_gain = models.DecimalField(max_digits=7, decimal_places=2)
    # The best rating that the winner of a listed game was ahead of.
    beaten = models.DecimalField(max_digits=7, decimal_places=2, null=True)

    class Meta:
        verbose_name = _("rating event")
        verbose_name_plural = _("rating events")
        constraints = [
            models.UniqueConstraint(fields=["game", "player", "generation"], name="one_rating_event_a_game"),
        ]
        indexes = [
            models.Index(fields=["player", "pace", "finish_seq"], name="ledger_of_player"),
            models.Index(fields=["pace", "finish_seq"], name="ledger_in_order"),
            models.Index(
                fields=["player", "pace", "-beaten", "-finish_seq"],
                name="best_wins",
                condition=Q(beaten__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.game_id}/{self.player_id}: {self.delta}"

    @property
    def shown_delta(self) -> str:
        return signed(self.delta)
