"""The judge of chaos tests: reads every client's log and the database, and says which promise was broken and why.

The promises are those of the design: I1 acknowledged moves are kept, I2 one live matched game and whole games, I3 a
ticket is waiting or matched, I4 streams without gap or double and soon, I6 ratings are their ledger, I7 games end.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from openskill.models import PlackettLuce

from tests.chaos.logs import Connected, Frame, Log, Resumed
from tests.chaos.record import SEATS, EventRow, GameRow, LedgerRow, Record, SeatRow

PROMISED_MS = 5_000
"""What is promised: an event reaches each follower so soon after its commit."""
SLOWNESS_MS = 5_000
"""What is granted on top of it to a test machine whose two cores run everything else as well."""
_model = PlackettLuce(mu=1500.0, sigma=500.0, beta=250.0, tau=5.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken promise and its evidence."""

    promise: str
    what: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.what}"


@dataclass(slots=True)
class Verdict:
    """All that was found, and what was looked at."""

    findings: list[Finding] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        looked = ", ".join(f"{name} {value:g}" for name, value in self.figures.items())
        return "\n".join([f"checked: {looked}", *map(str, self.findings)])

    def broken(self) -> set[str]:
        """The promises that were broken."""
        return {finding.promise for finding in self.findings}


def judge(
    record: Record,
    logs: Sequence[Log] = (),
    *,
    wishes: Mapping[str, int] | None = None,
    ended: bool = True,
) -> Verdict:
    """Everything at once. `wishes`: how often each player joined a pool and did not leave it again; `ended`: all games
    should be over. The logs are of clients that followed their streams to the end.
    """
    verdict = Verdict()
    verdict.findings += acknowledged(record, logs)
    verdict.findings += matches(record)
    verdict.findings += tickets(record, wishes or {})
    verdict.findings += ratings(record)
    if ended:
        verdict.findings += endings(record)
    delays: list[int] = []
    for log in logs:
        for stream in log.streams():
            verdict.findings += follow(record, log, stream, delays)
    verdict.figures = {
        "games": len(record.games),
        "events": sum(map(len, record.events.values())),
        "acknowledged moves": len({ack for log in logs for ack in log.acks}),
        "ledger rows": len(record.ledger),
        "tickets left": len(record.queues.tickets),
        "streams followed": sum(len(log.streams()) for log in logs),
        "events received": len(delays),
        "median ms from commit": median(delays) if delays else 0,
        "worst ms from commit": max(delays, default=0),
    }
    return verdict


# I1


def acknowledged(record: Record, logs: Iterable[Log]) -> Iterable[Finding]:
    """Each acknowledged move stands once, at its ply and at the version that was said; no ply stands twice."""
    placed: dict[tuple[str, int], list[int]] = defaultdict(list)
    for game, events in record.events.items():
        for each in events:
            if each.event["type"] == "move_played":
                placed[game, each.event["ply"]].append(each.version)
    for (game, ply), versions in placed.items():
        if len(versions) > 1:
            yield Finding("I1", f"ply {ply} of {game} stands at versions {versions}")
    for log in logs:
        for ack in log.acks:
            versions = placed[ack.game, ack.ply]
            if versions != [ack.version]:
                where = f"the record has it at {versions}" if versions else "the record has it not"
                yield Finding("I1", f"{log.player} was told of {ack}, {where}")
    for row in record.games.values():
        there = [event.version for event in record.events.get(row.id, [])]
        if there != list(range(1, row.version + 1)):
            found = f"game {row.id} is at version {row.version}, its events are {there}"
            yield Finding("I1", found)


# I2


