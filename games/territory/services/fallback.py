"""The move of a CPU that nothing else moves for: one of its largest pieces, found by the rules alone."""

from common import database
from games.territory.errors import GameOverError, StalePlyError
from games.territory.rules import Move, Position
from games.territory.selectors import Seating
from games.territory.services.play import play_move
from games.territory.state import GameState


def largest_move(position: Position) -> Move:
    """A placement of one of the largest pieces that the colour to move can place; it must have one."""
    return max(position.legal(), key=lambda move: len(move.cells))


def play_fallback(state: GameState, seating: Seating) -> bool:
    """Make that move for the CPU that is to move. False: somebody moved meanwhile, or the game is over."""
    seat = state.position.seat_to_move
    assert seat is not None
    try:
        database.wait(
            play_move(
                game_id=state.started.game,
                player_id=seating.players[seat],
                ply=state.ply,
                move=largest_move(state.position).text,
                chosen_at=state.version,
            )
        )
    except (StalePlyError, GameOverError):
        return False
    return True
