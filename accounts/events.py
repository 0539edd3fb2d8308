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
