"""Every list of the admin site opens as fast at a million rows as at a hundred: what it asks reads a bounded part of
each table, counted by PostgreSQL itself on tables that are larger than that part.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.services.people import create_player
from common.admin import BoundedPaginator
from config.cards import workers

pytestmark = pytest.mark.django_db

ROWS = 20_000
NEWEST = 300
"""So many rows instead of the 10,000, so that the tables need not have a million."""
MOST = NEWEST + 700
"""Rows that one step of a plan may read: the newest, and what a page shows."""
SMALL = {
    "accounts.scoreboard": "one for each day and each set of rules",
    "accounts.season": "some a year",
    "accounts.seasonplan": "a handful",
    "auth.group": "a handful",
    "matchmaking.pool": "a handful",
    "oauth2_provider.application": "ten a developer",
    "otp_static.staticdevice": "one a member of the staff",
    "otp_totp.totpdevice": "one a member of the staff",
    "puzzle.daily": "one a day",
}
FILL = f"""
INSERT INTO accounts_player (password, is_superuser, name, kind, level, is_staff, is_active, off_boards, created_at, requests_from)
    SELECT '!', false, 'Player' || n, CASE n % 3 WHEN 0 THEN 'guest' ELSE 'registered' END, '', false, true, false,
        now() - n * interval '1 hour', 'everybody' FROM generate_series(1, {ROWS}) AS n;
CREATE TEMPORARY TABLE who ON COMMIT DROP AS
    SELECT id, row_number() OVER (ORDER BY id) AS n FROM accounts_player WHERE name LIKE 'Player%';
INSERT INTO accounts_inboxitem (player_id, version, at, payload) SELECT id, 1, n, '{{}}' FROM who;
INSERT INTO accounts_accesstoken (player_id, label, digest, hint, scopes, created_at)
    SELECT id, '', sha256(n::text::bytea), 'hint', '{{play}}', now() FROM who;
INSERT INTO accounts_ledgerrow (game_id, player_id, key, sequence, rank, mu_before, sigma_before, mu_after, sigma_after, at,
    annulled) SELECT lpad(n::text, 12, 'g'), id, 'duo:blitz', 1, 1 + n % 2, 1500, 500, 1510, 490, n, n % 200 = 0 FROM who;
ALTER TABLE accounts_ratingrow DISABLE TRIGGER USER;
INSERT INTO accounts_ratingrow (player_id, key, mu, sigma, games, annulled, eligible, excluded)
    SELECT id, 'duo:blitz', 1500 + n, 90, 1, 0, true, n % 200 = 0 FROM who;
INSERT INTO accounts_leaderboardbucket (board, low, entries) VALUES ('duo:blitz', '{{}}', 1);
ALTER TABLE accounts_exclusion DISABLE TRIGGER USER;
INSERT INTO accounts_exclusion (player_id, key, since) SELECT id, 'duo:blitz', n FROM who;
INSERT INTO accounts_season (id, name, starts_at, ends_at, keys, min_games, titles, closed_at)
    VALUES ('season000000', 'Winter', 0, 1, '{{duo:blitz}}', 1, '[]', 2);
INSERT INTO accounts_seasontable (id, season_id, key, lines, frozen_at, late_changes)
    VALUES (1, 'season000000', 'duo:blitz', {ROWS}, 2, 0);
INSERT INTO accounts_seasonline (table_id, line, rank, player_id, name, mu, sigma, games, title)
    SELECT 1, n, n, id, 'Player' || n, 1500, 90, 1, '' FROM who;
INSERT INTO accounts_standingjob (kind, subject, reason, by_name, state, asked_at, ended_at, outcome)
    SELECT 'check', 'duo:blitz', 'why', 'Boss', 'done', n, n, '' FROM who;
INSERT INTO accounts_scoreboard (key) VALUES ('puzzle:daily');
ALTER TABLE accounts_scoreentry DISABLE TRIGGER USER;
INSERT INTO accounts_scoreentry (key, player_id, score, placements, finished_at, source, removed, eligible)
    SELECT 'puzzle:daily', id, n, 1, 1, 'run', false, true FROM who;
