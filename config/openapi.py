"""The OpenAPI schema: every operation may answer with problem details."""

from typing import Any

from drf_spectacular.openapi import AutoSchema

PROBLEM = {
    "description": "A refusal; `code` says which.",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["type", "code", "title", "status", "detail"],
                "properties": {
                    "type": {"type": "string"},
                    "code": {"type": "string"},
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                },
                "additionalProperties": True,
            }
        }
    },
}


class Schema(AutoSchema):
    """drf-spectacular's schema with the problem document as the default response, and a view's `delete_body`."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation["responses"]["default"] = PROBLEM
            body = getattr(self.view, "delete_body", None)
            if self.method == "DELETE" and body is not None:  # which the library leaves out
                schema = self.resolve_serializer(body, "request").ref
                operation["requestBody"] = {
                    "content": {"application/json": {"schema": schema}},
                    "required": True,
                }
        return operation
