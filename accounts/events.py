"""The events that accounts write into a player's inbox."""

import msgspec


class GameAnnulled(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="game_annulled"
):
    """A rated game does not count any more, for `reason`. `before` and `after`: the player's rating, as shown."""

    game: str
    key: str
    reason: str
    before: str
    after: str


class GameRestored(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="game_restored"
):
    """A game that was annulled counts again."""

    game: str
    key: str
    reason: str
    before: str
    after: str


class Banned(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="banned"):
    """The player may not start games (`kind` is `play`), or not wait in pools (`queue`); `until` null is for good."""

    kind: str
    until: str | None
    reason: str


class BanLifted(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="ban_lifted"):
    """A ban of this kind was ended before its time."""

    kind: str
    reason: str


class Warned(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="warned"):
    """A moderator says what must not happen again."""

    reason: str


class ReportClosed(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="report_closed"
):
    """A moderator has looked at what the player reported. `acted`: it had a consequence; which, is not told."""

    report: str
    player: str
    acted: bool


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
