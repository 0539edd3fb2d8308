"""A CPU's move, in a worker of the `bots` queue."""

from random import SystemRandom

import structlog
from celery import shared_task

from bots.engine import choose
from common import database
from common.errors import KadoError
from games.territory import selectors
from games.territory.services.play import play_move

logger = structlog.get_logger(__name__)


@shared_task(name="bots.choose_move")
def choose_move(game_id: str, version: int) -> None:
    """Choose and play the CPU's move in the position of this version of the game.

    Idempotent: delivered twice, late, or after the game moved on or was taken back, it finds the game at another
    version, or the game refuses the move. Whatever goes wrong, the sweeper asks again.
    """
    state, seating = selectors.load_state(game_id), selectors.seating(game_id)
    level, seat = seating.level_to_move(state), state.position.seat_to_move
    if state.version != version or not level or seat is None:
        return
    move = choose(level, state.position, SystemRandom())
    try:
        database.wait(
            play_move(
                game_id=game_id,
                player_id=seating.players[seat],
                ply=state.ply,
                move=move.text,
                chosen_at=version,
            )
        )
    except KadoError as refusal:
        logger.info("cpu_move_refused", game=game_id, version=version, code=refusal.code)
