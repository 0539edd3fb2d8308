"""Starting a game, inside the transaction of whoever arranged it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import IntegrityError, connection, transaction

from accounts import selectors as accounts
from accounts.selectors.sanctions import require_may_play
from common import streams
from common.clock import to_datetime
from common.ids import new_id
from games.territory import events as ev
from games.territory import rules, signals
from games.territory import state as st
from games.territory.errors import EngagedError, SeatsError, UnknownVariantError
from games.territory.models import Engagement, Event, Game, Seat
from games.territory.rules import TimeControl, TimeKind
from games.territory.selectors import Seating, engaged_games
from games.territory.services.follow_up import CPU_PATIENCE_MS, announce
from games.territory.services.play import notes_of


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """Who is to take a seat; `level` for a CPU."""

    player_id: int
    level: str = ""


def rating_key(variant: str, control: TimeControl) -> str:
    """The key of the rating that a game counts for, such as `duo:blitz`."""
    return f"{variant}:{control.speed.value}"


def wake_at(state: st.GameState, seating: Seating, now: int) -> int | None:
    """When the sweeper has to look next: never later than the next deadline, whoever moves, or a lost CPU move.

    A later turn of a CPU brings the instant forward with its move (the journal's `wake_at`).
    """
    bounds = [state.earliest_deadline(now)]
    if seating.level_to_move(state):
        bounds.append(now + CPU_PATIENCE_MS)
    return min((bound for bound in bounds if bound is not None), default=None)


def start_game(
    *,
    variant: str,
    time_control: TimeControl,
    seats: Sequence[SeatPlan],
    rated: bool,
    pool: str | None,
    matched: bool,
    now: int,
    undo: ev.UndoRule = "none",
    spectators: bool = True,
) -> str:
    """Write a new game, in the caller's transaction, and return its id; what follows happens after the commit.

    `matched`: its people have met, and if they play it now, against the clock, they are engaged until it is settled:
    of games by correspondence and without clocks one may have many. `undo` is free for who plays alone. Raises
    `EngagedError` when one of them already is (the caller's transaction is still usable), `BannedError`, `SeatsError`,
    `UnknownVariantError`.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("start_game runs in its caller's transaction")
    try:
        kind = rules.variant(variant)
    except rules.UnknownVariantError as error:
        raise UnknownVariantError(str(error)) from None
    if len(seats) != kind.seats:
        raise SeatsError(f"{kind.title} has {kind.seats} seats.", seats=kind.seats)
    people = [plan.player_id for plan in seats if not plan.level]
    require_may_play(people, now)
    game_id = new_id()
    if matched and time_control.kind is TimeKind.REALTIME:
        # First: when somebody is engaged, nothing has been written yet. The key to the game is checked at the commit.
        _engage(game_id, people)
    state, started = st.start(
        game=game_id,
        variant=kind,
        control=time_control,
        seats=_seat_data(kind, seats, rating_key(variant, time_control)),
        rated=rated,
        pool=pool,
        now=now,
        undo="free" if len(set(people)) == 1 and not rated else undo,
        spectators=spectators,
    )
    seating = Seating(tuple(s.player_id for s in seats), tuple(s.level for s in seats))
    _insert(state, started, seating, now)
    transaction.on_commit(lambda: _after_start(state, seating, people, now))
    return game_id


def _insert(state: st.GameState, started: ev.GameStarted, seating: Seating, now: int) -> None:
    game_id, control = started.game, started.time_control
    Game.objects.create(
        id=game_id,
        variant=started.variant,
        pool=started.pool or "",
        rated=started.rated,
        clock_kind=control.kind,
        initial_ms=control.initial_ms,
        increment_ms=control.increment_ms,
        version=1,
        created_at=to_datetime(now),
        wake_at=wake_at(state, seating, now),
        spectators=started.spectators,
    )
    Seat.objects.bulk_create(
        Seat(game_id=game_id, index=index, player_id=player, level=level)
        for index, (player, level) in enumerate(zip(seating.players, seating.levels, strict=True))
    )
    Event.objects.create(game_id=game_id, version=1, at=now, payload=ev.encode(started))


def _engage(game_id: str, player_ids: Sequence[int]) -> None:
    """One live matched game a player: the primary key says so, whatever anybody thought before."""
    try:
        with transaction.atomic():
            Engagement.objects.bulk_create(
                Engagement(player_id=player, game_id=game_id) for player in sorted(player_ids)
            )
    except IntegrityError:
        engaged = engaged_games(player_ids)
        if not engaged:
            # The other game ended meanwhile. Whoever arranged this one tries again.
            raise EngagedError(frozenset(), "") from None
        raise EngagedError(frozenset(engaged), next(iter(engaged.values()))) from None


def _seat_data(variant: rules.Variant, seats: Sequence[SeatPlan], key: str) -> list[ev.SeatData]:
    ids = [plan.player_id for plan in seats]
    cards = accounts.players_by_id(ids)
    ratings = accounts.ratings_of(ids, key)
    return [
        ev.SeatData(
            seat=seat,
            player=cards[plan.player_id].name,
            kind=cards[plan.player_id].kind,  # type: ignore[arg-type]  # the column has these choices
            colours=[variant.colours[colour] for colour in variant.colours_of(seat)],
            level=plan.level or None,
            rating=str(accounts.calibrated_ratings(plan.level).get(key) or ratings[plan.player_id]),
        )
        for seat, plan in enumerate(seats)
    ]


def _after_start(state: st.GameState, seating: Seating, people: list[int], now: int) -> None:
    streams.publish(notes_of(state, (state.started,), now))
    signals.game_started.send_robust(
        sender=None,
        game_id=state.started.game,
        player_ids=people,
        live=state.clock.control.kind is not TimeKind.CORRESPONDENCE,
    )
    announce(state, seating)
