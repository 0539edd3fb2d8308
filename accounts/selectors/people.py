"""Players as others see them."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max
from django.db.models.functions import Lower

from accounts.errors import UnknownPlayerError
from accounts.models import Erasure, NameChange, Player, ReservedName
from common.clock import from_datetime


@dataclass(frozen=True, slots=True)
class PlayerCard:
    """What a client is told about a player, and the internal id that it is not told."""

    id: int
    name: str
    kind: str
    level: str

    @classmethod
    def of(cls, player: Player) -> "PlayerCard":
        return cls(player.pk, player.name, player.kind, player.level)


def players_by_id(ids: Iterable[int]) -> dict[int, PlayerCard]:
    """The cards of these players; ids of nobody are left out."""
    return {
        player.pk: PlayerCard.of(player)
        for player in Player.objects.only("name", "kind", "level").filter(pk__in=set(ids))
    }


def player_named(name: str) -> Player:
    """The active player of this name, whatever its case; raises `UnknownPlayerError`."""
    player = anybody_named(name)
    if not player.is_active:
        raise UnknownPlayerError(f"Nobody is called {name!r}.")
    return player


def anybody_named(name: str) -> Player:
    """The same, also when the player is banned."""
    found = Player.objects.annotate(lower_name=Lower("name")).filter(lower_name=name.lower())
    player = found.first() if "\0" not in name else None
    if player is None:
        raise UnknownPlayerError(f"Nobody is called {name!r}.")
    return player


def id_named(name: str) -> int | None:
    """The id of the player of a whole name, in any case, active or not."""
    found = Player.objects.annotate(lower_name=Lower("name")).filter(lower_name=name.lower())
    return found.values_list("pk", flat=True).first() if "\0" not in name else None


def is_kept_for_another(name: str, *, player_id: int) -> bool:
    """Whether somebody else had this name before: it stays theirs, so that nobody is taken for them."""
    earlier = NameChange.objects.annotate(lower_old=Lower("old")).filter(lower_old=name.lower())
    return earlier.exclude(player_id=player_id).exists()


def is_reserved(name: str) -> bool:
    """Whether somebody had this name who was erased not long ago."""
    return ReservedName.objects.filter(digest=reserved_digest(name)).exists()


def reserved_digest(name: str) -> bytes:
    """What is kept of the name of somebody who was erased.

    Names are few and short: a digest that anybody could make would tell them, so it needs the server's secret.
    """
    key = f"kado-reserved-name\n{settings.SECRET_KEY}".encode()
    return hmac.digest(key, name.lower().encode(), "sha256")


def latest_erasure() -> int | None:
    """When somebody was last erased, in milliseconds."""
    latest = Erasure.objects.aggregate(latest=Max("done_at"))["latest"]
    return None if latest is None else from_datetime(latest)


def name_history(player_id: int) -> list[NameChange]:
    """How the player came by the present name, the newest change first."""
    return list(NameChange.objects.filter(player_id=player_id))
