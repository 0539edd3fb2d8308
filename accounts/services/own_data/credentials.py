"""By what a person comes in: identities, addresses, devices, tokens, apps. Secrets are given to nobody."""

from datetime import datetime

from django.db.models import QuerySet
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from msgspec import Struct
from oauth2_provider import models as oauth
from social_django.models import UserSocialAuth

from accounts.models import AccessToken, VerifiedEmail
from accounts.selectors.apps import apps_of, grants_of
from accounts.selectors.sign_ins import sign_ins_of
from accounts.services.apps import announce_app_tokens
from accounts.services.tokens import revoke_all_tokens


class IdentityData(Struct, frozen=True):
    """`uid` is what the provider calls the person."""

    provider: str
    uid: str
    address: str | None
    since: datetime


class AddressData(Struct, frozen=True):
    address: str
    confirmed_at: datetime


class SignInsData(Struct, frozen=True):
    identities: list[IdentityData]
    addresses: list[AddressData]


class DeviceData(Struct, frozen=True):
    kind: str
    name: str
    confirmed: bool


class TokenData(Struct, frozen=True):
    """`hint` is the end of the secret."""

    label: str
    hint: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class OwnAppData(Struct, frozen=True):
    client_id: str
    name: str
    redirect_uris: list[str]
    origins: list[str]
    created_at: datetime


class AppGrantData(Struct, frozen=True):
    client_id: str
    name: str
    scopes: list[str]
    since: datetime


class AppsData(Struct, frozen=True):
    """`registered` by the person, and those that have `access` for them."""

    registered: list[OwnAppData]
    access: list[AppGrantData]


def export_sign_ins(player_id: int) -> SignInsData:
    return SignInsData(
        identities=[
            IdentityData(row.provider, row.uid, row.extra_data.get("email") or None, row.created)
            for row in sign_ins_of(player_id)
        ],
        addresses=[
            AddressData(row.address, row.confirmed_at)
            for row in VerifiedEmail.objects.filter(player_id=player_id).order_by("pk")
        ],
    )


def erase_sign_ins(player_id: int) -> None:
    UserSocialAuth.objects.filter(user_id=player_id).delete()
    VerifiedEmail.objects.filter(player_id=player_id).delete()


def export_devices(player_id: int) -> list[DeviceData]:
    return [
        DeviceData(kind, device.name, device.confirmed)
        for kind, devices in (("totp", TOTPDevice), ("static", StaticDevice))
        for device in devices.objects.filter(user_id=player_id).order_by("pk")
    ]


def erase_devices(player_id: int) -> None:
    for devices in (TOTPDevice, StaticDevice):
        devices.objects.filter(user_id=player_id).delete()


def export_tokens(player_id: int) -> list[TokenData]:
    return [
        TokenData(
            label=token.label,
            hint=token.hint,
            scopes=list(token.scopes),
            created_at=token.created_at,
            expires_at=token.expires_at,
            revoked_at=token.revoked_at,
            last_used_at=token.last_used_at,
        )
        for token in AccessToken.objects.filter(player_id=player_id)
    ]


def erase_tokens(player_id: int) -> None:
    revoke_all_tokens(player_id=player_id)
    AccessToken.objects.filter(player_id=player_id).delete()


def export_apps(player_id: int) -> AppsData:
    return AppsData(
        registered=[
            OwnAppData(
                client_id=app.client_id,
                name=app.name,
                redirect_uris=app.redirect_uris.split(),
                origins=app.allowed_origins.split(),
                created_at=app.created,
            )
            for app in apps_of(player_id)
        ],
        access=[
            AppGrantData(grant.client_id, grant.name, list(grant.scopes), grant.since)
            for grant in grants_of(player_id)
        ],
    )


def erase_apps(player_id: int) -> None:
    """The apps that the person registered, with all access to them, and the access that they gave to others."""
    with announce_app_tokens(application__user_id=player_id):
        oauth.Application.objects.filter(user_id=player_id).delete()
    with announce_app_tokens(user_id=player_id):
        for kind in (
            *(oauth.Grant, oauth.RefreshToken, oauth.AccessToken),
            *(oauth.IDToken, oauth.DeviceGrant),
        ):
            rows: QuerySet[oauth.Grant] = kind.objects.filter(user_id=player_id)
            rows.delete()
