"""What recounts find: whether what is kept beside the games is what the games say."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Proof(models.Model):
    """The last recount of one thing, and in how much of it that differed from what was kept."""

    class Of(models.TextChoices):
        LIVE = "live", _("ratings of live games")
        RELAXED = "relaxed", _("ratings of relaxed games")
        CAREERS = "careers", _("careers")

    of = models.CharField(max_length=8, primary_key=True, choices=Of)
    at = models.DateTimeField()
    differences = models.PositiveIntegerField()

    class Meta:
        verbose_name = _("proof")
        verbose_name_plural = _("proofs")

    def __str__(self) -> str:
        return f"{self.of}: {self.differences}"


def keep_proof(of: str, differences: int) -> None:
    """A recount of this has come to its end."""
    Proof.objects.update_or_create(of=of, defaults={"at": timezone.now(), "differences": differences})
