"""What pages about finished games ask for: names of who sat where."""

from collections.abc import Mapping

from django import template

from games import history, names
from games.models import Figures, Seat

register = template.Library()


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
