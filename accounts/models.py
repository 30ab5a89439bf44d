"""People: who they are, the names they hold, and what became of their sessions."""

import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connections, models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts import looks

FOREVER = datetime(9999, 12, 31, tzinfo=UTC)
NAME_COLUMN = 40
GUEST_NAMES = "Badger Bat Cat Cricket Fox Gecko Heron Jackdaw Lynx Magpie Marten Moth Otter Owl Raven Stoat".split()


def name_taken() -> ValidationError:
    return ValidationError(_("This name, or one that looks like it, is taken."), code="name_taken")


@contextmanager
def the_database_deciding() -> Iterator[None]:
    """Of two people who take one name at the same moment, the later one is told so."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise name_taken() from None


class UserManager(BaseUserManager["User"]):
    def create_user(
        self, name: str, password: str | None = None, *, of_the_house: bool = False, **fields: Any
    ) -> "User":
        """A named account; ValidationError where the name is not allowed or taken."""
        user = self.model(name=looks.check(name, of_the_house=of_the_house), **fields)
        user.set_password(password)
        with transaction.atomic():
            TakenName.objects.refuse_taken(user.name)
            with the_database_deciding():
                user.save(using=self._db)
            TakenName.objects.take(user, user.name)
        return user

    def create_superuser(self, name: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(name, password, of_the_house=True, is_staff=True, is_superuser=True, **fields)

    def create_guest(self, **fields: Any) -> "User":
        """Somebody who gave no name: an account of its own, which cannot be signed in to."""
        for digits in range(4, 20):
            name = f"Guest {secrets.choice(GUEST_NAMES)} {secrets.randbelow(10**digits):0{digits}}"
            user = self.model(name=name, is_guest=True, **fields)
            user.set_unusable_password()
            try:
                with transaction.atomic():
                    user.save(using=self._db)
            except IntegrityError:
                continue
            return user
        raise RuntimeError("No name is left for a guest.")

    def called(self, beginning: str) -> models.QuerySet["User"]:
        """Whose names begin so: PostgreSQL's index knows beginnings, SQLite's knows what lies between two bounds."""
        folded = looks.fold(beginning)
        if connections[self.db].vendor == "sqlite":
            return self.filter(folded_name__gte=folded, folded_name__lt=folded + chr(0x10FFFF))
        return self.filter(folded_name__startswith=folded)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(folded_name=looks.fold(username or ""))


class Role(models.TextChoices):
    """What somebody looks after. Rights follow from it and from nothing else: there are no groups and permissions."""

    PLAYER = "player", _("no role")
    MODERATOR = "moderator", _("moderator")
    ADMINISTRATOR = "administrator", _("administrator")


class User(AbstractBaseUser, PermissionsMixin):
    """Somebody who plays, watches or keeps the rooms fair.

    The row outlives the person: games point at it. A deleted account keeps its row under a pseudonym, with nothing left
    in it that says who it was. Mail addresses are allauth's `EmailAddress` rows; there is no second copy here.
    """

    class Theme(models.TextChoices):
        SYSTEM = "system", _("As the device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    name = models.CharField(_("name"), max_length=NAME_COLUMN, unique=True)
    folded_name = models.CharField(max_length=3 * NAME_COLUMN, unique=True, editable=False)
    is_guest = models.BooleanField(_("guest"), default=False)
    is_staff = models.BooleanField(_("staff"), default=False)
    joined_at = models.DateTimeField(_("joined"), default=timezone.now, editable=False)
    seen_on = models.DateField(_("last seen"), default=timezone.localdate, editable=False, db_index=True)

    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES, blank=True)
    theme = models.CharField(_("light or dark"), max_length=8, choices=Theme.choices, default=Theme.SYSTEM)
    reduced_motion = models.BooleanField(_("reduced motion"), default=False)
    patterns = models.BooleanField(_("patterns beside colours"), default=False)
    sounds = models.BooleanField(_("sounds"), default=True)
    chat = models.BooleanField(_("chat"), default=True)
    # Search engines show stories and replays of public games whose players all allow it.
    indexed = models.BooleanField(_("games shown by search engines"), default=True, db_default=True)
    # Mail when a relaxed game waits for this person, or a time for one is proposed.
    turn_mail = models.BooleanField(_("mail about relaxed games"), default=True, db_default=True)

    renamed_at = models.DateTimeField(null=True, editable=False)
    must_change_password = models.BooleanField(_("must set a new password"), default=False)
    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    suspended_until = models.DateTimeField(_("suspended until"), null=True, blank=True, editable=False)
    muted_until = models.DateTimeField(_("muted until"), null=True, blank=True, editable=False)
    barred_until = models.DateTimeField(_("barred from ranked games until"), null=True, blank=True, editable=False)
    # Since when ranked games are open to this person: they have played enough casual ones.
    established_at = models.DateTimeField(null=True, editable=False)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True, editable=False)

    USERNAME_FIELD = "name"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(is_guest=False) | models.Q(is_staff=False, is_superuser=False),
                name="guest_is_no_staff",
            )
        ]
        indexes = [
            models.Index(
                fields=["closed_at"],
                name="account_closed",
                condition=models.Q(closed_at__isnull=False, deleted_at__isnull=True),
            ),
            # What the administration filters by, the latest first.
            models.Index(fields=["-id"], name="account_staff", condition=models.Q(is_staff=True)),
            models.Index(fields=["-id"], name="account_superuser", condition=models.Q(is_superuser=True)),
            models.Index(fields=["-id"], name="account_guest", condition=models.Q(is_guest=True)),
            models.Index(fields=["-id"], name="account_named", condition=models.Q(is_guest=False)),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.folded_name = looks.fold(self.name)
        if update_fields is not None and "name" in update_fields:
            update_fields = {*update_fields, "folded_name"}
        super().save(*args, update_fields=update_fields, **kwargs)

    @property
    def is_active(self) -> bool:  # type: ignore[override]
        """Whether one can sign in at all. A closed account can: that opens it again."""
        return self.deleted_at is None

    @property
    def is_found(self) -> bool:
        """Whether others find this person: not while the account is closed; once deleted it has a pseudonym."""
        return self.closed_at is None or self.deleted_at is not None

    @property
    def has_page(self) -> bool:
        """Whether there is a page about this person that a name may lead to."""
        return self.is_found and not self.is_guest

    @property
    def is_suspended(self) -> bool:
        return self.suspended_until is not None and self.suspended_until > timezone.now()

    @property
    def is_gone(self) -> bool:
        """Away from the site, for a while or for good: nobody waits for them, and no page or program lets them in."""
        return self.is_suspended or self.closed_at is not None or self.deleted_at is not None

    @property
    def role(self) -> Role:
        if not self.is_staff:
            return Role.PLAYER
        return Role.ADMINISTRATOR if self.is_superuser else Role.MODERATOR

    @property
    def is_muted(self) -> bool:
        return self.muted_until is not None and self.muted_until > timezone.now()

    @property
    def is_barred(self) -> bool:
        """Whether ranked games are shut to this person for now."""
        return self.barred_until is not None and self.barred_until > timezone.now()

    def get_session_auth_hash(self) -> str:
        return self._session_hash(settings.SECRET_KEY)

    def get_session_auth_fallback_hash(self) -> Iterable[str]:
        for secret in settings.SECRET_KEY_FALLBACKS:
            yield self._session_hash(secret)

    def _session_hash(self, secret: str | bytes) -> str:
        """Another one after each change of password and each `sessions.end_all`: older sessions die by it."""
        content = f"{self.password}:{self.session_epoch}"
        return salted_hmac("accounts.User.session", content, secret=secret, algorithm="sha256").hexdigest()


class TakenNameManager(models.Manager["TakenName"]):
    @staticmethod
    def marks(name: str) -> list[str]:
        return sorted(hashlib.sha256(look.encode()).hexdigest() for look in looks.looks(name))

    def is_free(self, name: str, *, to: User | None = None) -> bool:
        """Whether nobody but `to` holds, or ever held, a name that looks like this one."""
        others = self.filter(mark__in=self.marks(name))
        return not (others.exclude(holder=to) if to else others).exists()

    def refuse_taken(self, name: str, *, to: User | None = None) -> None:
        if not self.is_free(name, to=to):
            raise name_taken()

    def take(self, user: User, name: str) -> None:
        """Make the name and its looks this person's for good; ValidationError where another has one of them."""
        self.refuse_taken(name, to=user)
        own = set(self.filter(holder=user).values_list("mark", flat=True))
        with the_database_deciding():
            self.bulk_create(TakenName(mark=mark, holder=user) for mark in self.marks(name) if mark not in own)


