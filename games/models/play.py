"""What is kept: games with their seats and their log, and the processes that look after them.

Times that the rules work with are whole milliseconds since 1970 by the site's clock (games/clock.py); `at` counts from
a game's first event. The log's rows are written by `log.py` and by nothing else.
"""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from games.models.fairness import FairnessLine

LATEST = (F("ended").desc(), F("id").desc())
# A ranked live game whose process stood still for longer is rated, and staff may look at it.
MOST_STALLED_MS = 60_000
CODE_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def new_code() -> str:
    """A game's address: nobody guesses one, and no letter of it is mistaken for another."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(10))


class Server(models.Model):
    """A process that looks after games, alive while its row changes (games/servers.py)."""

    name = models.CharField(max_length=100)
    # The database's time of day at its last sign of life.
    seen = models.BigIntegerField(db_index=True)
    # The site's time then, and how far that was ahead of the database's (games/clock.py); nothing where a process of an
    # earlier version does not say, and no skew where the database answered slowly.
    clock = models.BigIntegerField(null=True)
    skew = models.BigIntegerField(null=True)
    # When its event loop turned last; nothing where a process of an earlier version does not say.
    turned = models.BigIntegerField(null=True)
    # How it does: moves, faults, people and how long its last moves took (games/pulse.py).
    pulse = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("server")
        verbose_name_plural = _("servers")

    def __str__(self) -> str:
        return self.name


class Game(models.Model):
    """One play: what was fixed before the first move, and how far its log has come."""

    class Pace(models.TextChoices):
        LIVE = "live", _("live")
        RELAXED = "relaxed", _("relaxed")

    class Kept(models.TextChoices):
        """Where what happened stands: in the log's rows, in a record, or in the rows because it makes no record."""

        LOG = "log", _("log")
        RECORD = "record", _("record")
        PARKED = "parked", _("parked")

    class Rated(models.TextChoices):
        """What became of a ranked game on its ladder; empty while its turn has not come."""

        RATED = "rated", _("rated")
        VOID = "void", _("not rated: the game was void")
        SHORT = "short", _("not rated: not one full round with a trade was played")
        FAULT = "fault", _("not rated: the server was away for more than a minute")
        REPEAT = "repeat", _("not rated: the same players had met too often that day")
        COMPANY = "company", _("not rated: not everybody has an account")
        PARKED = "parked", _("not rated yet: somebody has to look at it")

    code = models.CharField(max_length=12, unique=True, default=new_code, editable=False)
    created = models.DateTimeField(auto_now_add=True)

    room = models.ForeignKey("games.Room", models.SET_NULL, null=True, related_name="games")
    rulebook = models.CharField(max_length=2)
    pace = models.CharField(max_length=8, choices=Pace)
    ranked = models.BooleanField(default=False)
    limits = models.JSONField()
    edition = models.CharField(max_length=20)
    markets_by = models.CharField(max_length=5)
    faces = models.JSONField(default=list)
    commitment = models.CharField(max_length=64)
    # Where it stands in the public list, from the moment when the shares are fixed. The line outlives the game.
    line = models.ForeignKey(
        FairnessLine, models.DO_NOTHING, null=True, db_constraint=False, db_index=False, related_name="+"
    )

    # The fence of the log: an event is appended only where `head` is what the writer believed.
    head = models.PositiveIntegerField(default=0)
    started_ms = models.BigIntegerField(null=True)
    wake_at = models.BigIntegerField(null=True)
    # No constraint: a process whose row is gone is dead, and its games are anybody's.
    kept_by = models.ForeignKey(Server, models.DO_NOTHING, null=True, db_constraint=False, related_name="+")
    # The people the game waits for, a bit for each seat: what makes it somebody's turn.
    awaits = models.PositiveSmallIntegerField(default=0)
    # Who has left it for good, a bit for each seat.
    left = models.PositiveSmallIntegerField(default=0)
    ended = models.DateTimeField(null=True, db_index=True)
    kept_as = models.CharField(max_length=6, choices=Kept, default=Kept.LOG)

    # How it ended, written with its last event. Ranked games of a pace are numbered in the order of their ends.
    reason = models.CharField(max_length=16, blank=True)
    rounds = models.PositiveSmallIntegerField(default=0)
    lost_ms = models.BigIntegerField(default=0)
    # How long its process lived and stood still; `lost_ms` is how long it was gone.
    stalled_ms = models.BigIntegerField(default=0, db_default=0)
    # Whether anything was traded. How much of its points a ranked game brings, in percent: less where the same players
    # had met before that day.
    traded = models.BooleanField(default=True)
    weight = models.PositiveSmallIntegerField(default=100)
    finish_seq = models.BigIntegerField(null=True)
    # Whether the careers of its players have it in them.
    counted = models.BooleanField(default=False)
    # Whether strangers find it in lists, the read API and the dumps; who has its address sees it all the same.
    listed = models.BooleanField(default=True)
    rated = models.CharField(max_length=8, choices=Rated, blank=True)
    # Taken out of the ratings after its end, by staff; its result stands.
    voided = models.DateTimeField(null=True)
    voided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name = _("game")
        verbose_name_plural = _("games")
        constraints = [
            models.UniqueConstraint(fields=["pace", "finish_seq"], name="one_finish_a_number"),
            models.UniqueConstraint(fields=["room"], condition=Q(ended=None), name="one_running_game_a_room"),
        ]
        indexes = [
            models.Index(F("wake_at"), name="game_due", condition=Q(ended=None)),
            models.Index(F("kept_by"), name="game_kept", condition=Q(ended=None)),
            models.Index(F("ended"), name="game_to_archive", condition=Q(ended__isnull=False, kept_as="log")),
            models.Index(F("id"), name="game_to_count", condition=Q(ended__isnull=False, counted=False)),
            # Lists are read from the latest end on. What they are filtered by stands in the index too, so that the few
            # games that somebody asks for are found without looking at the many others.
            models.Index(*LATEST, "rounds", name="history", condition=Q(listed=True)),
            models.Index("pace", *LATEST, "rounds", name="history_of_pace", condition=Q(listed=True)),
            models.Index("rulebook", *LATEST, "rounds", name="history_of_rulebook", condition=Q(listed=True)),
            models.Index("pace", "rulebook", *LATEST, "rounds", name="history_of_both", condition=Q(listed=True)),
            models.Index("reason", *LATEST, name="history_of_reason", condition=Q(listed=True)),
            models.Index(F("finish_seq"), name="game_parked", condition=Q(rated="parked")),
            models.Index(F("ended"), name="game_stalled", condition=Q(ranked=True, stalled_ms__gt=MOST_STALLED_MS)),
            # What the administration filters by, the latest first.
            models.Index(F("id").desc(), name="game_running", condition=Q(ended=None)),
            models.Index("pace", F("id").desc(), name="game_pace"),
            models.Index(F("id").desc(), name="game_ranked", condition=Q(ranked=True)),
            models.Index(F("id").desc(), name="game_casual", condition=Q(ranked=False)),
        ]

    def __str__(self) -> str:
        return self.code


