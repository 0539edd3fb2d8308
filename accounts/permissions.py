"""What a caller must be allowed to do, as DRF permission classes."""

from functools import cache
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.authentication import caller_of


@cache
def HasScope(scope: str) -> type[BasePermission]:  # noqa: N802  # it stands where DRF expects a class
    """The permission class that asks for a token with this scope.

    Refuses with `not-authenticated` (401) when nobody is calling and `missing-scope` (403) otherwise.
    """

    class Permission(BasePermission):
        def has_permission(self, request: Request, view: Any) -> bool:
            caller_of(request).require(scope)
            return True

    Permission.__name__ = Permission.__qualname__ = f"HasScope_{scope}"
    return Permission
