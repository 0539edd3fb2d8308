"""Reading challenges: one, and the lists of those that wait for an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db.models import Prefetch, Q, QuerySet

from accounts import selectors as accounts
from common.clock import from_datetime, rfc3339
from common.ids import is_id
from matchmaking.errors import UnknownChallengeError
from matchmaking.models import Challenge, ChallengeSeat, ChallengeTaking
from matchmaking.selectors.rooms import terms_wire

Direction = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class ChallengeView:
    """A challenge as those see it who have part in it."""

    row: Challenge
    challenger: str
    seats: tuple[dict[str, Any], ...]

    def wire(self) -> dict[str, Any]:
        """As REST and the socket send it."""
        row = self.row
        return {
            "challenge": row.id,
            "status": row.status,
            "challenger": self.challenger,
            "seats": list(self.seats),
            **terms_wire(row.terms),
            "first": row.first,
            "rematch_of": row.rematch_of_id,
            "expires_at": rfc3339(from_datetime(row.expires_at)),
            "reason": row.reason or None,
            "words": row.words,
            "game": row.game_id,
        }


def challenge_view(challenge_id: str, player_id: int) -> ChallengeView:
    """A challenge in which the player has part. Raises `UnknownChallengeError`."""
    rows = with_seats(Challenge.objects.filter(id=challenge_id))
    row = rows.first() if is_id(challenge_id) else None
    if row is None or player_id not in {seat.player_id for seat in row.seats.all()}:
        raise UnknownChallengeError
    return views_of([row])[0]


def open_challenges(
    player_id: int,
    direction: Direction,
    *,
    before: tuple[datetime, str] | None = None,
    limit: int = 50,
) -> list[ChallengeView]:
    """Those that wait: for this player's answer (`in`), or for others' (`out`), the newest first.

    `before` is the creation and the id of the last one of the page before.
    """
    rows = Challenge.objects.filter(status=Challenge.Status.OPEN)
    if direction == "out":
        rows = rows.filter(challenger_id=player_id)
    else:
        asked = ChallengeSeat.objects.filter(player_id=player_id, agreed=False, level="")
        rows = rows.filter(id__in=asked.values("challenge_id"))
    if before is not None:
        created_at, last = before
        rows = rows.filter(
            Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=last),
            created_at__lte=created_at,
        )
    return views_of(list(with_seats(rows).order_by("-created_at", "-id")[:limit]))


def taken_by(player_id: int) -> str:
    """Whose challenges the player takes: `everybody`, `friends` or `nobody`."""
    row = ChallengeTaking.objects.filter(player_id=player_id).first()
    return row.whose if row else ChallengeTaking.Whose.EVERYBODY.value


def with_seats(rows: "QuerySet[Challenge]") -> "QuerySet[Challenge]":
    """The same rows, read together with their seats."""
    return rows.prefetch_related(Prefetch("seats", ChallengeSeat.objects.order_by("index")))


def views_of(rows: Sequence[Challenge]) -> list[ChallengeView]:
    """The views of rows, in their order."""
    ids = {row.challenger_id for row in rows}
    ids |= {seat.player_id for row in rows for seat in row.seats.all()}
    cards = accounts.players_by_id(ids)
    return [
        ChallengeView(
            row,
            cards[row.challenger_id].name,
            tuple(
                {
                    "player": cards[seat.player_id].name,
                    "level": seat.level or None,
                    "agreed": seat.agreed,
                }
                for seat in row.seats.all()
            ),
        )
        for row in rows
    ]
