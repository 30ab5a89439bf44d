"""Until when something lasts, as people read it: a moment, or for good."""

from datetime import datetime

from django import template
from django.utils import formats, timezone
from django.utils.translation import gettext

from accounts.models import FOREVER

register = template.Library()


@register.filter
def is_for_good(moment: datetime) -> bool:
    return moment >= FOREVER


@register.filter
def until(moment: datetime, name: str = "DATETIME_FORMAT") -> str:
    """The moment in the format of that name."""
    return gettext("for good") if is_for_good(moment) else formats.date_format(timezone.localtime(moment), name)