INSERT INTO accounts_standingdecision (action, key, game_id, player_id, player_name, by_name, at, reason, facts)
    SELECT 'score-removed', 'puzzle:daily', '', id, 'Player' || n, 'Boss', n, 'why', '{{}}' FROM who;
INSERT INTO accounts_sanction (player_id, kind, reason, made_at, until, by_name, lifted_by_name, lift_reason)
    SELECT id, CASE n % 5 WHEN 0 THEN 'play' ELSE 'queue' END, 'why', n, n + 1, '', '', '' FROM who;
INSERT INTO accounts_report (id, player_id, reporter_id, kind, game_id, words, at, closed_at, closed_by_name, outcome, note)
    SELECT lpad(n::text, 12, 'r'), id, (SELECT max(id) FROM who), 'name', lpad(n::text, 12, 'g'), '', n, n, 'Boss',
        'dismissed', 'fine' FROM who WHERE n < {ROWS};
INSERT INTO accounts_friendship (sender_id, recipient_id, asked_at, since)
    SELECT who.id, other.id, who.n, who.n FROM who JOIN who AS other ON other.n = who.n + 1;
INSERT INTO accounts_block (blocker_id, blocked_id, at)
    SELECT who.id, other.id, who.n FROM who JOIN who AS other ON other.n = who.n + 1;
INSERT INTO territory_game (id, variant, pool, rated, clock_kind, initial_ms, increment_ms, status, termination, version,
    created_at, finished_at)
    SELECT lpad(n::text, 12, 'g'), 'duo', '', n % 2 = 0, 'none', 0, 0, 'finished', 'completed', 30,
        now() - n * interval '1 hour', now() FROM who;
INSERT INTO territory_seat (game_id, index, player_id, level) SELECT lpad(n::text, 12, 'g'), 0, id, '' FROM who;
INSERT INTO territory_engagement (player_id, game_id) SELECT id, lpad(n::text, 12, 'g') FROM who;
INSERT INTO puzzle_run (id, player_id, key, level, board, counted, seed, seed_hash, state, turn, version, status, revealed,
    score, placements, squares, lines, largest_clear, longest_streak, started_at, finished_at)
    SELECT lpad(n::text, 12, 'u'), id, 'easy:8x8:once', 'easy', '8x8', false, 'x', '', '', 1, 1, 'over', true, n, 0, 0, 0, 0, 0,
        now() - n * interval '1 hour', now() FROM who;
INSERT INTO puzzle_best (player_id, key, score, placements, runs, run_id, finished_at)
    SELECT id, 'easy:8x8:once', 1, 1, 1, lpad(n::text, 12, 'u'), now() FROM who;
INSERT INTO bots_hint (game_id, player_id, number, position, version, ply, colour, piece, move, asked_at, given_at)
    SELECT lpad(n::text, 12, 'g'), id, 1, n::text, 1, 1, 'blue', 'I3', 'a1', 1, now() FROM who;
INSERT INTO bots_runhint (run_id, player_id, turn, asked_at, at) SELECT lpad(n::text, 12, 'u'), id, 1, n, '' FROM who;
INSERT INTO bots_analysis (game_id, version, plies, simulations, engine, status, done, tries, asked_at, free_at, missed_at, finished_at)
    SELECT lpad(n::text, 12, 'g'), 1, 1, 1, 'x', 'done', 1, 0, now(), 1, 0, now() FROM who;
INSERT INTO bots_analysiswish (analysis_id, player_id)
    SELECT analysis.id, who.id FROM bots_analysis AS analysis JOIN who ON game_id = lpad(n::text, 12, 'g');
INSERT INTO matchmaking_room (code, status, revision, host_id, variant, kind, initial_ms, increment_ms, rated, undo, spectators,
    friends_only, created_at, expires_at, ended_at)
    SELECT lpad(n::text, 6, 'K'), 'expired', 1, id, 'duo', 'none', 0, 0, false, 'none', true, false, now(), now(), now() FROM who;