class Seat(models.Model):
    """Who plays where in a game: fixed before its first event."""

    class Kind(models.TextChoices):
        HUMAN = "human", _("human")
        BOT = "bot", _("bot")

    class Conduct(models.TextChoices):
        FINISHED = "finished", _("stayed to the end")
        LEFT = "left", _("left the game")
        MISSED = "missed", _("missed rounds")
        REMOVED = "removed", _("removed by staff")

    game = models.ForeignKey(Game, models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=5, choices=Kind)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="seats")
    strength = models.CharField(max_length=12, blank=True)
    character = models.CharField(max_length=8)
    # A program of the player's own has played here, by a token.
    program = models.BooleanField(default=False)
    # The hash of the nonce to come, shown to everybody once all are fixed; none of a bot or of a page that gave none.
    share = models.BinaryField(max_length=32, null=True)

    # How it ended here, written with the game's last event; a void game has no places. How and when somebody left is
    # there as soon as they have.
    place = models.PositiveSmallIntegerField(null=True)
    points = models.PositiveSmallIntegerField(null=True)
    conduct = models.CharField(max_length=8, choices=Conduct, blank=True)
    left_at = models.DateTimeField(null=True)
    # By staff, or by a game that staff or a fault of ours made void.
    forgiven = models.BooleanField(default=False)
    # The game's end again: a player's games are read in this order.
    ended = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("seat")
        verbose_name_plural = _("seats")
        constraints = [
            models.UniqueConstraint(fields=["game", "number"], name="one_seat_a_number"),
            models.UniqueConstraint(fields=["game", "user"], name="one_seat_a_player"),
            models.UniqueConstraint(fields=["game", "character"], name="one_seat_a_character"),
        ]
        indexes = [
            models.Index(
                "user", F("ended").desc(), F("game").desc(), name="history_of_player", condition=Q(ended__isnull=False)
            ),
            models.Index("user", "left_at", name="seats_left", condition=Q(left_at__isnull=False)),
            # Every page of somebody signed in asks for the games that they are in.
            models.Index(F("user"), name="seats_at_tables", condition=Q(ended=None)),
        ]

    def __str__(self) -> str:
        return f"{self.game_id}/{self.number}"

    @property
    def has_left(self) -> bool:
        """Whether whoever sat there has left the game for good."""
        return bool(self.game.left >> self.number & 1)


class Finish(models.Model):
    """How many games of a ladder have ended: the number of the last one."""

    ladder = models.CharField(max_length=8, primary_key=True, choices=Game.Pace)
    last = models.BigIntegerField()

    class Meta:
        verbose_name = _("finish")
        verbose_name_plural = _("finishes")

    def __str__(self) -> str:
        return f"{self.ladder}:{self.last}"


class Event(models.Model):
    """One line of a game's log."""

    pk = models.CompositePrimaryKey("game_id", "seq")
    game = models.ForeignKey(Game, models.CASCADE, related_name="+", db_index=False)
    seq = models.PositiveIntegerField()
    at = models.BigIntegerField()
    body = models.TextField()
    # The first event of a command keeps whose it was and its id, so that it is never done twice.
    seat = models.PositiveSmallIntegerField(null=True)
    command_id = models.CharField(max_length=40, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["game", "seat", "command_id"],
                condition=~Q(command_id=""),
                name="one_event_a_command",
            )
        ]

    def __str__(self) -> str:
        return f"{self.game_id}:{self.seq}"
