"""What the apps' admin pages share."""

from typing import Any


class ReadOnly:
    """Nothing is added, changed or deleted here, whatever rights a person has: what it shows follows from events."""

    def has_add_permission(self, *args: Any) -> bool:
        return False

    def has_change_permission(self, *args: Any) -> bool:
        return False

    def has_delete_permission(self, *args: Any) -> bool:
        return False