INSERT INTO matchmaking_challenge (id, status, challenger_id, target_id, variant, kind, initial_ms, increment_ms, rated, undo,
    spectators, first, reason, words, created_at, expires_at, ended_at)
    SELECT lpad(who.n::text, 12, 'c'), 'expired', who.id, other.id, 'duo', 'none', 0, 0, false, 'none', true, 'draw', '', '',
        now(), now(), now() FROM who JOIN who AS other ON other.n = who.n + 1;
ANALYZE;
"""


def _requests(pages: Any) -> Iterator[dict[str, str]]:
    """The list, its last page, searches that find something, little and nothing, and a value of each filter."""
    yield {}
    yield {"p": "6"}
    if pages.search_fields:
        for term in ("Player77", "player77", "Nobody", "g" * 9 + "777", "u" * 9 + "777", "x:y"):
            yield {"q": term}
    for item in pages.list_filter:
        name = (
            item
            if isinstance(item, str)
            else item[0]
            if isinstance(item, tuple)
            else item.parameter_name
        )
        yield from ({f"{name}{suffix}": value} for suffix, value in _values(name))


def _values(name: str) -> list[tuple[str, str]]:
    words = {
        "termination": "resigned",
        "variant": "junior",
        "level": "hard",
        "board": "9x9",
        "leaderboard": "duo:blitz",
    }
    if name in {"unlisted", "in_force", "excluded", "annulled", *words}:
        return [("", words.get(name, "1"))]
    if name in ("created_at", "revoked_at", "started_at"):
        return [("__gte", "2020-01-01 00:00:00+00:00")]
    if name in ("closed_at", "since"):
        return [("__isempty", "1"), ("__isempty", "0")]
    known = {
        "is_staff": "1",
        "is_active": "0",
        "rated": "0",
        "counted": "1",
        "kind": "bot",
        "player__kind": "bot",
        "status": "started",
        "state": "failed",
        "action": "score-restored",
    }
    return [("__exact", known[name])]


def _read(plan: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """For each step on a table: what it is, and how many rows it went through."""
    rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    if "Relation Name" in plan or "Index Name" in plan:
        where = plan.get("Relation Name") or plan["Index Name"]
        yield f"{plan['Node Type']} on {where}", rows * plan["Actual Loops"]
    for child in plan.get("Plans", ()):
        yield from _read(child)


def _too_much(client: Client, address: str, query: dict[str, str]) -> Iterator[str]:
    """What a page asks for that reads more than the bound, in words."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith("SELECT"):
            asked.append((sql, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(note):
        answer = client.get(address, query)
    assert answer.status_code == 200, (address, query)
    assert "Not known" not in answer.content.decode(), address
    for sql, params in asked:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", params)
            (plan,) = cursor.fetchone()
        for step, rows in _read((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]):
            if rows > MOST:
                yield f"{address} {query}: {step}, {rows:.0f} rows of {sql[:400]}"


def test_no_list_search_filter_or_page_of_ours_reads_a_whole_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedPaginator, "MOST", NEWEST)
    with connection.cursor() as cursor:
        cursor.execute(FILL)
        cursor.execute("SELECT id FROM accounts_player WHERE name = 'Player77'")
        (player,) = cursor.fetchone()
    workers.ask()
    client = Client()
    client.force_login(create_player(name="Boss", staff=True))
    wrong: list[str] = []
    for model, pages in admin.site._registry.items():
        if model._meta.label_lower in SMALL:
            continue
        assert issubclass(pages.paginator, BoundedPaginator), model
        assert not pages.show_full_result_count, model
        address = reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
        for query in _requests(pages):
            wrong += _too_much(client, address, query)
    for address in (
        "/admin/",
        reverse("admin:accounts_report_work"),
        reverse("admin:accounts_player_overview", args=[player]),
        reverse("admin:accounts_report_case", args=[player]),
    ):
        wrong += _too_much(client, address, {})
    assert not wrong, "\n".join(wrong)
