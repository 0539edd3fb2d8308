"""What the REST endpoints share: how they read bodies and queries, and give answers that are made already."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request


class Body(serializers.Serializer[Any]):
    """A body or query that clients send: fields that nobody reads are refused, so that a typing error shows."""

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        if isinstance(data, Mapping) and (unknown := sorted(set(data) - set(self.fields))):
            raise serializers.ValidationError(dict.fromkeys(unknown, "There is no such field."))
        return value


class WholeNumber(serializers.IntegerField):
    """A number in a query, in plain digits: no sign, no spaces, no digits of other scripts."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str) and not (data.isascii() and data.isdigit()):
            self.fail("invalid")
        return int(super().to_internal_value(data))


Form = TypeVar("Form", bound=Body)


def body(form: type[Form], request: Request) -> dict[str, Any]:
    """The checked values of a request's body; raises DRF's `ValidationError`."""
    return _checked(form(data=request.data))


def query(form: type[Form], request: Request) -> dict[str, Any]:
    """The checked values of a request's query; raises DRF's `ValidationError`."""
    return _checked(form(data=request.query_params.dict()))


def _checked(form: Body) -> dict[str, Any]:
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def json_bytes(text: str | bytes, **headers: str) -> HttpResponse:
    """An answer whose JSON is made already."""
    return HttpResponse(text, content_type="application/json", headers=headers)


class PictureRenderer(JSONRenderer):
    """Lets clients ask for a picture; only refusals are rendered, as JSON like everywhere."""

    media_type = "image/svg+xml"
    format = "svg"