class TakenName(models.Model):
    """One look of one name that was ever given, as a hash: it survives its holder, so no name is given twice."""

    mark = models.CharField(max_length=64, primary_key=True)
    holder = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="taken_names")

    objects = TakenNameManager()

    def __str__(self) -> str:
        return self.mark


class EndedSession(models.Model):
    """One session, or all of a person's, that ended before its time: what every process looks for each second."""

    class Reason(models.TextChoices):
        SIGNED_OUT = "signed_out", _("signed out")
        PASSWORD = "password", _("password changed")
        SUSPENDED = "suspended", _("suspended")
        CLOSED = "closed", _("account closed")
        DELETED = "deleted", _("account deleted")
        RESCUED = "rescued", _("access given back")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    session_key = models.CharField(max_length=40, blank=True)
    epoch = models.PositiveIntegerField()
    reason = models.CharField(max_length=16, choices=Reason.choices)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.user_id}: {self.reason}"

    def ends(self, session_key: str | None, session_epoch: int) -> bool:
        """Whether this row ends a session of its person with that key, begun when the person's epoch was that."""
        if self.session_key:
            return self.session_key == session_key
        return session_epoch < self.epoch


class ApiToken(models.Model):
    """What a program plays with in its owner's name. The secret itself was shown once; here is its hash."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(_("name"), max_length=40)
    mark = models.CharField(max_length=64, unique=True)
    # Ends with the sessions of its time: a new password, a suspension, signing out everywhere.
    epoch = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)
    used_on = models.DateField(null=True)

    class Meta:
        verbose_name = pgettext_lazy("API", "token")
        verbose_name_plural = _("tokens")

    def __str__(self) -> str:
        return f"{self.user_id}: {self.name}"

    @property
    def session_key(self) -> str:
        """What stands for a session's key where this token's connections end."""
        return f"token:{self.pk}"


class Trace(models.Model):
    """One line of an account's history that its owner may read: what happened to its keys, and by whom."""

    class What(models.TextChoices):
        JOINED = "joined", _("Account made")
        NAMED = "named", _("Guest became a named account")
        RENAMED = "renamed", _("Name changed")
        PASSWORD = "password", _("Password changed")
        MAIL = "mail", _("Mail address changed")
        FACTOR_ADDED = "factor_added", _("Second factor added")
        FACTOR_REMOVED = "factor_removed", _("Second factor removed")
        SIGNED_OUT = "signed_out", _("Signed out everywhere")
        TOKEN_MADE = "token_made", _("Token made for a program")
        TOKEN_REVOKED = "token_revoked", _("Token revoked")
        EXPORTED = "exported", _("Data exported")
        RESCUED = "rescued", _("Access given back by staff")
        SUSPENDED = "suspended", _("Suspended")
        LIFTED = "lifted", _("Suspension lifted")
        MUTED = "muted", _("Muted")
        UNMUTED = "unmuted", _("May speak again")
        BARRED = "barred", _("Barred from ranked games")
        UNBARRED = "unbarred", _("May play ranked games again")
        ROLE = "role", _("Role given or taken")
        CLOSED = "closed", _("Account closed")
        REOPENED = "reopened", _("Account opened again")

    # Who of the staff acted is not for whom it was done to: that stands in the moderators' log.
    STAFF = "staff"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="traces")
    what = models.CharField(max_length=16, choices=What.choices)
    by = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["user", "-at"], name="trace_of_user")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.what}"

    @property
    def by_whom(self) -> str:
        """As its owner reads it; empty for themselves."""
        return gettext("staff") if self.by == self.STAFF else self.by
