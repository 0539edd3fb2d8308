"""A ticket: one player's wish to be matched in a pool. Pure: standard library only."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ticket:
    """A waiting player as the pairing sees it.

    `mu` and `sigma` are the rating when joining, `joined` is in milliseconds since the epoch. `blocked` are the
    players with whom a block exists in either direction as far as this player's side knows, `recent` those met a
    short while ago.
    """

    id: str
    player_id: int
    pool: str
    mu: float
    sigma: float
    joined: int
    blocked: frozenset[int] = field(default_factory=frozenset)
    recent: frozenset[int] = field(default_factory=frozenset)

    @property
    def age(self) -> tuple[int, str]:
        """The order of tickets, oldest first; the id decides between two of the same millisecond."""
        return (self.joined, self.id)
