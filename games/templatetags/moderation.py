"""What the moderators' pages ask for: games by when and between whom they were, not by their codes."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from games import history
from games.models import Game
from games.templatetags.pace import moment

register = template.Library()


@register.simple_tag
def moderated_game(game: Game, without: User | None = None) -> SafeString:
    """A link to the moderators' page of a game: its date, and who sat there besides that person."""
    seats = sorted(game.seats.all(), key=lambda seat: seat.number)
    names = ", ".join(history.name_of(seat) for seat in seats if without is None or seat.user_id != without.pk)
    address = reverse("games:moderated_game", args=[game.code])
    return format_html('<a href="{}">{}, {}</a>', address, moment(game.created), names)
