"""The events that matchmaking writes into a player's inbox."""

from typing import Literal

import msgspec

from games.territory.events import TimeControlData, UndoRule


class MatchFound(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="match_found"):
    """A pool has found opponents: the game has started and the player holds `seat` (0 moves first)."""

    game: str
    pool: str
    seat: int
    opponents: list[str]


class RoomStarted(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="room_started"):
    """The game of the room has started, and the player holds `seat` (0 moves first)."""

    room: str
    game: str
    seat: int


class RoomLeft(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="room_left"):
    """The player does not sit in the room any more, by no act of their own."""

    room: str
    reason: Literal["kicked", "expired"]


class ChallengeReceived(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="challenge_received"
):
    """Somebody wants to play; a rematch is of the game `rematch_of`. `first` is who would move first."""

    challenge: str
    challenger: str
    variant: str
    time_control: TimeControlData
    rated: bool
    undo: UndoRule
    spectators: bool
    first: Literal["challenger", "challenged", "draw", "seats"]
    rematch_of: str | None
    expires_at: str


class ChallengeAccepted(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="challenge_accepted"
):
    """Everybody has agreed: the game has started, and the player holds `seat` (0 moves first)."""

    challenge: str
    game: str
    seat: int


class ChallengeEnded(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="challenge_ended"
):
    """There will be no game: declined or cancelled by `player`, or expired.

    Who declined may say why. In what words, the challenge says: an inbox keeps no letters, which would outlive their
    writer's account.
    """

    challenge: str
    status: Literal["declined", "cancelled", "expired"]
    player: str | None
    reason: str | None