def matches(record: Record) -> Iterable[Finding]:
    """Seats as the variant asks, one live matched game a player; engagements and `match_found` for exactly these."""
    engaged, told, live = set(record.engagements), _told(record), Counter[int]()
    for game in record.games.values():
        seats = [seat for seat in record.seats if seat.game == game.id]
        people = [seat.player for seat in seats]
        if [seat.index for seat in seats] != list(range(SEATS[game.variant])):
            yield Finding("I2", f"{game.variant} game {game.id} has {len(seats)} seats")
        if not game.matched:
            continue
        if len(set(people)) != len(people):
            yield Finding("I2", f"a player sits twice in {game.id}: {people}")
        if game.status == "started":
            live.update(people)
        for seat in seats:
            pair = (seat.player, game.id)
            yield from _one_seat(record, game, seat, told.pop(pair, []), engaged=pair in engaged)
            engaged.discard(pair)
    for player, count in live.items():
        if count > 1:
            yield Finding("I2", f"{record.players[player]} is in {count} live matched games")
    for state, pairs in (("engaged in", engaged), ("told of", told.keys())):
        for player, game_id in pairs:
            who = record.players[player]
            yield Finding("I2", f"{who} is {state} {game_id} without a seat there")


def _one_seat(
    record: Record, game: GameRow, seat: SeatRow, told: list[int], *, engaged: bool
) -> Iterable[Finding]:
    who = record.players[seat.player]
    if engaged == game.settled:
        state = "still engaged in settled" if game.settled else "not engaged in"
        yield Finding("I2", f"{who} is {state} {game.id}")
    if told != [seat.index]:
        yield Finding("I2", f"{who} has seat {seat.index} of {game.id}, was told of {told}")


def _told(record: Record) -> dict[tuple[int, str], list[int]]:
    told: dict[tuple[int, str], list[int]] = defaultdict(list)
    for player, items in record.inboxes.items():
        for row in items:
            if row.event["type"] == "match_found":
                told[player, row.event["game"]].append(row.event["seat"])
    return told


# I3


def tickets(record: Record, wishes: Mapping[str, int]) -> Iterable[Finding]:
    """The queues fit together, no claim is left open, and each wish waits or is matched: not both, not neither."""
    queues = record.queues
    for name, there in (("leases", queues.leases), ("order", set(queues.order))):
        if there != queues.tickets:
            yield Finding("I3", f"tickets and {name} differ by {sorted(there ^ queues.tickets)}")
    for player in queues.tickets | set(queues.waiting) | set(queues.claimed):
        places = [*queues.waiting.get(player, []), *queues.claimed.get(player, "").split()]
        if len(places) != 1 or player not in queues.tickets:
            kept = "a" if player in queues.tickets else "no"
            yield Finding("I3", f"player {player} has {kept} ticket and stands in {places}")
    for claim in queues.claims | queues.claim_leases | set(queues.claimed.values()):
        yield Finding("I3", f"claim {claim} was never ended")
    for player, game_id in record.engagements:
        if player in queues.tickets:
            yield Finding("I3", f"{record.players[player]} plays {game_id} and still has a ticket")
    ids = {name: number for number, name in record.players.items()}
    found = Counter(player for player, _ in _told(record))
    for name, wished in wishes.items():
        matched, waiting = found[ids[name]], int(ids[name] in queues.tickets)
        if matched + waiting != wished:
            yield Finding(
                "I3", f"{name} joined {wished}×, was matched {matched}×, waits {waiting}×"
            )


# I4


def follow(record: Record, log: Log, stream: str, delays: list[int]) -> Iterable[Finding]:
    """One client's stream: what came, in which order, whether it is what the table has, and how soon it came.

    The delay of an event counts from its instant, or from the connection that brought it if that was made later.
    """
    table = {row.version: row for row in record.stream(stream, log.player)}
    cursor: int | None = None
    connected, resuming = 0, False
    who = f"{log.player} on {stream}"
    for entry in log.entries:
        match entry:
            case Connected(received=connected, inbox=inbox):
                if stream == "inbox":
                    resuming = cursor is not None and inbox > cursor
                    cursor = inbox if cursor is None else cursor
            case Resumed() if entry.stream == stream:
                resuming = False
            case Frame(kind="snapshot") if entry.stream == stream:
                if cursor is not None and entry.version < cursor:
                    yield Finding("I4", f"{who}: went back from {cursor} to {entry.version}")
                cursor = entry.version
            case Frame() if entry.stream == stream:
                if entry.version == (cursor or 0) + 1:
                    cursor = entry.version
                    yield from _same_and_soon(who, entry, table, connected, delays)
                elif not resuming:
                    yield Finding("I4", f"{who}: {entry.version} came after {cursor}")
    if (cursor or 0) != max(table, default=0):
        yield Finding("I4", f"{who}: ended at {cursor}, the table at {max(table, default=0)}")


