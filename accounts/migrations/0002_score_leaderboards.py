"""Boards of scores; and the counts that tell a rank, kept by the database itself (docs/adr/0015-score-leaderboards.md)."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Floor

from accounts.models import Place


def _listed(condition):
    return models.GeneratedField(
        expression=models.ExpressionWrapper(condition, output_field=models.BooleanField()),
        output_field=models.BooleanField(),
        db_persist=True,
    )


def _place(*numbers):
    return models.GeneratedField(
        expression=Place(*numbers), output_field=ArrayField(models.FloatField()), db_persist=True
    )


# Who waits for whom: a transaction locks players, then boards, then entries or ratings, then buckets, and within each of
# these in the order of the keys. A statement sorts the buckets that it needs; joining two buckets goes against the
# order, so it never waits.
BUCKETS = """
-- Counts change in place: nothing that changes is indexed, and pages have room for it.
ALTER TABLE accounts_leaderboardbucket SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- Count anew the bucket that begins at `begins`, in parts of 500, from the rows of `rows`. The caller holds its lock.
CREATE FUNCTION accounts_split_bucket(rows regclass, of_board text, begins float8[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE ends float8[];
BEGIN
    SELECT min(low) INTO ends FROM accounts_leaderboardbucket WHERE board = of_board AND low > begins;
    EXECUTE format(
        'INSERT INTO accounts_leaderboardbucket (board, low, entries)
        SELECT $1, CASE part WHEN 0 THEN $2 ELSE min(place) END, count(*) FROM (
            SELECT place, (row_number() OVER (ORDER BY place) - 1) / 500 AS part FROM %s
            WHERE key = $1 AND listed AND place >= $2 AND ($3 IS NULL OR place < $3)
        ) AS parted GROUP BY part
        ON CONFLICT (board, low) DO UPDATE SET entries = excluded.entries', rows)
    USING of_board, begins, ends;
END $$;

-- Add a small bucket to the one before it, if that is free now: its lock comes before ours in the order, so there must be no waiting.
CREATE FUNCTION accounts_join_bucket(of_board text, begins float8[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    before float8[];
    added integer;
BEGIN
    SELECT max(low) INTO before FROM accounts_leaderboardbucket WHERE board = of_board AND low < begins;
    SELECT entries INTO added FROM accounts_leaderboardbucket WHERE board = of_board AND low = begins;
    PERFORM FROM accounts_leaderboardbucket
        WHERE board = of_board AND low = before AND entries + added <= 1000 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND OR EXISTS (  -- one that was split off meanwhile
        SELECT FROM accounts_leaderboardbucket WHERE board = of_board AND low > before AND low < begins
    ) THEN
        RETURN;
    END IF;
    UPDATE accounts_leaderboardbucket SET entries = entries + added WHERE board = of_board AND low = before;
    DELETE FROM accounts_leaderboardbucket WHERE board = of_board AND low = begins;
END $$;

-- Lock the bucket in which `at` falls, add to its count, and return where it begins.
CREATE FUNCTION accounts_count_in_bucket(of_board text, at float8[], added bigint) RETURNS float8[]
LANGUAGE plpgsql AS $$
DECLARE begins float8[];
BEGIN
    LOOP
        SELECT low INTO begins FROM accounts_leaderboardbucket
            WHERE board = of_board AND low <= at ORDER BY low DESC LIMIT 1 FOR NO KEY UPDATE;
        IF NOT FOUND THEN  -- the board's first; or the bucket was joined to another while we waited
            INSERT INTO accounts_leaderboardbucket (board, low, entries) VALUES (of_board, '{}', 0)
                ON CONFLICT DO NOTHING;
        ELSIF NOT EXISTS (  -- one that was split off while we waited
            SELECT FROM accounts_leaderboardbucket WHERE board = of_board AND low > begins AND low <= at
        ) THEN
            UPDATE accounts_leaderboardbucket SET entries = entries + added
                WHERE board = of_board AND low = begins;
            RETURN begins;
        END IF;
    END LOOP;
END $$;

"""

COUNT_LISTED = """
-- After a statement on ratings or scores: count what it listed and what it took off.
CREATE FUNCTION accounts_count_{operation}() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    boards text[] := '{{}}';
    begins text[] := '{{}}';
    change record;
    bucket record;
BEGIN
    FOR change IN {changes} ORDER BY key, place LOOP
        boards := boards || change.key::text;
        begins := begins || accounts_count_in_bucket(change.key, change.place, change.added)::text;
    END LOOP;
    FOR bucket IN
        SELECT DISTINCT board, low, entries FROM unnest(boards, begins) AS touched (of_board, begins)
        JOIN accounts_leaderboardbucket ON board = touched.of_board AND low = touched.begins::float8[]
        ORDER BY board, low
    LOOP
        IF bucket.entries > 1000 THEN
            PERFORM accounts_split_bucket(TG_RELID::regclass, bucket.board, bucket.low);
        ELSIF bucket.entries < 125 AND bucket.low <> '{{}}' THEN
            PERFORM accounts_join_bucket(bucket.board, bucket.low);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE TRIGGER count_{operation} AFTER {operation} ON accounts_ratingrow {rows}
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_{operation}();
CREATE TRIGGER count_{operation} AFTER {operation} ON accounts_scoreentry {rows}
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_{operation}();
"""

ADDED = "SELECT key, place, 1 AS added FROM new_rows WHERE listed"
TAKEN = "SELECT key, place, -1 AS added FROM old_rows WHERE listed"
CHANGED = f"""
    SELECT key, place, sum(added) AS added FROM ({ADDED} UNION ALL {TAKEN}) AS changes
    GROUP BY key, place HAVING sum(added) <> 0"""  # noqa: S608
NEW, OLD = "NEW TABLE AS new_rows", "OLD TABLE AS old_rows"

ELIGIBLE = """
-- A new row of a player: the share lock lets a ban wait for us, or us for the ban.
CREATE FUNCTION accounts_rating_eligible() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT is_active AND kind <> 'bot' INTO NEW.eligible
        FROM accounts_player WHERE id = NEW.player_id FOR SHARE;
    RETURN NEW;
END $$;
CREATE TRIGGER eligible BEFORE INSERT ON accounts_ratingrow
    FOR EACH ROW EXECUTE FUNCTION accounts_rating_eligible();

CREATE FUNCTION accounts_score_eligible() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT is_active AND kind = 'registered' INTO NEW.eligible
        FROM accounts_player WHERE id = NEW.player_id FOR SHARE;
    RETURN NEW;
END $$;
CREATE TRIGGER eligible BEFORE INSERT ON accounts_scoreentry
    FOR EACH ROW EXECUTE FUNCTION accounts_score_eligible();

-- Players are banned, unbanned or sign in: ranks close up, but on frozen boards. One statement for all of them, so that
-- theirs takes the buckets in order.
CREATE FUNCTION accounts_players_eligible() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed bigint[];
BEGIN
    SELECT array_agg(id) INTO changed FROM new_rows AS after JOIN old_rows AS before USING (id)
        WHERE (before.is_active, before.kind, before.level) IS DISTINCT FROM (after.is_active, after.kind, after.level);
    IF changed IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE accounts_ratingrow AS rating SET eligible = player.is_active AND player.kind <> 'bot'
        FROM new_rows AS player WHERE player.id = ANY(changed) AND rating.player_id = player.id;
    PERFORM FROM accounts_scoreboard
        WHERE frozen_at IS NULL AND key IN (SELECT key FROM accounts_scoreentry WHERE player_id = ANY(changed))
        ORDER BY key FOR SHARE;
    UPDATE accounts_scoreentry AS entry SET eligible = player.is_active AND player.kind = 'registered'
        FROM new_rows AS player, accounts_scoreboard AS board
        WHERE player.id = ANY(changed) AND entry.player_id = player.id
            AND board.key = entry.key AND board.frozen_at IS NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER eligible AFTER UPDATE ON accounts_player
    REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_players_eligible();
"""

KNOWN_RATINGS = """
UPDATE accounts_ratingrow SET eligible = false FROM accounts_player
    WHERE accounts_player.id = player_id AND NOT (is_active AND kind <> 'bot');
INSERT INTO accounts_leaderboardbucket (board, low, entries)
    SELECT key, '{}', count(*) FROM accounts_ratingrow WHERE listed GROUP BY key;
SELECT accounts_split_bucket('accounts_ratingrow', board, low) FROM accounts_leaderboardbucket;
"""

NOOP = migrations.RunSQL.noop
REVERSE = """
DROP FUNCTION accounts_players_eligible, accounts_score_eligible, accounts_rating_eligible,
    accounts_count_insert, accounts_count_update, accounts_count_delete,
    accounts_count_in_bucket, accounts_join_bucket, accounts_split_bucket CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            "LeaderboardBucket",
            [
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "board",
                        "low",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("board", models.CharField(max_length=64)),
                ("low", ArrayField(models.FloatField())),
                ("entries", models.IntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=Q(entries__gte=0), name="bucket_not_below_0")
                ]
            },
        ),
        migrations.CreateModel(
            "ScoreBoard",
            [
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "frozen_at",
                    models.BigIntegerField(
                        null=True,
                        blank=True,
                        help_text="Milliseconds since the epoch; no score is taken after it.",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            "ScoreEntry",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "board",
                    models.ForeignKey(
                        "accounts.ScoreBoard",
                        models.PROTECT,
                        related_name="entries",
                        db_column="key",
                        db_index=False,
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, models.CASCADE, related_name="scores"
                    ),
                ),
                ("score", models.BigIntegerField()),
                ("placements", models.IntegerField()),
                (
                    "finished_at",
                    models.BigIntegerField(help_text="Milliseconds since the epoch."),
                ),
                ("source", models.CharField(max_length=40)),
                (
                    "removed",
                    models.BooleanField(default=False, help_text="Taken off the list by an admin."),
                ),
                (
                    "eligible",
                    models.BooleanField(
                        default=True,
                        help_text="The player is registered and active; the database sets it, until the board is frozen.",
                    ),
                ),
                ("listed", _listed(Q(eligible=True, removed=False))),
                (
                    "place",
                    _place(F("score") * -1, F("placements"), F("finished_at"), F("player_id")),
                ),
            ],
            options={
                "verbose_name": "score",
                "constraints": [
                    models.UniqueConstraint(fields=["board", "player"], name="score_once"),
                    models.CheckConstraint(
                        condition=Q(score__range=(0, 2**53), placements__gte=0)
                        & Q(finished_at__range=(0, 2**53)),
                        name="score_exact",
                    ),
                ],
                "indexes": [
                    models.Index("board", "place", name="score_place", condition=Q(listed=True)),
                    models.Index("board", name="score_unlisted", condition=Q(listed=False)),
                ],
            },
        ),
        migrations.CreateModel(
            "ScoreDecision",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[("removed", "Removed"), ("restored", "Restored")], max_length=8
                    ),
                ),
                (
                    "board",
                    models.ForeignKey(
                        "accounts.ScoreBoard", models.PROTECT, related_name="decisions"
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL,
                        models.SET_NULL,
                        null=True,
                        related_name="score_decisions",
                    ),
                ),
                (
                    "player_name",
                    models.CharField(help_text="Kept when the player is deleted.", max_length=24),
                ),
                (
                    "by",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
                    ),
                ),
                ("by_name", models.CharField(max_length=24)),
                ("at", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
                ("reason", models.TextField()),
                ("score", models.BigIntegerField()),
                ("placements", models.IntegerField()),
                ("finished_at", models.BigIntegerField()),
                ("source", models.CharField(max_length=40)),
                (
                    "rank",
                    models.BigIntegerField(
                        null=True,
                        help_text="Before the removal, or after the restoring; none if banned.",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=~Q(reason=""), name="score_decision_reason")
                ]
            },
        ),
        migrations.RemoveIndex("ratingrow", "rating_leaderboard"),
        migrations.AddField(
            "ratingrow",
            "eligible",
            models.BooleanField(
                default=True,
                help_text="The player is active and no bot; the database sets it.",
            ),
        ),
        migrations.AddField("ratingrow", "listed", _listed(Q(eligible=True, sigma__lt=300.0))),
        migrations.AddField(
            "ratingrow",
            "place",
            _place(Floor(F("mu") + 0.5) * -1, F("mu") * -1, F("sigma"), F("player_id")),
        ),
        migrations.AddIndex(
            "ratingrow",
            models.Index("key", "place", name="rating_place", condition=Q(listed=True)),
        ),
        migrations.RunSQL(BUCKETS, REVERSE),
        migrations.RunSQL(KNOWN_RATINGS, NOOP),
        *(
            migrations.RunSQL(
                COUNT_LISTED.format(
                    operation=operation, changes=changes, rows=f"REFERENCING {rows}"
                ),
                NOOP,
            )
            for operation, changes, rows in [
                ("insert", ADDED, NEW),
                ("update", CHANGED, f"{NEW} {OLD}"),
                ("delete", TAKEN, OLD),
            ]
        ),
        migrations.RunSQL(ELIGIBLE, NOOP),
    ]
