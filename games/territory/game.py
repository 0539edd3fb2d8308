"""A whole game as data: what is known of it at a version, and what there is to see of it.

Pure. Time is in milliseconds since the epoch and always an argument. `games.territory.state` folds it from events.
"""

from msgspec import Struct

from common.clock import rfc3339
from games.territory import events as ev
from games.territory import lag
from games.territory.plies import Played
from games.territory.rules import (
    Clock,
    Leavers,
    Position,
    TimeKind,
)

FIRST_MOVE_MS = 30_000
"""How long a seat has for its first move in a realtime game; after that the game is aborted, unrated."""


IDLE_MS = 7 * 24 * 60 * 60 * 1000
"""How long a game without clocks may wait for a move; after that it is aborted, so that every game ends."""


MAX_UNDONE = 200
"""How often moves may be taken back in one game; its log would grow without bound otherwise."""


class Undone(Struct, frozen=True):
    """One undo: the ply at which the game was, the version of its event, and whose move was taken back."""

    ply: int
    version: int
    seat: int


class Asked(Struct, frozen=True):
    """A seat's wish to go back to move number `ply`, by the event of `version`; who has agreed, and when."""

    seat: int
    ply: int
    version: int
    agreed: tuple[tuple[int, int], ...] = ()


class GameState(Struct, frozen=True):
    """Everything that is known of a game at `version`. `started` is its first event.

    No move before `floor` is taken back: a seat left after it. `stand_ins` are the seats that a CPU plays for, each
    with its level; `moved_at` when each seat moved last, came back, or the game began; `lag_accounts` what each seat
    may still be given for its lag; `outages` the numbers of those whose time has been given back; `vacations` the
    seats whose players are on vacation.
    """

    started: ev.GameStarted
    version: int
    position: Position
    clock: Clock
    plies: tuple[Played, ...] = ()
    leavers: Leavers = ()
    floor: int = 0
    undone: tuple[Undone, ...] = ()
    began_at: int = 0
    moved_at: tuple[int, ...] = ()
    lag_accounts: tuple[int, ...] = ()
    stand_ins: tuple[tuple[int, str], ...] = ()
    outages: tuple[int, ...] = ()
    vacations: tuple[int, ...] = ()
    asked: Asked | None = None
    declined: tuple[int, ...] = ()
    """The seats whose wish to go back was declined since the latest move."""
    outcome: ev.OutcomeData | None = None
    ratings: tuple[ev.RatingData, ...] | None = None

    @property
    def ply(self) -> int:
        """The number of the move that is to come."""
        return len(self.plies)

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    @property
    def may_go_back(self) -> bool:
        """Whether moves may be taken back at all: by the game's rule while it is played, and after its end if one
        person plays alone and no more than moves has ended it.
        """
        if not self.started.played_alone:
            return self.started.undo != "none" and not self.is_over
        return self.outcome is None or self.outcome.termination == "completed"

    @property
    def people(self) -> list[int]:
        """The seats of people who have not left."""
        left = {seat for seat, _ in self.leavers}
        return [s.seat for s in self.started.seats if s.level is None and s.seat not in left]

    @property
    def deadline(self) -> int | None:
        """The first instant at which the seat to move is too late; None when the game is over.

        The first move of a realtime game has a bound of its own, and so has any move of a game without clocks.
        """
        since, seat = self.clock.since, self.clock.running
        if since is None or seat is None:
            return None
        deadline = self.clock.deadline
        if deadline is None:
            return since + IDLE_MS
        if self.started.time_control.kind == "realtime" and not self.has_moved(seat):
            return min(deadline, since + FIRST_MOVE_MS)
        return deadline

    @property
    def is_realtime(self) -> bool:
        return self.clock.control.kind is TimeKind.REALTIME

    @property
    def expiry(self) -> int | None:
        """When the turn is over for everybody: no move that was made before the deadline can still be on its way."""
        deadline = self.deadline
        return deadline + lag.MOST_MS if deadline is not None and self.is_realtime else deadline

    def is_late(self, now: int) -> bool:
        """Whether the clock of a realtime game has run out: what is decided now may end the turn."""
        return self.is_realtime and self.deadline is not None and now >= self.deadline

    def lag_of(self, seat: int, measured_ms: int, now: int) -> int:
        """How much of the time that has passed is not counted for a move of the running seat that arrives now."""
        since = self.clock.since
        if since is None or not self.is_realtime:
            return 0
        return lag.compensation(measured_ms, self.lag_accounts[seat], now - since)

    def stand_in(self, seat: int) -> str:
        """The level of the CPU that plays for a seat whose player went away; empty for any other."""
        return dict(self.stand_ins).get(seat, "")

    def has_moved(self, seat: int) -> bool:
        # The first moves are made within the first plies of a game: this looks at one or two of them.
        return any(played.seat == seat for played in self.plies)

    def earliest_deadline(self, now: int) -> int | None:
        """An instant that no turn can be over before, from `now` on, whoever moves until then.

        A seat's clock only runs on its own turn, so none can end before the least time left has passed. (An undo may
        bring an earlier one, and its entry in the journal says so.)
        """
        expiry = self.expiry
        if expiry is None or not self.is_realtime:
            return expiry  # in correspondence every move has the whole time, so the next deadline is later
        gone = self.position.gone  # their clocks stand for good, perhaps at nothing
        seats = [seat for seat in range(self.position.variant.seats) if seat not in gone]
        left = [self.clock.remaining(seat, now) or 0 for seat in seats]
        left += [FIRST_MOVE_MS for seat in seats if not self.has_moved(seat)]
        return min(now + min(left) + lag.MOST_MS, expiry)


def clocks_of(state: GameState) -> list[int] | None:
    """The time left of each seat at the last event, in milliseconds; None in a game without clocks."""
    if state.clock.control.kind is TimeKind.NONE:
        return None
    return list(state.clock.left_ms)


def colours_of(state: GameState) -> list[ev.ColourData]:
    """What there is to see of each colour, in turn order."""
    position, variant = state.position, state.position.variant
    return [
        ev.ColourData(
            colour=name,
            seat=variant.owners[colour],
            points=position.points(colour),
            pieces_left=list(position.left[colour]),
            out=colour in position.out,
        )
        for colour, name in enumerate(variant.colours)
    ]


def turn_of(state: GameState) -> ev.Turn | None:
    """Whose move it is, with the clocks as they stood when the turn began."""
    position = state.position
    seat = position.seat_to_move
    if position.turn is None or seat is None:
        return None
    colour = position.variant.colours[position.turn]
    clocks = clocks_of(state)
    deadline = state.deadline if clocks else None
    return ev.Turn(state.ply, colour, seat, clocks, None if deadline is None else rfc3339(deadline))