def _same_and_soon(
    who: str, frame: Frame, table: Mapping[int, EventRow], connected: int, delays: list[int]
) -> Iterable[Finding]:
    row = table.get(frame.version)
    if row is None or (row.event, row.at) != (frame.body, frame.at):
        yield Finding("I4", f"{who}: {frame.version} is not what the table has")
    delays.append(frame.received - max(frame.at, connected))
    if delays[-1] > PROMISED_MS + SLOWNESS_MS:
        yield Finding("I4", f"{who}: {frame.version} came {delays[-1]} ms after its commit")


# I6


def ratings(record: Record) -> Iterable[Finding]:
    """Settled rated games are in the ledger once for each seat; replaying the ledger gives the ratings."""
    by_game: dict[str, list[LedgerRow]] = defaultdict(list)
    for row in record.ledger:
        by_game[row.game].append(row)
    for game in record.games.values():
        counts = game.rated and game.settled and game.status == "finished"
        seats = [(s.player, s.rank) for s in record.seats if s.game == game.id] if counts else []
        rows = [(row.player, row.rank) for row in by_game[game.id]]
        if rows != seats:
            yield Finding("I6", f"game {game.id}: the ledger has {rows}, its seats are {seats}")
        rated = [r for r in record.events.get(game.id, []) if r.event["type"] == "game_rated"]
        told = [c["mu_after"] for r in rated for c in r.event["changes"]]
        if told != [row.after[0] for row in by_game[game.id]]:
            yield Finding("I6", f"game {game.id}: `game_rated` and the ledger differ")
    yield from _replay(record)


def _replay(record: Record) -> Iterable[Finding]:
    now: dict[tuple[int, str], tuple[float, float, int]] = {}
    rated: dict[str, list[LedgerRow]] = {}
    for row in record.ledger:  # games without a common player may have drawn their numbers by turns
        rated.setdefault(row.game, []).append(row)
    for game, rows in rated.items():
        if len(rows) < 2:
            yield Finding("I6", f"{game}: a row alone, {rows[0].number}, cannot be replayed")
            continue
        before = [now.get((row.player, row.key), (1500.0, 500.0, 0)) for row in rows]
        teams = [[_model.rating(mu=mu, sigma=sigma)] for mu, sigma, _ in before]
        after = _model.rate(teams, ranks=[float(row.rank) for row in rows])
        for row, old, (new,) in zip(rows, before, after, strict=True):
            now[row.player, row.key] = (*row.after, row.sequence)
            if row.sequence != old[2] + 1 or not _near(row.before, old[:2]):
                yield Finding("I6", f"{game}: row {row.number} does not continue {old}")
            if not _near(row.after, (new.mu, new.sigma)):
                yield Finding(
                    "I6", f"{game}: row {row.number} should come to {new.mu}, {new.sigma}"
                )
    for key, (mu, sigma, games) in record.ratings.items():
        if games and (key not in now or not _near(now[key], (mu, sigma, games))):
            yield Finding(
                "I6", f"rating {key} is {mu}, {sigma}, {games}; its ledger says {now.get(key)}"
            )
    for key in now.keys() - record.ratings.keys():
        yield Finding("I6", f"the ledger has {key}, and there is no such rating")


def _near(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-9) for x, y in zip(a, b, strict=True))


# I7


def endings(record: Record) -> Iterable[Finding]:
    """Every game is over, says so once in its events, and is settled."""
    for game in record.games.values():
        types = Counter(row.event["type"] for row in record.events.get(game.id, []))
        if game.status == "started" or not game.settled or types["game_finished"] != 1:
            yield Finding("I7", f"{_described(game)} and has {types['game_finished']} endings")


def _described(game: GameRow) -> str:
    return f"game {game.id} is {game.status}, {'settled' if game.settled else 'not settled'}"
