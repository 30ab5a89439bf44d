"""Lists that may be long, page by page along what they are ordered by: nothing that comes or goes meanwhile moves a
place in them, and a page is one question however far on it lies."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db.models import DateTimeField, Model, Q, QuerySet

PAGE = 50
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
# The database's numbers.
MOST_DIGITS = 18

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    rows: list[Row]
    # The place of its last row, after which the next page begins; empty where there is none.
    more: str


def page(rows: QuerySet[Row], order: Sequence[str], after: str = "") -> Page[Row]:
    """The rows in that order after a place; the first ones where it is none. The last word of `order` tells any two
    rows apart."""
    place = _read(rows.model, order, after)
    found = list((rows.filter(_beyond(order, place)) if place else rows).order_by(*order)[: PAGE + 1])
    return Page(found[:PAGE], _place(found[PAGE - 1], order) if len(found) > PAGE else "")


def _beyond(order: Sequence[str], place: Sequence[Any]) -> Q:
    # The first condition says nothing new, but an index understands it.
    beyond, same = Q(), Q()
    for word, value in zip(order, place, strict=True):
        name, than = word.lstrip("-"), "lt" if word.startswith("-") else "gt"
        beyond |= same & Q(**{f"{name}__{than}": value})
        same &= Q(**{name: value})
    first = order[0].lstrip("-")
    return Q(**{f"{first}__{'lte' if order[0].startswith('-') else 'gte'}": place[0]}) & beyond


def _place(row: Model, order: Sequence[str]) -> str:
    values = [getattr(row, word.lstrip("-")) for word in order]
    return "-".join(str((value - EPOCH) // MICROSECOND if isinstance(value, datetime) else value) for value in values)


def _read(model: type[Model], order: Sequence[str], place: str) -> list[Any]:
    """The values of a place; none where it is no place in such a list."""
    numbers = place.split("-")
    if len(numbers) != len(order) or not all(_is_number(one) for one in numbers):
        return []
    times = [isinstance(model._meta.get_field(word.lstrip("-")), DateTimeField) for word in order]
    try:
        return [
            EPOCH + int(one) * MICROSECOND if is_time else int(one) for one, is_time in zip(numbers, times, strict=True)
        ]
    except OverflowError:
        return []


def _is_number(said: str) -> bool:
    return said.isascii() and said.isdecimal() and len(said) <= MOST_DIGITS
