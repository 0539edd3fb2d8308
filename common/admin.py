"""What the apps' admin pages share."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.db.models import QuerySet

if TYPE_CHECKING:  # generic for the type checker only
    AnyPaginator = Paginator[Any]
else:
    AnyPaginator = Paginator


class BoundedPaginator(AnyPaginator):
    """Pages of the first 10,000 rows. Counting all of a large table would take longer than showing the page."""

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[: self.MOST].count()


class ReadOnly:
    """Nothing is added, changed or deleted here, whatever rights a person has: what it shows follows from events."""

    def has_add_permission(self, *args: Any) -> bool:
        return False

    def has_change_permission(self, *args: Any) -> bool:
        return False

    def has_delete_permission(self, *args: Any) -> bool:
        return False
