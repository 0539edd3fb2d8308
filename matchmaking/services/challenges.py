"""Challenges and rematches: asked for, agreed to, declined, cancelled, expired.

A challenge has a seat for everybody of the game to come, with a mark of whether they have agreed; the last one who
does starts the game. So two who ask for a rematch at once, and fifty devices that accept at once, are one game.

Lock order: the challenge's row, then its seats, then engagements and inbox heads by player id. Making a challenge
takes an advisory lock for each of the two players before, by id, so that their limits hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random, SystemRandom

import msgspec
import structlog
from django.db import IntegrityError, connection, transaction

from accounts import selectors as accounts
from accounts.selectors.friends import are_friends
from accounts.services import inbox
from common.clock import from_datetime, rfc3339, to_datetime
from common.errors import RateLimitedError, UnavailableError
from common.ids import is_id
from common.limits import Limit, take
from games.territory import selectors as games
from games.territory.errors import NotFinishedError, NotSeatedError, SeatsError
from games.territory.events import TimeControlData
from games.territory.rules import TimeKind
from games.territory.services.settle import settle
from games.territory.services.start import SeatPlan
from matchmaking.errors import (
    ChallengeOverError,
    ChallengeWaitsError,
    NoChallengesError,
    RatedNotAllowedError,
    TooManyChallengesError,
    UnknownChallengeError,
)
from matchmaking.events import ChallengeAccepted, ChallengeEnded, ChallengeReceived
from matchmaking.models import Challenge, ChallengeSeat, ChallengeTaking
from matchmaking.models.terms import columns_of
from matchmaking.rules import Terms, may_be_rated, rotated, time_control
from matchmaking.selectors.challenges import ChallengeView, challenge_view, taken_by
from matchmaking.services.people import any_block, require_no_guest, start_agreed, variant_of

log = structlog.get_logger(__name__)

CHANCE: Random = SystemRandom()
MOST_MADE = 10
MOST_RECEIVED = 30
"""Open challenges that a player may have made, and may have to answer. Rematches do not count."""

MAKING = Limit("challenge", burst=30, interval_ms=20_000)
"""How often a player may ask somebody to play: what is taken back at once still stands in an inbox."""

PATIENCE = {
    TimeKind.REALTIME: timedelta(minutes=10),
    TimeKind.NONE: timedelta(days=3),
    TimeKind.CORRESPONDENCE: timedelta(days=3),
}
"""How long a challenge waits for an answer."""

SWEPT_AT_ONCE = 200
ATTEMPTS = 5


@dataclass(slots=True)
class Wish:
    """A challenge whose row is locked, and its seats."""

    row: Challenge
    seats: list[ChallengeSeat]

    @property
    def people(self) -> set[int]:
        return {seat.player_id for seat in self.seats if not seat.level}

    @property
    def undecided(self) -> set[int]:
        """Who has not agreed."""
        return {seat.player_id for seat in self.seats if not (seat.level or seat.agreed)}

    def tell(self, event: msgspec.Struct, *, but: int | None = None) -> None:
        """Put an event into the inboxes of all its people, by id, but one."""
        for player in sorted(self.people - {but}):
            inbox.notify(player_id=player, event=event)


def make_challenge(
    *, player_id: int, name: str, terms: Terms, first: str, now: int
) -> ChallengeView:
    """Challenge the player of a name; `first` is who would begin, `challenger`, `challenged` or `draw`.

    Raises `UnknownPlayerError`, `GuestsNotAllowedError`, `NoChallengesError`, `WrongSettingsError`, `SeatsError` (more
    than two seats), `RatedNotAllowedError`, `ChallengeWaitsError`, `TooManyChallengesError`, `RateLimitedError`.
    """
    _require_time(player_id)
    require_no_guest(player_id)
    target = accounts.player_named(name).pk
    terms.check()
    kind = variant_of(terms.variant)
    if kind.seats != 2:
        raise SeatsError(f"{kind.title} has {kind.seats} seats: open a room.", seats=kind.seats)
    with transaction.atomic():
        _queue_up(player_id, target)
        _require_taken(player_id, target)
        cards = accounts.players_by_id([player_id, target])
        if terms.rated and not may_be_rated([cards[each].kind for each in (player_id, target)]):
            raise RatedNotAllowedError
        _require_few(player_id, target)
        row = _insert(player_id, terms, first, now, target=target)
        seats = [SeatPlan(player_id), SeatPlan(target)]
        wish = _add_seats(row, seats, agreed=player_id)
        wish.tell(_received(wish), but=player_id)
    return challenge_view(row.id, player_id)


def ask_rematch(
    *, game_id: str, player_id: int, now: int, random: Random = CHANCE
) -> ChallengeView:
    """Ask for a rematch of a game that is over, or agree to the one that is asked for; who was second begins.

    Of a game that one person played alone it starts at once. Raises `UnknownGameError`, `NotSeatedError`,
    `NotFinishedError`, `NoChallengesError` (a block), `ChallengeOverError` (declined), `RateLimitedError`, and what
    `start_agreed` raises.
    """
    _require_time(player_id)
    state, seating = games.load_state(game_id), games.seating(game_id)
    if not seating.seats_of(player_id):
        raise NotSeatedError
    if not state.is_over:
        raise NotFinishedError(version=state.version)
    if any_block(player_id, set(seating.people) - {player_id}):
        raise NoChallengesError
    settle(game_id=game_id, now=now)  # or its people were engaged until a worker has done it
    control = state.started.time_control
    terms = Terms(
        state.started.variant,
        time_control(control.kind, control.initial_ms, control.increment_ms),
        state.started.rated,
        state.started.undo,
        state.started.spectators,
    )
    plans = [SeatPlan(*each) for each in zip(seating.players, seating.levels, strict=True)]
    for _ in range(ATTEMPTS):
        with transaction.atomic():
            row = _rematch_of(game_id)
            if row is None:
                try:
                    with transaction.atomic():
                        row = _insert(
                            player_id, terms, Challenge.First.SEATS, now, rematch_of=game_id
                        )
                except IntegrityError:
                    continue  # somebody else of the game was first: agree to theirs
                wish = _add_seats(row, rotated(plans), agreed=player_id)
                if wish.undecided:
                    wish.tell(_received(wish), but=player_id)
            else:
                wish = _with_seats(row)
            _agree(wish, player_id, now, random)
        return challenge_view(row.id, player_id)
    raise UnavailableError("Others kept asking at the same moment; ask again.")


def accept_challenge(
    *, challenge_id: str, player_id: int, now: int, random: Random = CHANCE
) -> ChallengeView:
    """Agree; the last one who does starts the game. Who has agreed already, or accepts again, changes nothing.

    Raises `UnknownChallengeError`, `ChallengeOverError`, `NoChallengesError` (a block since), and what `start_agreed`
    raises; the challenge then stays open, and can be accepted later.
    """
    with transaction.atomic():
        wish = _lock(challenge_id, player_id)
        _agree(wish, player_id, now, random)
    return challenge_view(challenge_id, player_id)


def decline_challenge(
    *, challenge_id: str, player_id: int, reason: str, words: str, now: int
) -> ChallengeView:
    """Say no, and why. Saying it again changes nothing; who made the challenge cancels it by this.

    Raises `UnknownChallengeError`, `ChallengeOverError`.
    """
    with transaction.atomic():
        wish = _lock(challenge_id, player_id)
        row = wish.row
        cancels = row.challenger_id == player_id
        status = Challenge.Status.CANCELLED if cancels else Challenge.Status.DECLINED
        if row.status != status:
            _require_open(row, now)
            row.reason, row.words = ("", "") if cancels else (reason, words)
            _end(wish, status, now, by=player_id)
    return challenge_view(challenge_id, player_id)


def take_challenges(*, player_id: int, whose: str) -> str:
    """Whose challenges the player takes from now on: `everybody`, `friends` or `nobody`."""
    ChallengeTaking.objects.update_or_create(player_id=player_id, defaults={"whose": whose})
    return whose


def end_between(player_id: int, other_id: int, *, now: int) -> None:
    """Cancel the open challenges in which both have part."""
    both = ChallengeSeat.objects.filter(player_id=player_id, level="")
    rows = Challenge.objects.filter(
        status=Challenge.Status.OPEN,
        id__in=both.values("challenge_id"),
        seats__player_id=other_id,
    )
    for pk in list(rows.order_by("id").values_list("pk", flat=True).distinct()):
        with transaction.atomic():
            row = Challenge.objects.select_for_update().get(pk=pk)
            if row.status == Challenge.Status.OPEN:
                _end(_with_seats(row), Challenge.Status.CANCELLED, now)


def expire_challenges(*, now: int) -> int:
    """End the challenges whose time is up; how many. Several may do this at once: each is ended by one of them."""
    due = Challenge.objects.filter(status=Challenge.Status.OPEN, expires_at__lte=to_datetime(now))
    ended = 0
    for pk in list(due.order_by("expires_at").values_list("pk", flat=True)[:SWEPT_AT_ONCE]):
        try:
            with transaction.atomic():
                row = due.select_for_update(skip_locked=True).filter(pk=pk).first()
                if row is not None:
                    _end(_with_seats(row), Challenge.Status.EXPIRED, now)
                    ended += 1
        except Exception:
            log.exception("challenge not ended", challenge=pk)
    return ended


# Parts of it


def _queue_up(*player_ids: int) -> None:
    """Let the challenges of a player, and to a player, be made one after another, to the end of the transaction."""
    with connection.cursor() as cursor:
        for player_id in sorted(set(player_ids)):
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('challenge'), %s)", [player_id])


def _require_time(player_id: int) -> None:
    """Raises `RateLimitedError`."""
    if wait := take(MAKING, str(player_id)):
        raise RateLimitedError("Too many challenges: wait a moment.", retry_after_ms=wait)


def _require_taken(player_id: int, target: int) -> None:
    """Raises `NoChallengesError`, which does not say why."""
    card, whose = accounts.players_by_id([target])[target], taken_by(target)
    refused = (
        target == player_id
        or card.kind == "guest"
        or bool(card.level)
        or whose == ChallengeTaking.Whose.NOBODY
        or (whose == ChallengeTaking.Whose.FRIENDS and not are_friends(player_id, target))
        or any_block(player_id, [target])
    )
    if refused:
        raise NoChallengesError


def _require_few(player_id: int, target: int) -> None:
    """Raises `ChallengeWaitsError`, `TooManyChallengesError`."""
    waiting = Challenge.objects.filter(status=Challenge.Status.OPEN, target__isnull=False)
    if same := waiting.filter(challenger_id=player_id, target_id=target).first():
        raise ChallengeWaitsError(challenge=same.id)
    if waiting.filter(challenger_id=player_id).count() >= MOST_MADE:
        raise TooManyChallengesError("Wait for answers to yours first.", limit=MOST_MADE)
    if waiting.filter(target_id=target).count() >= MOST_RECEIVED:
        raise TooManyChallengesError("The player has enough to answer.", limit=MOST_RECEIVED)


def _insert(
    player_id: int,
    terms: Terms,
    first: str,
    now: int,
    *,
    target: int | None = None,
    rematch_of: str | None = None,
) -> Challenge:
    return Challenge.objects.create(
        challenger_id=player_id,
        target_id=target,
        rematch_of_id=rematch_of,
        first=first,
        created_at=to_datetime(now),
        expires_at=to_datetime(now) + PATIENCE[terms.time_control.kind],
        **columns_of(terms),
    )


def _add_seats(row: Challenge, plans: Sequence[SeatPlan], *, agreed: int) -> Wish:
    seats = [
        ChallengeSeat(
            challenge=row,
            index=index,
            player_id=plan.player_id,
            level=plan.level,
            agreed=plan.player_id == agreed,
        )
        for index, plan in enumerate(plans)
    ]
    return Wish(row, ChallengeSeat.objects.bulk_create(seats))


def _rematch_of(game_id: str) -> Challenge | None:
    """The rematch of a game that counts, locked: one that was cancelled or has expired may be asked for anew."""
    over = [Challenge.Status.CANCELLED, Challenge.Status.EXPIRED]
    rows = Challenge.objects.select_for_update().filter(rematch_of_id=game_id)
    return rows.exclude(status__in=over).first()


def _with_seats(row: Challenge) -> Wish:
    return Wish(row, list(ChallengeSeat.objects.filter(challenge=row).order_by("index")))


def _lock(challenge_id: str, player_id: int) -> Wish:
    """Raises `UnknownChallengeError`."""
    rows = Challenge.objects.select_for_update().filter(id=challenge_id)
    row = rows.first() if is_id(challenge_id) else None
    wish = _with_seats(row) if row else None
    if wish is None or player_id not in wish.people:
        raise UnknownChallengeError
    return wish


def _require_open(row: Challenge, now: int) -> None:
    """Raises `ChallengeOverError`; what has expired is over, swept or not."""
    if row.status != Challenge.Status.OPEN:
        raise ChallengeOverError(status=row.status)
    if row.expires_at <= to_datetime(now):
        raise ChallengeOverError(status=Challenge.Status.EXPIRED)


def _agree(wish: Wish, player_id: int, now: int, random: Random) -> None:
    """The player's agreement, and the game if it is the last one."""
    row = wish.row
    if row.status == Challenge.Status.ACCEPTED:
        return
    _require_open(row, now)
    for seat in wish.seats:
        if seat.player_id == player_id and not seat.agreed:
            seat.agreed = True
            seat.save(update_fields=["agreed"])
    if wish.undecided:
        return
    if any_block(player_id, wish.people - {player_id}):
        raise NoChallengesError
    plans = [SeatPlan(seat.player_id, seat.level) for seat in wish.seats]
    if row.first == Challenge.First.CHALLENGED:
        plans = rotated(plans)
    elif row.first == Challenge.First.DRAW:
        plans = random.sample(plans, len(plans))
    row.game_id = start_agreed(terms=row.terms, plans=plans, caller=player_id, now=now)
    row.status, row.ended_at = Challenge.Status.ACCEPTED, to_datetime(now)
    row.save(update_fields=["game", "status", "ended_at"])
    first_seats = {plan.player_id: seat for seat, plan in reversed(list(enumerate(plans)))}
    for player in sorted(wish.people):
        event = ChallengeAccepted(challenge=row.id, game=row.game_id, seat=first_seats[player])
        inbox.notify(player_id=player, event=event)


def _end(wish: Wish, status: str, now: int, *, by: int | None = None) -> None:
    """No game: the others are told, and of one that has expired everybody."""
    row = wish.row
    row.status, row.ended_at = status, to_datetime(now)
    row.save(update_fields=["status", "ended_at", "reason", "words"])
    event = ChallengeEnded(
        challenge=row.id,
        status=status,  # type: ignore[arg-type]  # one of the three in which there is no game
        player=accounts.players_by_id([by])[by].name if by else None,
        reason=row.reason or None,
    )
    wish.tell(event, but=by)


def _received(wish: Wish) -> ChallengeReceived:
    row, control = wish.row, wish.row.terms.time_control
    return ChallengeReceived(
        challenge=row.id,
        challenger=accounts.players_by_id([row.challenger_id])[row.challenger_id].name,
        variant=row.variant,
        time_control=TimeControlData(control.kind.value, control.initial_ms, control.increment_ms),
        rated=row.rated,
        undo=row.undo,  # type: ignore[arg-type]  # the column has these choices
        spectators=row.spectators,
        first=row.first,  # type: ignore[arg-type]  # likewise
        rematch_of=row.rematch_of_id,
        expires_at=rfc3339(from_datetime(row.expires_at)),
    )
