"""Bodies: tokens and apps."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.models import AccessToken
from accounts.rules import Scope
from accounts.selectors.apps import AppGrant
from accounts.serializers.people import InstantField
from common.rest import Body


class TokenSerializer(serializers.Serializer[Any]):
    """A token without its secret; `hint` is the secret's end, `last_used_at` is exact to the hour."""

    id = serializers.CharField()
    # DRF keeps declared fields away from the attribute `label` of serializers.
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    hint = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    created_at = InstantField()
    expires_at = InstantField(allow_null=True)
    last_used_at = InstantField(allow_null=True)


class TokenListSerializer(serializers.Serializer[Any]):
    tokens = TokenSerializer(many=True)


class IssuedTokenSerializer(TokenSerializer):
    """A new token; `secret` is shown this once."""

    secret = serializers.CharField()


class NewTokenBody(Body):
    label = serializers.CharField(  # type: ignore[assignment]
        max_length=60, required=False, default="", allow_blank=True
    )
    scopes = serializers.ListField(
        child=serializers.ChoiceField(list(Scope)), min_length=1, max_length=len(Scope)
    )
    expires_at = InstantField(required=False, allow_null=True, default=None)

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("This is in the past.")
        return value


class GrantSerializer(serializers.Serializer[Any]):
    """What an app may do for the player; `app` is its client id, `owner` the player who registered it."""

    app = serializers.CharField()
    name = serializers.CharField()
    owner = serializers.CharField(allow_blank=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(list(Scope)))
    since = InstantField()


class GrantListSerializer(serializers.Serializer[Any]):
    grants = GrantSerializer(many=True)


def token_body(token: AccessToken) -> dict[str, Any]:
    return {
        "id": str(token.pk),
        "label": token.label,
        "hint": token.hint,
        "scopes": token.scopes,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
    }


def grant_body(grant: AppGrant) -> dict[str, Any]:
    return {
        "app": grant.client_id,
        "name": grant.name,
        "owner": grant.owner,
        "scopes": list(grant.scopes),
        "since": grant.since,
    }
