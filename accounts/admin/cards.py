"""Cards about people: who plays now, who came, what waits for moderators; and all that accounts know of one player."""

from django.urls import reverse

from accounts.models import Report, Sanction
from accounts.rules import Rating
from accounts.selectors import apps, people, presence, reports, sanctions, sign_ins, standing
from accounts.selectors import figures as figures_of
from accounts.selectors.callers import tokens_of
from common.cards import Card, bars, dashboard, link, player_page
from common.clock import from_datetime, rfc3339

MINUTE_MS = 60_000
DASHBOARD = "accounts.view_dashboard"
PLAYER = "accounts.view_player"


def short(at: int | None) -> str:
    """An instant to the minute, for tables."""
    return "" if at is None else rfc3339(at)[:16].replace("T", " ")


# The dashboard


@dashboard.card("People", order=30, permission=DASHBOARD)
def people_now(now: int) -> Card:
    """Who is connected, and who came to be in the last hour."""
    processes = presence.web_processes(now)
    came = figures_of.new_players(now=now, minutes=60)
    return Card(
        figures=[
            ("players online", sum(processes.values())),
            ("web processes", len(processes)),
            ("new players in an hour", sum(came.registered)),
            ("new guests", sum(came.guests)),
        ],
        chart=bars(
            [one + two for one, two in zip(came.registered, came.guests, strict=True)],
            label="New players and guests a minute",
        ),
        columns=("web process", "players"),
        rows=sorted(processes.items()),
        alarm=not processes,
    )


@dashboard.card("Waiting for moderators", order=60, permission="accounts.view_report")
def work(now: int) -> Card:
    """The cases that wait longest."""
    cases = reports.open_cases(limit=5)
    return Card(
        figures=[("open reports", reports.open_report_count())],
        columns=("player", "reports", "waits since", "claimed by"),
        rows=[
            (
                link(reverse("admin:accounts_report_case", args=[case.player_id]), case.name),
                case.reports,
                short(case.oldest),
                ", ".join(case.claimed_by) or "–",
            )
            for case in cases
        ],
        more=(reverse("admin:accounts_report_work"), "work list"),
    )


@dashboard.card("By the calendar", order=80, permission=DASHBOARD)
def calendar(now: int) -> Card:
    """When each nightly job was last done."""
    return Card(
        columns=("job", "period", "done"),
        rows=[
            (run.job, run.period, "" if run.done_at is None else short(from_datetime(run.done_at)))
            for run in figures_of.latest_jobs()
        ],
    )


# One player


@player_page.card("Now", order=10, permission=PLAYER)
def connections(player_id: int, now: int) -> Card:
    """Whether the player is connected, and to which processes."""
    there = presence.web_processes_of(player_id, now)
    away = presence.away_since([player_id], now).get(player_id)
    since = "not known" if not away else short(away)
    return Card(
        figures=[("connected to web processes", len(there))],
        rows=[(name,) for name in there],
        columns=("process",) if there else (),
        note="" if there else f"Not connected. The last connection ended: {since}.",
    )


@player_page.card("Ratings", order=30, permission="accounts.view_ratingrow")
def ratings(player_id: int, now: int) -> Card:
    """All of the player's ratings."""
    rows: list[tuple[str, Rating]] = sorted(standing.profile_ratings(player_id).items())
    return Card(
        columns=("key", "rating", "mu", "sigma", "games"),
        rows=[
            (key, str(each), f"{each.mu:.1f}", f"{each.sigma:.1f}", each.games)
            for key, each in rows
        ],
        more=(
            f"{reverse('admin:accounts_ledgerrow_changelist')}?player__id__exact={player_id}",
            "rating changes",
        ),
    )


@player_page.card("Sanctions", order=15, permission="accounts.view_sanction")
def bans(player_id: int, now: int) -> Card:
    """Every ban there was, the newest first."""
    rows = sanctions.sanctions_of(player_id)
    return Card(
        columns=("kind", "made", "until", "by", "reason", "state"),
        rows=[
            (
                row.kind,
                short(row.made_at),
                "for good" if row.until is None else short(row.until),
                row.by_name or "the rules",
                row.reason,
                _state(row, now),
            )
            for row in rows
        ],
        alarm=any(_state(row, now) == "in force" for row in rows),
        more=(
            f"{reverse('admin:accounts_sanction_add')}?player={player_id}",
            "ban this player",
        ),
    )


def _state(row: Sanction, now: int) -> str:
    if row.lifted_at is not None:
        return f"lifted by {row.lifted_by_name} {short(row.lifted_at)}: {row.lift_reason}"
    return "over" if row.until is not None and row.until <= now else "in force"


@player_page.card(
    "Reports and flags about this player", order=16, permission="accounts.view_report"
)
def about(player_id: int, now: int) -> Card:
    """What others reported, and what the nightly look at games found."""
    rows = reports.reports_about(player_id)
    is_open = any(row.closed_at is None for row in rows)
    return Card(
        columns=("kind", "at", "by", "words", "outcome"),
        rows=[(row.kind, short(row.at), _by(row), _words(row), _outcome(row)) for row in rows],
        alarm=is_open,
        more=(reverse("admin:accounts_report_case", args=[player_id]), "work on what is open"),
    )


@player_page.card("Reports by this player", order=50, permission="accounts.view_report")
def reported(player_id: int, now: int) -> Card:
    """What the player reported."""
    return Card(
        columns=("about", "kind", "at", "words", "outcome"),
        rows=[
            (row.player.name, row.kind, short(row.at), _words(row), _outcome(row))
            for row in reports.reports_by(player_id)
        ],
    )


def _by(row: Report) -> str:
    return row.reporter.name if row.reporter is not None else f"the rules, with {row.other}"


def _words(row: Report) -> str:
    if row.evidence is None:
        return row.words
    return str(row.evidence.get("words", ""))


def _outcome(row: Report) -> str:
    if row.closed_at is None:
        return f"open, claimed by {row.claimed_by}" if row.claimed_by else "open"
    return f"{row.outcome} by {row.closed_by_name}: {row.note}"


@player_page.card("Names", order=40, permission="accounts.view_namechange")
def names(player_id: int, now: int) -> Card:
    """The names that the player had."""
    return Card(
        columns=("old", "new", "cause", "at"),
        rows=[
            (change.old, change.new, change.cause, short(from_datetime(change.at)))
            for change in people.name_history(player_id)
        ],
    )


@player_page.card("Sign-ins, tokens and apps", order=45, permission="accounts.view_accesstoken")
def devices(player_id: int, now: int) -> Card:
    """By what the player comes in; no secret is kept, and none is shown."""
    rows: list[tuple[object, ...]] = [
        (f"signs in by {each.provider}", "", short(from_datetime(each.modified)))
        for each in sign_ins.sign_ins_of(player_id)
    ]
    rows += [
        (
            f"token {token.label or 'without a label'} …{token.hint}",
            " ".join(token.scopes),
            "never" if token.last_used_at is None else short(from_datetime(token.last_used_at)),
        )
        for token in tokens_of(player_id)
    ]
    rows += [
        (f"app {grant.name}", " ".join(grant.scopes), "") for grant in apps.grants_of(player_id)
    ]
    return Card(columns=("what", "scopes", "last used"), rows=rows)
