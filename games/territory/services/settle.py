"""What the end of a game means: results, ratings, engagements, the inbox. Once per game, whoever calls how often.

Lock order, here and everywhere: the game's row, then rating rows by player id, then inbox heads by player id.
"""

import msgspec
from django.db import transaction

from accounts.services import inbox, ratings
from common import streams
from common.clock import from_datetime, to_datetime
from common.streams import Note
from games.territory import events as ev
from games.territory import selectors
from games.territory.models import Engagement, Event, Game, Seat
from games.territory.rules import TimeControl, TimeKind
from games.territory.services.start import rating_key


class GameEnded(msgspec.Struct, frozen=True, tag="game_ended", tag_field="type"):
    """To the inbox of each person of a game that was settled."""

    game: str
    termination: str
    rank: int
    rating: str | None


def settle(*, game_id: str, now: int) -> bool:
    """Settle a game that is over. Returns False if there is nothing to do (not over, or settled already)."""
    with transaction.atomic():
        game = (
            Game.objects.select_for_update(no_key=True)
            .filter(id=game_id, settled_at=None)
            .exclude(status=Game.Status.STARTED)
            .first()
        )
        if game is None:
            return False
        outcome = selectors.final_event(game_id, game.version).outcome
        seats = list(game.seats.order_by("index"))
        _write_results(seats, outcome)
        changes = _rate(game, seats, outcome) if _counts(game, outcome) else None
        if changes is not None:
            _append(game, ev.GameRated(changes), now)
        Engagement.objects.filter(game_id=game_id).delete()
        _tell(game, seats, outcome, changes)
        game.settled_at = to_datetime(now)
        game.save(update_fields=["version", "settled_at"])
    return True


def _counts(game: Game, outcome: ev.OutcomeData) -> bool:
    return game.rated and outcome.termination != "aborted"


def _write_results(seats: list[Seat], outcome: ev.OutcomeData) -> None:
    for seat in seats:
        result = outcome.seats[seat.index]
        seat.points, seat.rank = result.points, result.rank
    Seat.objects.bulk_update(seats, ["points", "rank"])


def _rate(game: Game, seats: list[Seat], outcome: ev.OutcomeData) -> list[ev.RatingData]:
    control = TimeControl(TimeKind(game.clock_kind), game.initial_ms, game.increment_ms)
    assert game.finished_at is not None
    changes = ratings.rate_game(
        game_id=game.id,
        key=rating_key(game.variant, control),
        ranks=[(seat.player_id, outcome.seats[seat.index].rank) for seat in seats],
        at=from_datetime(game.finished_at),
    )
    return [
        ev.RatingData(
            seat=seat.index,
            before=change.before,
            after=change.after,
            mu_before=change.mu_before,
            mu_after=change.mu_after,
            sigma_before=change.sigma_before,
            sigma_after=change.sigma_after,
        )
        for seat, change in zip(seats, changes, strict=True)
    ]


def _append(game: Game, event: ev.GameRated, now: int) -> None:
    """One more event. The game's row is locked here, and a game that is over takes no commands."""
    game.version += 1
    note = Note(selectors.stream_of(game.id), game.version, now, ev.encode(event))
    Event.objects.create(game_id=game.id, version=note.version, at=note.at, payload=note.payload)
    transaction.on_commit(lambda: streams.publish([note]))


def _tell(
    game: Game, seats: list[Seat], outcome: ev.OutcomeData, changes: list[ev.RatingData] | None
) -> None:
    people = [seat for seat in seats if not seat.level]
    told: set[int] = set()
    for seat in sorted(people, key=lambda seat: seat.player_id):
        if seat.player_id in told:
            continue
        told.add(seat.player_id)
        inbox.notify(
            player_id=seat.player_id,
            event=GameEnded(
                game=game.id,
                termination=outcome.termination,
                rank=outcome.seats[seat.index].rank,
                rating=changes[seat.index].after if changes else None,
            ),
        )
