"""What pages about finished games ask for: names of who sat where."""

from collections.abc import Mapping
from functools import cache

from django import template
from django.utils.safestring import SafeString

from games import history, names
from games.models import Figures, Seat
from games.rules.terms import Character
from games.templatetags import art

register = template.Library()


@register.simple_tag
@cache
def head(kind: Character) -> SafeString:
    """A burglar's head beside a name: drawn once, for lists have many."""
    return art.character(kind, hidden=True)


@register.filter
def sitter(seat: Seat) -> str:
    return history.name_of(seat)


@register.filter
def rulebook(kind: str) -> str:
    return str(names.RULEBOOKS[kind])  # type: ignore[index]


@register.filter
def of(things: Mapping[str, object], name: str) -> object:
    return things[name]


@register.filter
def plan(kind: str) -> str:
    return str(Figures.Plan(kind).label) if kind else "–"
