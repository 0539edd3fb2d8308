"""Scores on shared boards: entered, withdrawn, frozen, taken off and put back.

Who waits for whom: a transaction locks players, then boards, then entries, then the buckets of the counts, each in the
order of the keys. So it submits at most one score to a board, goes through several boards in the order of their keys,
and does it last: others who enter the same part of a board wait from there to the commit.
"""

from django.db import transaction

from accounts import rules
from accounts.errors import NotOnLeaderboardError, UnknownLeaderboardError
from accounts.models import ScoreBoard, ScoreEntry
from accounts.selectors.leaderboards import leaderboard_rank
from accounts.services.decisions import Action, checked_reason, name_of, note
from common import database

# Most scores are not the player's best, and take no lock at all. Two at once meet in the player's one row.
# The second column says why nothing was written: there was no board yet when it looked (another submit may make it at
# the same moment), or the player is a guest, who may be signing in at the same moment.
_SUBMIT = """
WITH entered (key, player_id, score, placements, finished_at, source) AS (
    VALUES (%s, %s::bigint, %s::bigint, %s::integer, %s::bigint, %s)
), open_board AS MATERIALIZED (
    SELECT board.key FROM accounts_scoreboard AS board JOIN entered USING (key)
    WHERE frozen_at IS NULL AND NOT EXISTS (
        SELECT FROM accounts_scoreentry AS kept
        WHERE kept.key = entered.key AND kept.player_id = entered.player_id
        AND (-kept.score, kept.placements, kept.finished_at)
            <= (-entered.score, entered.placements, entered.finished_at)
    )
    FOR SHARE OF board
), written AS (
    INSERT INTO accounts_scoreentry AS kept
        (key, player_id, score, placements, finished_at, source, removed, eligible)
    SELECT entered.*, false, true FROM entered JOIN open_board USING (key)
    WHERE EXISTS (SELECT FROM accounts_player WHERE id = player_id AND kind = 'registered')
    ON CONFLICT (key, player_id) DO UPDATE SET
        score = excluded.score,
        placements = excluded.placements,
        finished_at = excluded.finished_at,
        source = excluded.source
    WHERE (-excluded.score, excluded.placements, excluded.finished_at)
        < (-kept.score, kept.placements, kept.finished_at)
    RETURNING listed
)
SELECT listed, '' FROM written
UNION ALL
SELECT false, CASE kind WHEN 'guest' THEN 'guest' ELSE 'board' END
FROM entered JOIN accounts_player ON id = player_id
WHERE kind = 'guest' OR NOT EXISTS (SELECT FROM accounts_scoreboard AS board WHERE board.key = entered.key)
"""

_HOLD_GUEST = "SELECT id FROM accounts_player WHERE id = %s AND kind = 'guest' FOR SHARE"

_WITHDRAW = """
WITH open_board AS MATERIALIZED (
    SELECT key FROM accounts_scoreboard WHERE key = %s AND frozen_at IS NULL FOR SHARE
)
DELETE FROM accounts_scoreentry AS kept USING open_board
WHERE kept.key = open_board.key AND player_id = %s AND source = %s AND NOT removed
RETURNING kept.id
"""


def submit_score(
    *, board: str, player_id: int, score: int, placements: int, finished_at: int, source: str
) -> bool:
    """Enter a score, in the caller's transaction, and tell whether the board shows it now.

    A player has one row on a board, and only a better score replaces it: a higher one, then one with fewer
    placements, then one finished earlier (milliseconds). So a repetition changes nothing. Not taken are scores of
    guests (theirs are entered at `player_registered`) and bots, and any score on a frozen board. The better score of a
    player who was removed from the board, or is banned, is kept for the day when that is undone, and not shown.

    Raises `UnknownLeaderboardError` for a key that no board can have.
    """
    values = [board, player_id, score, placements, finished_at, source]
    shown = database.prepared(_SUBMIT, values)
    if shown and shown[0][1] == "guest":
        # Who is signing in holds the guest's row, and has not seen what this transaction writes.
        if database.prepared(_HOLD_GUEST, [player_id]):
            return False
        shown = database.prepared(_SUBMIT, values)
    if shown and shown[0][1] == "board":
        _make_board(board)
        shown = database.prepared(_SUBMIT, values)
    return bool(shown and shown[0][0])


def freeze_board(*, board: str, at: int) -> bool:
    """Take no more scores; `at` is in milliseconds. Waits for the submits under way. A second call changes nothing.

    Tells whether it was this call that froze it.

    What is listed then is final: later only an admin's removal, with a reason, or the deletion of a player changes it.
    Runs in the caller's transaction. There it comes before a submit to the same board, unless the caller has a lock of
    its own that keeps other submits away: they would wait for each other.
    """
    _make_board(board)
    return bool(ScoreBoard.objects.filter(pk=board, frozen_at=None).update(frozen_at=at))


@transaction.atomic
def freeze_board_now(*, board: str, by: int, reason: str, at: int) -> None:
    """An admin freezes a board, for a reason. One that is frozen already, or is not there, is left as it is."""
    if ScoreBoard.objects.filter(pk=board).exists() and freeze_board(board=board, at=at):
        note(Action.BOARD_FROZEN, by=by, reason=reason, key=board)


def withdraw_score(*, board: str, player_id: int, source: str) -> bool:
    """Forget the player's score if it came from `source`, whose end was taken back; whether it did.

    Runs in the caller's transaction, which submits the player's next best itself. A frozen board keeps the score, and
    so does a row that an admin has removed: it says that the player is off the board.
    """
    return bool(database.prepared(_WITHDRAW, [board, player_id, source]))


def remove_score(*, board: str, player_id: int, by: int, reason: str) -> None:
    """Take a player off a board, a frozen one too; the ranks close up. `by` is the admin's id.

    Removing twice changes nothing. Raises `NotOnLeaderboardError` for a player without a score there.
    """
    _decide(Action.SCORE_REMOVED, board, player_id, by, reason)


def restore_score(*, board: str, player_id: int, by: int, reason: str) -> None:
    """Undo `remove_score`: the player's best score stands as if it had never been away. Twice changes nothing."""
    _decide(Action.SCORE_RESTORED, board, player_id, by, reason)


def _make_board(board: str) -> None:
    """Make the board unless it is there, or another transaction makes it: then that one is waited for."""
    if not rules.is_score_key(board):
        raise UnknownLeaderboardError(f"{board!r} names no board of scores.")
    ScoreBoard.objects.bulk_create([ScoreBoard(key=board)], ignore_conflicts=True)


@transaction.atomic
def _decide(action: Action, board: str, player_id: int, by: int, reason: str) -> None:
    """Take off or put back, with the row that says so."""
    reason = checked_reason(reason)
    name_of(by)
    entry = (
        ScoreEntry.objects.select_for_update(no_key=True)
        .filter(board=board, player_id=player_id)
        .first()
    )
    if entry is None:
        raise NotOnLeaderboardError
    removing = action == Action.SCORE_REMOVED
    if entry.removed == removing:
        return
    rank = leaderboard_rank(board, player_id) if removing else None
    entry.removed = removing
    entry.save(update_fields=["removed"])
    note(
        action,
        by=by,
        reason=reason,
        player_id=player_id,
        key=board,
        facts={
            "score": entry.score,
            "placements": entry.placements,
            "finished_at": entry.finished_at,
            "source": entry.source,
            "rank": rank if removing else leaderboard_rank(board, player_id),
        },
    )
