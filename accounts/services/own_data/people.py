"""The account itself, its names, and what staff did."""

from collections.abc import Iterator
from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.db.models import Q
from msgspec import Struct

from accounts.models import NameChange, Player
from accounts.names import Renaming


class StaffActionData(Struct, frozen=True):
    at: datetime
    what: str
    on: str


class AccountData(Struct, frozen=True):
    """`permissions` and `groups` are those of staff, and `staff_actions` what they did in the admin site."""

    name: str
    kind: str
    created_at: datetime
    last_sign_in: datetime | None
    staff: bool
    has_password: bool
    groups: list[str]
    permissions: list[str]
    staff_actions: list[StaffActionData]


class NameChangeData(Struct, frozen=True):
    old: str
    new: str
    cause: str
    at: datetime


def export_account(player_id: int) -> AccountData:
    player = Player.objects.get(pk=player_id)
    actions = LogEntry.objects.filter(user_id=player_id).order_by("pk")
    return AccountData(
        name=player.name,
        kind=player.kind,
        created_at=player.created_at,
        last_sign_in=player.last_login,
        staff=player.is_staff,
        has_password=player.has_usable_password(),
        groups=list(player.groups.values_list("name", flat=True)),
        permissions=list(player.user_permissions.values_list("codename", flat=True)),
        staff_actions=[
            StaffActionData(entry.action_time, entry.get_change_message(), entry.object_repr)
            for entry in actions
        ],
    )


def erase_account(player_id: int) -> None:
    """What the row says of the person. The row itself stays: games and ratings of others hang on it."""
    player = Player.objects.get(pk=player_id)
    player.groups.clear()
    player.user_permissions.clear()
    player.set_unusable_password()  # ends every session: they carry a digest of it
    player.is_active = player.is_staff = player.is_superuser = False
    player.last_login = None
    player.save()


def rename_in_admin_log(renaming: Renaming) -> None:
    """Entries say in words what they are about."""
    mentions = Q()
    for old in renaming.olds:
        mentions |= Q(object_repr__icontains=old) | Q(change_message__icontains=old)
    for entry in LogEntry.objects.filter(mentions).iterator(chunk_size=500):
        entry.object_repr = renaming.in_words(entry.object_repr)
        entry.change_message = renaming.in_words(entry.change_message)
        entry.save(update_fields=["object_repr", "change_message"])


def export_names(player_id: int) -> Iterator[NameChangeData]:
    for change in NameChange.objects.filter(player_id=player_id).order_by("pk"):
        yield NameChangeData(change.old, change.new, change.cause, change.at)


def erase_names(player_id: int) -> None:
    NameChange.objects.filter(player_id=player_id).delete()
