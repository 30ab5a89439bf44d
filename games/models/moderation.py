"""What keeps the rooms fair: reports, the cases they gather in, acts with their log, letters and appeals.

The log of acts only ever grows: no code changes or deletes a row, and a trigger in the database refuses to. Only what
tells of a person who deleted their account is taken out of it. So its links to people and games bind nothing: what they
point at may go, the row stays as it was written.
"""

from typing import Any, Never

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import Role
from games.models.play import Game

MOST_WORDS = 1_000


class Reason(models.TextChoices):
    """Why somebody is reported, and why somebody is acted on."""

    THREAT = "threat", _("Threats")
    INSULT = "insult", _("Insults or hate")
    NAME = "name", _("An offensive name")
    SPAM = "spam", _("Advertising or flooding")
    CHEATING = "cheating", _("Cheating")
    COLLUSION = "collusion", _("Playing together against others")
    THROWING = "throwing", _("Losing on purpose")
    STALLING = "stalling", _("Stalling or leaving")
    REPORTS = "reports", _("Reports that were false on purpose")
    STALE = "stale", _("Nobody used it")
    OTHER = "other", _("Something else")


class Case(models.Model):
    """What was reported about one person since the last decision about them."""

    class Outcome(models.TextChoices):
        ACTED = "acted", _("Something was done")
        UNFOUNDED = "unfounded", _("Nothing was found")
        ABUSIVE = "abusive", _("Reported falsely on purpose")

    about = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="cases")
    opened = models.DateTimeField(_("opened"), default=timezone.now)
    urgency = models.PositiveSmallIntegerField(_("urgency"), default=0)
    # Whether that counts a game in it that runs: to be weighed anew at its end.
    live = models.BooleanField(default=False)
    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    claimed_at = models.DateTimeField(null=True)
    decided = models.DateTimeField(_("decided"), null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome, blank=True)

    class Meta:
        verbose_name = _("case")
        verbose_name_plural = _("cases")
        constraints = [
            models.UniqueConstraint(fields=["about"], condition=Q(decided=None), name="one_open_case_a_person"),
        ]
        indexes = [
            models.Index(F("urgency").desc(), F("opened"), name="case_queue", condition=Q(decided=None)),
            # What the administration filters by, the latest first.
            models.Index(F("id").desc(), name="case_open", condition=Q(decided=None)),
            models.Index("outcome", F("id").desc(), name="case_outcome"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class Report(models.Model):
    """One person's word about another, with the moment it is about."""

    class Verdict(models.TextChoices):
        """What a moderator found of it."""

        UPHELD = "upheld", _("It was so")
        UNFOUNDED = "unfounded", _("Nothing was found")
        ABUSIVE = "abusive", _("Reported falsely on purpose")

    case = models.ForeignKey(Case, models.CASCADE, related_name="reports")
    reporter = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="reports_made")
    about = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="reports")
    at = models.DateTimeField(_("at"), default=timezone.now)
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    words = models.CharField(_("words"), max_length=MOST_WORDS, blank=True)
    game = models.ForeignKey(Game, models.SET_NULL, null=True, related_name="reports")
    seq = models.PositiveIntegerField(null=True)
    message = models.PositiveBigIntegerField(null=True)
    # Where that was said: messages are forgotten, and who sat there has a side in the case all the same.
    channel = models.CharField(max_length=24, blank=True)
    said = models.CharField(max_length=500, blank=True)
    # Which reports in a case came from one household: a keyed hash that is another one in each person's cases.
    household = models.CharField(max_length=16, blank=True)
    verdict = models.CharField(_("verdict"), max_length=10, choices=Verdict, blank=True)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        indexes = [models.Index(fields=["reporter", "at"], name="report_of_reporter")]

    def __str__(self) -> str:
        return str(self.pk)


