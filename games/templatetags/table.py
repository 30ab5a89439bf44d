"""What the fragments of a running game ask for: {% buy %}, names of things, sentences about the end."""

from collections.abc import Sequence

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from games import names, showing
from games.opening import Sitter
from games.rules.edition import Art, Edition
from games.rules.state import Reason

register = template.Library()

WHY_OVER: dict[Reason, str | Promise] = {
    "bag_opened_empty": _("Somebody opened a leather bag while the bag of art was empty."),
    "bag_empty": _("The bag of art has run out. That is how a game ends."),
    "deck_short": _("The prestige cards have run out. That is how a game ends."),
    "abandoned": _("All the others have left."),
    "void": _("The game was ended without a result."),
}


@register.simple_tag
def buy(market: int, what: str, slot: int, pay: Sequence[int]) -> str:
    """The command that a ware stands for, in the words of the table's protocol."""
    return showing.buying(market, what, slot, pay)


@register.filter
def same(one: object, other: object) -> bool:
    return one == other


@register.filter
def others(sitters: Sequence[Sitter], person_id: int | None) -> list[Sitter]:
    """Who of them is somebody, and not this person."""
    return [sitter for sitter in sitters if sitter.user_id not in (None, person_id)]


@register.filter
def art_name(kind: Art) -> str:
    return str(names.ART[kind])


@register.filter
def card_name(card: str, edition: Edition) -> str:
    return names.of_card(edition.card[card])


@register.filter
def why_over(reason: str) -> str:
    return str(WHY_OVER[reason])  # type: ignore[index]
