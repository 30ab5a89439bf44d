"""What pages about one's games ask for: times as people read them, and where one plays."""

import time
from datetime import datetime

from django import template
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from games import pace, rooms
from games.models import Game, Seat

register = template.Library()


@register.filter
def address_of_seat(game: Game) -> str:
    return rooms.address_of_seat(game)


@register.filter
def awaited_seconds(seat: Seat) -> int | None:
    """Return how long this seat has for what the game waits for, or None where it does not wait for this seat."""
    if seat.game.wake_at is None or not pace.is_awaited(seat):
        return None
    return max(0, round(seat.game.wake_at / 1000 - time.time()))


@register.filter
def clock(seconds: int) -> str:
    """Minutes and seconds, such as 1:05."""
    return f"{seconds // 60}:{seconds % 60:02}"


@register.filter
def moment(at: datetime) -> SafeString:
    """A point in time in UTC, which site.js shows as the reader's device has it."""
    said = formats.date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")
    return format_html('<time datetime="{}" data-local>{} UTC</time>', at.isoformat(timespec="seconds"), said)