class Glance(models.Model):
    """What stood out when somebody's last games were looked over: figures for a moderator, never a verdict."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="glance")
    at = models.DateTimeField()
    # The end of the latest game that was looked at.
    last = models.DateTimeField()
    # The signs that were raised: key, value, of how many, and the number of whom it names, if it names somebody.
    raised = models.JSONField(default=list)
    stands_out = models.BooleanField(default=False)

    class Meta:
        indexes = [models.Index(F("at").desc(), name="glance_raised", condition=Q(stands_out=True))]

    def __str__(self) -> str:
        return str(self.pk)


class What(models.TextChoices):
    """What staff can do."""

    WARN = "warn", _("Warned")
    MUTE = "mute", _("Muted")
    BAR = "bar", _("Barred from ranked games")
    SUSPEND = "suspend", _("Suspended")
    RENAME = "rename", _("Renamed")
    HIDE = "hide", _("Message hidden")
    CLOSE_ROOM = "close_room", _("Room closed")
    REMOVE = "remove", _("Removed from a room or game")
    END_GAME = "end_game", _("Game ended as void")
    HAND_OVER = "hand_over", _("Room given to another owner")
    WATCH = "watch", _("Watched unseen")
    VOID_GAME = "void_game", _("Game void for the ratings")
    FORGIVE = "forgive", _("Conduct forgiven")
    ROLE = "role", _("Role given or taken")
    DECIDE = "decide", _("Case decided")
    UNDO = "undo", _("Act undone")


# Why some acts cannot be undone. Everything else has an undo.
FINAL: dict[str, str | Promise] = {
    What.END_GAME: _("A game that was ended is over for good."),
    What.WATCH: _("What was seen stays seen."),
    What.UNDO: _("Do the act again instead."),
}


# What an act keeps of a person for its undo: a name that was taken away, words that were hidden.
PERSONAL = frozenset({"name", "said"})


class WrittenOnce(models.QuerySet["Act"]):
    """Rows that are added and read."""

    def update(self, **fields: Any) -> Never:
        raise TypeError("The log of acts is never changed.")

    def delete(self) -> Never:
        raise TypeError("Nothing is deleted from the log of acts.")

    def redact(self, person_id: int) -> None:
        """Take out of every line about a person who deleted their account the words to them, their former name and what
        they said."""
        for act in self.filter(person=person_id).order_by("pk").iterator():
            kept = {"before": _impersonal(act.before), "after": _impersonal(act.after)}
            super(WrittenOnce, self.filter(pk=act.pk)).update(words="", **kept)


def _impersonal(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key not in PERSONAL}


def _loose(to: Any) -> Any:
    """A link that binds nothing: the log outlives what it speaks of."""
    return models.ForeignKey(to, models.DO_NOTHING, null=True, db_constraint=False, related_name="+")


class Act(models.Model):
    """One line of the log: who did what to whom, why, and what it changed."""

    at = models.DateTimeField(_("at"), default=timezone.now, db_index=True)
    by = _loose(settings.AUTH_USER_MODEL)
    person = _loose(settings.AUTH_USER_MODEL)
    what = models.CharField(_("what"), max_length=12, choices=What)
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    words = models.CharField(_("words"), max_length=MOST_WORDS, blank=True)
    until = models.DateTimeField(_("until"), null=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    case = _loose(Case)
    game = _loose(Game)
    room = models.CharField(_("room"), max_length=12, blank=True)
    message = models.PositiveBigIntegerField(null=True)
    undoes = models.OneToOneField(
        "self", models.DO_NOTHING, null=True, db_constraint=False, related_name="undone_by", verbose_name=_("undoes")
    )

    objects = WrittenOnce.as_manager()

    class Meta:
        verbose_name = _("act")
        verbose_name_plural = _("log of acts")
        indexes = [
            models.Index(fields=["by", "at"], name="act_by"),
            models.Index(fields=["person", "at"], name="act_on"),
            models.Index("what", F("id").desc(), name="act_what"),
            models.Index("reason", F("id").desc(), name="act_reason"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise TypeError("The log of acts is never changed.")
        super().save(*args, **{**kwargs, "force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> Never:
        raise TypeError("Nothing is deleted from the log of acts.")

    @property
    def may_be_undone(self) -> bool:
        return self.what not in FINAL and not self.is_undone

    @property
    def why_final(self) -> str | Promise:
        """Why this cannot be undone; empty where it can."""
        return FINAL.get(self.what, "")

    @property
    def role_now(self) -> str:
        """The role that this gave or took, in words; empty where it is about something else."""
        return str(Role(self.after["role"]).label) if "role" in self.after else ""

    @property
    def tells_why(self) -> bool:
        """Whether its reason and words are for whoever has a letter about it; those of a decision are for the log."""
        said_of = self.undoes if self.undoes_id else self
        return said_of is None or said_of.what != What.DECIDE

    @property
    def is_undone(self) -> bool:
        return hasattr(self, "undone_by")


class Letter(models.Model):
    """What the site has told one person; it is put into words when they read it, in their language."""

    class Kind(models.TextChoices):
        ACT = "act", _("About you")
        UNDONE = "undone", _("Taken back")
        DECIDED = "decided", _("Your report")
        REFUSED = "refused", _("Your appeal")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="letters")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=8, choices=Kind)
    act = _loose(Act)
    report = models.ForeignKey(Report, models.CASCADE, null=True, related_name="+")
    words = models.CharField(max_length=MOST_WORDS, blank=True)
    read = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("letter")
        verbose_name_plural = _("letters")
        indexes = [models.Index(fields=["person", "-at"], name="letter_of_person")]

    def __str__(self) -> str:
        return str(self.pk)


class Appeal(models.Model):
    """A person's answer to an act that concerned them, for another moderator to decide."""

    act = models.ForeignKey(Act, models.CASCADE, related_name="appeals")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="appeals")
    at = models.DateTimeField(default=timezone.now)
    words = models.CharField(_("words"), max_length=MOST_WORDS)
    decided = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    granted = models.BooleanField(null=True)
    answer = models.CharField(max_length=MOST_WORDS, blank=True)

    class Meta:
        verbose_name = _("appeal")
        verbose_name_plural = _("appeals")
        constraints = [models.UniqueConstraint(fields=["act", "person"], name="one_appeal_a_person")]
        indexes = [
            models.Index(fields=["at"], name="appeal_open", condition=Q(decided=None)),
            models.Index(F("id").desc(), name="appeal_waits", condition=Q(decided=None)),
        ]

    def __str__(self) -> str:
        return str(self.pk)
