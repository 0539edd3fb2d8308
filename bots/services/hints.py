"""Hints: asked for by a player, found by a worker, given in the inbox; three a game and player.

A hint is spent when it is given, once for each position. What is found after the game has moved on, or moves were
taken back, is dropped and not spent. The whole of it is in docs/adr/0012-undo-and-hints.md.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from accounts.services import inbox
from bots.errors import NoHintsLeftError
from bots.events import HintGiven
from bots.models import HINTS, Hint
from bots.queue import HINT_LINE
from bots.selectors import HintView, given_to, load_table
from common.clock import to_datetime
from common.errors import UnavailableError
from games.territory import selectors as games
from games.territory.errors import GameOverError, NotYourTurnError, StalePlyError
from games.territory.rules import Move, Position
from games.territory.selectors import Seating
from games.territory.state import GameState

PATIENCE_MS = 10_000
"""How long a hint may be looked for before asking again asks a worker again; a task that waited so long is dropped."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A hint that was asked for, given already or not, and how many are left."""

    hint: HintView
    hints_left: int

    def wire(self) -> dict[str, Any]:
        return {**asdict(self.hint), "hints_left": self.hints_left}


def ask_hint(*, game_id: str, player_id: int, ply: int | None, now: int) -> Asked:
    """Ask for the strongest CPU's move in the present position; with `ply`, only if the game is there.

    Asked again in the same position, the answer is the same and costs nothing. Raises `NoHintsLeftError`,
    `HintNotAllowedError` and the refusals of games; `UnavailableError` when no worker can be asked.
    """
    state, seating = load_table(game_id, player_id)
    _check(state, seating, player_id, ply)
    with transaction.atomic():
        _wait_for_others(game_id, player_id)
        hint, wanted = _reserve(state, player_id, now)
        left = HINTS - given_to(game_id, player_id).count()
    if wanted:
        _ask_worker(hint)
    return Asked(HintView.of(hint), left)


def give_hint(*, hint_id: int, version: int, move: Move, now: int) -> bool:
    """Spend a hint on the move that was found for the game at `version`, and tell its player.

    False: it was given already, or is not wanted any more.
    """
    with transaction.atomic():
        hint = Hint.objects.select_for_update().filter(pk=hint_id, version=version, move="").first()
        if hint is None:
            return False
        if games.version_of(hint.game_id) != version:
            hint.delete()
            return False
        hint.piece, hint.move, hint.given_at = move.piece, move.text, to_datetime(now)
        hint.save(update_fields=["piece", "move", "given_at"])
        event = HintGiven(
            game=hint.game_id,
            ply=hint.ply,
            colour=hint.colour,
            piece=hint.piece,
            move=hint.move,
            hints_left=HINTS - given_to(hint.game_id, hint.player_id).count(),
        )
        inbox.notify(player_id=hint.player_id, event=event, at=now)
    return True


def drop_hint(*, hint_id: int, version: int) -> None:
    """Forget a hint that was asked for at a version at which the game is no more."""
    Hint.objects.filter(pk=hint_id, version=version, move="").delete()


def _check(state: GameState, seating: Seating, player_id: int, ply: int | None) -> None:
    """Refuse a hint for a game that is over, at another ply, or not waiting for this player."""
    if state.is_over:
        raise GameOverError(version=state.version)
    if ply not in (None, state.ply):
        raise StalePlyError(
            f"The hint is for ply {ply}, the game is at ply {state.ply}.",
            version=state.version,
            ply=state.ply,
        )
    seat = state.position.seat_to_move
    if seat not in seating.seats_of(player_id):
        raise NotYourTurnError(version=state.version, ply=state.ply, seat=seat)


def _wait_for_others(game_id: str, player_id: int) -> None:
    """Let a player's requests for hints in one game go one after another, to the end of the transaction.

    They delete, count and write a few rows together; without an order two of them may wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('hint'), hashtext(%s))",
            [f"{game_id} {player_id}"],
        )


def _reserve(state: GameState, player_id: int, now: int) -> tuple[Hint, bool]:
    """The player's hint for this position, and whether a worker has to look for it."""
    game_id, version, key = state.started.game, state.version, key_of(state.position)
    mine = Hint.objects.filter(game_id=game_id, player_id=player_id)
    mine.filter(move="", version__lt=version).exclude(position=key).delete()
    hint = mine.filter(position=key).first()
    if hint is None:
        taken = set(mine.values_list("number", flat=True))
        number = min(set(range(1, HINTS + 1)) - taken, default=None)
        if number is None:
            raise NoHintsLeftError(hints_left=0)
        turn = state.position.turn
        assert turn is not None
        hint = Hint.objects.create(
            game_id=game_id,
            player_id=player_id,
            number=number,
            position=key,
            version=version,
            ply=state.ply,
            colour=state.position.variant.colours[turn],
            asked_at=now,
        )
        return hint, True
    if hint.move or not (hint.version < version or hint.asked_at <= now - PATIENCE_MS):
        return hint, False
    again = mine.filter(pk=hint.pk, move="", version=hint.version, asked_at=hint.asked_at)
    wanted = bool(again.update(version=version, asked_at=now))
    hint.version = version
    return hint, wanted


def key_of(position: Position) -> str:
    """What tells a position from others: the squares of every colour, the one to move, and the seats that have left."""
    text = f"{position.squares} {position.turn} {sorted(position.gone)}"
    return sha256(text.encode()).hexdigest()[:32]


def _ask_worker(hint: Hint) -> None:
    """Raises `UnavailableError`; then asking again asks at once."""
    try:
        wish = hint.pk, hint.version
        HINT_LINE.send("bots.find_hint", wish, [hint.player_id], hint.game_id, ms=PATIENCE_MS)
    except Exception as error:
        Hint.objects.filter(pk=hint.pk, version=hint.version, move="").update(asked_at=0)
        raise UnavailableError("No worker can be asked just now; ask again.") from error
