"""What the apps' admin pages share."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

if TYPE_CHECKING:  # generic for the type checker only
    AnyPaginator = Paginator[Any]
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyPaginator, AnyModelAdmin = Paginator, admin.ModelAdmin


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


class WordFilter(admin.SimpleListFilter):
    """A filter by one of a few known words, which need not be looked for in a large table."""

    words: Iterable[str] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(word, word) for word in self.words]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(**{str(self.parameter_name): value}) if value else queryset


class FastList(AnyModelAdmin):
    """A list that opens as fast at a million rows as at a hundred: pages are bounded, and nothing is looked for in all
    of the table but what an index finds.

    Whatever else is filtered by is looked for among the newest 10,000 rows. Columns do not sort: each would need an
    index of its own.
    """

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    sortable_by: ClassVar[list[str] | tuple[str, ...] | None] = ()
    indexed: Sequence[str] = ("player__id__exact",)
    """Filters that an index serves: the name in the query, or name and value (`is_staff__exact=1`)."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return self.among_newest(request, rows) if self._is_unindexed(request) else rows

    def among_newest(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those of the rows that are among the newest 10,000 of the table, in the order of the list."""
        order = self.get_ordering(request) or ("-pk",)
        newest = self.model._default_manager.order_by(*order).values("pk")
        return rows.filter(pk__in=newest[: BoundedPaginator.MOST])

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """What `find` finds: whole names and ids, instead of a part of any text."""
        term = search_term.strip().replace("\0", "")
        return (self.find(request, queryset, term) if term else queryset), False

    def find(self, request: HttpRequest, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """The rows that a search is for; a subclass with `search_fields` says how an index finds them."""
        return rows.none()

    def _is_unindexed(self, request: HttpRequest) -> bool:
        own = {"q", "p", "o", "all", "e", "_popup", "_to_field", "_changelist_filters", "_facets"}
        asked = {name: value for name, value in request.GET.items() if name not in own}
        return any(
            name not in self.indexed
            and f"{name}={value}" not in self.indexed
            and not any(name.startswith(f"{prefix}__") for prefix in self.indexed)
            for name, value in asked.items()
        )
