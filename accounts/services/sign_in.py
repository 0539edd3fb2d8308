"""From what a provider says of somebody to the player that they are (docs/adr/0018-sign-in.md)."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from social_django.models import UserSocialAuth

from accounts import rules
from accounts.errors import AccountClosedError, IdentityInUseError, NameTakenError
from accounts.models import NameChange, Player, VerifiedEmail
from accounts.services.people import create_player, rename
from accounts.services.tokens import revoke_all_tokens
from accounts.signals import player_registered

ATTEMPTS = 5
"""Each one that fails has lost a race against somebody who has committed, and sees their rows in the next."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a provider vouches for. `email` is given only if the provider has verified it; `names` are suggestions."""

    provider: str
    uid: str
    id_key: str = ""
    email: str | None = None
    names: tuple[str, ...] = ()


class How(StrEnum):
    """By which way somebody came in."""

    RETURNED = "returned"
    JOINED = "joined"
    """An identity that was new has the verified e-mail address of a player."""
    LINKED = "linked"
    """The player, signed in already, has added the identity."""
    UPGRADED = "upgraded"
    """A guest has become a registered player, and keeps everything."""
    CREATED = "created"


NEW = (How.UPGRADED, How.CREATED)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The player, and the row that says so; `guest_left` names the guest whose games stay with that guest."""

    player: Player
    identity: UserSocialAuth
    how: How
    guest_left: str = ""

    @property
    def new(self) -> bool:
        return self.how in NEW


def sign_in(
    *, identity: Identity, guest_id: int | None = None, player_id: int | None = None
) -> SignedIn:
    """The player of this identity; a guest becomes one, or a new one is made, if it is nobody's.

    `guest_id` is the guest who is signing in, `player_id` a registered player who adds the identity. However many
    sign in at once by one identity, or by one verified address, they are one player: the unique rows decide, and who
    comes second finds the first. Raises `AccountClosedError` and `IdentityInUseError`.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return _attempt(identity, guest_id, player_id)
        except IntegrityError:
            continue
    return _attempt(identity, guest_id, player_id)


@transaction.atomic
def _attempt(identity: Identity, guest_id: int | None, player_id: int | None) -> SignedIn:
    row = (
        UserSocialAuth.objects.select_related("user")
        .filter(provider=identity.provider, uid=identity.uid)
        .first()
    )
    if row is not None:
        if player_id is not None and row.user_id != player_id:
            raise IdentityInUseError(f"{row.user.name} signs in by this already.")
        player, how = row.user, How.RETURNED
    else:
        player, how = _newcomer(identity, guest_id, player_id)
        row = UserSocialAuth(
            user=player, provider=identity.provider, uid=identity.uid, id_key=identity.id_key
        )
    if not player.is_active:
        raise AccountClosedError(f"The account {player.name} is closed.")
    _keep_address(row, identity.email, new=how in NEW)
    row.save()
    if how == How.UPGRADED:
        player_registered.send(Player, player_id=player.pk)
    guest = _guests(guest_id).first()
    return SignedIn(player, row, how, guest_left=guest.name if guest else "")


def _newcomer(
    identity: Identity, guest_id: int | None, player_id: int | None
) -> tuple[Player, How]:
    """Whose a new identity is."""
    if player_id is not None:
        return Player.objects.get(pk=player_id), How.LINKED
    known = VerifiedEmail.objects.select_related("player").filter(address=_plain(identity.email))
    if (email := known.first()) is not None:
        return email.player, How.JOINED
    guest = _guests(guest_id).select_for_update().first()
    if guest is not None:
        _upgrade(guest, identity.names)
        return guest, How.UPGRADED
    return _create(identity.names), How.CREATED


def _guests(guest_id: int | None) -> QuerySet[Player]:
    """The guest, if there is one and it is still a guest."""
    guests = Player.objects.filter(kind=Player.Kind.GUEST, is_active=True)
    return guests.none() if guest_id is None else guests.filter(pk=guest_id)


def _upgrade(guest: Player, names: tuple[str, ...]) -> None:
    """The same row, another kind: everything that hangs on it stays.

    What could act for the guest stops: a token that somebody else may have seen must not open the account. Another
    unusable password ends the guest's other sessions, as Django's sessions carry a digest of it.
    """
    guest.kind = Player.Kind.REGISTERED
    guest.set_unusable_password()
    for name in _candidates(names):
        try:
            rename(guest, name, cause=NameChange.Cause.SIGN_IN)
        except NameTakenError:
            continue
        break
    revoke_all_tokens(player_id=guest.pk)


def _create(names: tuple[str, ...]) -> Player:
    for name in _candidates(names):
        try:
            return create_player(name=name)
        except NameTakenError:
            continue
    raise AssertionError("the candidates do not end")


def _candidates(names: tuple[str, ...]) -> Iterator[str]:
    """The suggested name, then the same with ever more random digits."""
    name = rules.name_from(names)
    yield name
    digits = 2
    while True:
        yield f"{name[: rules.NAME_MOST - 1 - digits]}-{secrets.randbelow(10**digits):0{digits}}"
        digits = min(digits + 1, 12)


def _keep_address(row: UserSocialAuth, email: str | None, *, new: bool) -> None:
    """Note the verified address that the identity has now. One that none of the player's identities has any more goes.

    An address that leads to another player stays theirs: an identity that is known is never moved.
    """
    address, before = _plain(email), str(row.extra_data.get("email", ""))
    row.extra_data = {"email": address}
    if before and before != address:
        others = UserSocialAuth.objects.filter(user=row.user, extra_data__email=before)
        if not others.exclude(pk=row.pk).exists():
            VerifiedEmail.objects.filter(player=row.user, address=before).delete()
    if not address:
        return
    held = VerifiedEmail.objects.filter(address=address)
    if (
        new or not held.exists()
    ):  # who is new had nobody of this address a moment ago: the unique row decides
        VerifiedEmail.objects.create(player=row.user, address=address)
    held.filter(player=row.user).update(confirmed_at=timezone.now())


def _plain(email: str | None) -> str:
    return (email or "").strip().lower()
