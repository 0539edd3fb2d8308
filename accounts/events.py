"""The events that accounts write into a player's inbox."""

import msgspec


class FriendRequested(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="friend_requested"
):
    """Somebody asks to be the player's friend."""

    player: str


class FriendAccepted(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="friend_accepted"
):
    """Somebody whom the player had asked is a friend now."""

    player: str
