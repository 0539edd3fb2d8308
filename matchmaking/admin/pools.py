"""The operator's view of the pools."""

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest

from common.errors import UnavailableError
from matchmaking.models import Pool
from matchmaking.selectors import pool_sizes


@admin.register(Pool)
class PoolAdmin(admin.ModelAdmin[Pool]):
    """Pools with the number that waits now. A change takes effect within a second, without a restart."""

    list_display = [
        "key", "variant", "time", "rated", "window_limit", "min_rating", "max_rating", "bots", "open",
        "waiting_now",
    ]  # fmt: skip
    list_editable = ["open"]
    list_filter = ["open", "rated", "variant", "kind"]
    search_fields = ["key", "variant"]
    readonly_fields = ["waiting_now"]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Ask Redis once for the whole page."""
        changes = super().get_changelist_instance(request)
        sizes = _sizes([row.key for row in changes.result_list])
        for row in changes.result_list:
            row.waiting = sizes.get(row.key)
        return changes

    @admin.display(description="time")
    def time(self, row: Pool) -> str:
        """As players write it: 2+3, or days a move."""
        if row.kind == Pool.Kind.CORRESPONDENCE:
            return f"{row.initial_ms / 86_400_000:g} days"
        return f"{row.initial_ms / 60_000:g}+{row.increment_ms / 1000:g}"

    @admin.display(description="waiting now")
    def waiting_now(self, row: Pool) -> str:
        """How many wait, a dash while Redis does not answer."""
        size = getattr(row, "waiting", None)
        if size is None:
            size = _sizes([row.key]).get(row.key)
        return "–" if size is None else str(size)


def _sizes(keys: list[str]) -> dict[str, int]:
    try:
        return pool_sizes(keys) if keys else {}
    except UnavailableError:
        return {}
