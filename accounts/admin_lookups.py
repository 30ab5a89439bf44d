"""What an administration's list may be asked in its address: what it shows as a filter, and nothing else.

Django lets every column of a list's model, and what its relations lead to, be compared with anything in the address:
who may see a list could read a column that it never shows, letter by letter.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.http import HttpRequest

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
else:
    AnyAdmin = admin.ModelAdmin

# The way to the rows further back (see `paging`).
FURTHER = "pk__lt"


class ShownFiltersOnly(AnyAdmin):
    """A list that refuses every other question with 400."""

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        if lookup == FURTHER:
            return True
        return request is not None and lookup in {*self._filter_parameters(request), *self._own_parameters(request)}

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """A row is called by its number alone."""
        return to_field == self.opts.pk.name

    def _filter_parameters(self, request: HttpRequest) -> Iterator[str | None]:
        for path, kind in self._filters(request):
            field = get_fields_from_path(self.model, path)[-1]
            yield from kind(field, request, {}, self.model, self, field_path=path).expected_parameters()

    def _filters(self, request: HttpRequest) -> Iterator[tuple[str, Any]]:
        """The path and the class of each filter; filters of other forms are not used here."""
        for one in self.get_list_filter(request):
            if isinstance(one, str):
                yield one, admin.FieldListFilter.create
            elif isinstance(one, tuple):
                yield str(one[0]), one[1]

    def _own_parameters(self, request: HttpRequest) -> Iterator[str]:
        """The names of filters that are no columns: what they accept is theirs."""
        for one in self.get_list_filter(request):
            if isinstance(one, type) and issubclass(one, admin.SimpleListFilter):
                yield str(one.parameter_name)
