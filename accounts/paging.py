"""Pages of a list that may have millions of rows."""

from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

if TYPE_CHECKING:
    AnyPaginator = Paginator[Any]
else:
    AnyPaginator = Paginator

# What a list counts and turns pages through; what lies further back is found by a search or a number.
FURTHEST = 1_000


class NearPages(AnyPaginator):
    """Never counts a whole table: as many pages as are of use, and `…?pk__lt=` leads further."""

    @cached_property
    def count(self) -> int:
        rows = self.object_list
        assert isinstance(rows, QuerySet)
        return rows.order_by().values("pk")[:FURTHEST].count()
