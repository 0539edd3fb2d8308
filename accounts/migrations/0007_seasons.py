"""Seasons, annulled games, players left out of leaderboards, and one list of what was decided about standing."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.season_rules
import common.ids

# Who is left out by an admin. The trigger `eligible` (migration 0002) comes before `excluded` by its name, and has taken
# the share lock of the player, so that an exclusion waits for a new rating, or the rating for the exclusion.
EXCLUDED = """
CREATE FUNCTION accounts_rating_excluded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.excluded := EXISTS (
        SELECT FROM accounts_exclusion WHERE player_id = NEW.player_id AND key IN ('', NEW.key)
    );
    RETURN NEW;
END $$;
CREATE TRIGGER excluded BEFORE INSERT ON accounts_ratingrow
    FOR EACH ROW EXECUTE FUNCTION accounts_rating_excluded();

CREATE FUNCTION accounts_exclusions_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM accounts_player WHERE id IN (SELECT player_id FROM changed)
        ORDER BY id FOR NO KEY UPDATE;
    UPDATE accounts_ratingrow AS rating SET excluded = NOT excluded
        WHERE player_id IN (SELECT player_id FROM changed) AND excluded <> EXISTS (
            SELECT FROM accounts_exclusion AS exclusion
            WHERE exclusion.player_id = rating.player_id AND exclusion.key IN ('', rating.key)
        );
    RETURN NULL;
END $$;
CREATE TRIGGER exclusions_inserted AFTER INSERT ON accounts_exclusion
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_exclusions_changed();
CREATE TRIGGER exclusions_deleted AFTER DELETE ON accounts_exclusion
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION accounts_exclusions_changed();
"""
NOT_EXCLUDED = "DROP FUNCTION accounts_rating_excluded, accounts_exclusions_changed CASCADE;"

# Decisions about scores become decisions about standing, one list of all of them.
NOW = "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED;"
KNOWN_DECISIONS = """
INSERT INTO accounts_standingdecision
    (action, key, game_id, player_id, player_name, by_id, by_name, at, reason, facts)
SELECT 'score-' || action, board_id, '', player_id, player_name, by_id, by_name, at, reason, jsonb_build_object(
    'score', score, 'placements', placements, 'finished_at', finished_at, 'source', source, 'rank', rank
) FROM accounts_scoredecision ORDER BY id;
"""
DECISIONS_BACK = """
INSERT INTO accounts_scoredecision (action, board_id, player_id, player_name, by_id, by_name, at, reason,
    score, placements, finished_at, source, rank)
SELECT substr(action, 7), key, player_id, player_name, by_id, by_name, at, reason, (facts->>'score')::bigint,
    (facts->>'placements')::int, (facts->>'finished_at')::bigint, facts->>'source', (facts->>'rank')::bigint
FROM accounts_standingdecision WHERE action IN ('score-removed', 'score-restored') ORDER BY id;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_moderation"),
    ]

    operations = [
        migrations.CreateModel(
            name="Exclusion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(blank=True, max_length=45)),
                ("since", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
            ],
            options={
                "permissions": [
                    ("exclude_player", "Can exclude players from leaderboards of ratings")
                ],
            },
        ),
        migrations.CreateModel(
            name="Season",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=common.ids.new_id,
                        editable=False,
                        max_length=12,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True)),
                (
                    "starts_at",
                    models.BigIntegerField(
                        help_text="The first millisecond of it, since the epoch."
                    ),
                ),
                ("ends_at", models.BigIntegerField(help_text="The first millisecond after it.")),
                (
                    "keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=45),
                        help_text="The ratings that it covers, such as `duo:blitz, duo:rapid`.",
                        size=None,
                    ),
                ),
                (
                    "min_games",
                    models.IntegerField(
                        default=10, help_text="Rated games that one needs to count."
                    ),
                ),
                (
                    "titles",
                    models.JSONField(
                        blank=True,
                        default=accounts.season_rules.usual_titles,
                        help_text='The first that fits is given: [{"title": "Champion", "rank": 1}, {"title": "Top 10", "rank": 10}, {"title": "Top 1 %", "percent": 1}].',
                    ),
                ),
                ("closed_at", models.BigIntegerField(editable=False, null=True)),
            ],
            options={
                "permissions": [("manage_season", "Can make, end, close and refreeze seasons")],
            },
        ),
        migrations.CreateModel(
            name="SeasonLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("line", models.IntegerField()),
                ("rank", models.IntegerField()),
                (
                    "name",
                    models.CharField(help_text="What the player was called then.", max_length=24),
                ),
                ("mu", models.FloatField()),
                ("sigma", models.FloatField()),
                ("games", models.IntegerField(help_text="Rated games in the season.")),
                ("title", models.CharField(blank=True, max_length=30)),
            ],
        ),
        migrations.CreateModel(
            name="SeasonPlan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Begins the names of its seasons, as `Kado 2026 Q4`.",
                        max_length=40,
                        unique=True,
                    ),
                ),
                (
                    "period",
                    models.CharField(
                        choices=[("month", "Month"), ("quarter", "Quarter"), ("year", "Year")],
                        max_length=8,
                    ),
                ),
                (
                    "active",
                    models.BooleanField(
                        default=False,
                        help_text="A season is made for the present period and for the next one.",
                    ),
                ),
                (
                    "keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=45),
                        help_text="The ratings that it covers, such as `duo:blitz, duo:rapid`.",
                        size=None,
                    ),
                ),
                (
                    "min_games",
                    models.IntegerField(
                        default=10, help_text="Rated games that one needs to count."
                    ),
                ),
                (
                    "titles",
                    models.JSONField(blank=True, default=accounts.season_rules.usual_titles),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SeasonTable",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=45)),
                ("lines", models.IntegerField()),
                ("frozen_at", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
                (
                    "late_changes",
                    models.IntegerField(
                        default=0,
                        help_text="Games of the season that were annulled or restored after the freeze.",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StandingDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("score-removed", "Score Removed"),
                            ("score-restored", "Score Restored"),
                            ("board-frozen", "Board Frozen"),
                            ("player-excluded", "Player Excluded"),
                            ("player-restored", "Player Restored"),
                            ("game-annulled", "Game Annulled"),
                            ("game-restored", "Game Restored"),
                            ("ratings-recomputed", "Ratings Recomputed"),
                            ("season-made", "Season Made"),
                            ("season-changed", "Season Changed"),
                            ("season-ended", "Season Ended"),
                            ("season-closed", "Season Closed"),
                            ("season-refrozen", "Season Refrozen"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        blank=True, help_text="Of the leaderboard; empty: all.", max_length=64
                    ),
                ),
                ("game_id", models.CharField(blank=True, max_length=12)),
                ("player_name", models.CharField(blank=True, max_length=24)),
                ("by_name", models.CharField(blank=True, max_length=24)),
                ("at", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
                ("reason", models.TextField()),
                (
                    "facts",
                    models.JSONField(
                        blank=True, default=dict, help_text="What was so at that moment."
                    ),
                ),
            ],
            options={
                "verbose_name": "decision about standing",
                "verbose_name_plural": "decisions about standing",
            },
        ),
        migrations.CreateModel(
            name="StandingJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("check", "check the ratings of a key"),
                            ("recompute", "recompute the ratings of a key"),
                            ("annul", "annul a game"),
                            ("restore", "restore a game"),
                            ("close", "close a season"),
                            ("refreeze", "freeze a season's tables again"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "subject",
                    models.CharField(
                        help_text="A rating's key, a game's id or a season's.", max_length=45
                    ),
                ),
                ("reason", models.TextField()),
                ("by_name", models.CharField(max_length=24)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("asked_at", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
                ("started_at", models.BigIntegerField(null=True)),
                ("ended_at", models.BigIntegerField(null=True)),
                ("outcome", models.TextField(blank=True)),
            ],
            options={
                "verbose_name": "job",
            },
        ),
        migrations.AlterModelOptions(
            name="ledgerrow",
            options={
                "permissions": [("annul_game", "Can annul rated games and restore them")],
                "verbose_name": "rating change",
            },
        ),
        migrations.AlterModelOptions(
            name="ratingrow",
            options={
                "permissions": [("recompute_ratings", "Can recompute and check ratings")],
                "verbose_name": "rating",
            },
        ),
        migrations.AlterModelOptions(
            name="scoreboard",
            options={"permissions": [("freeze_board", "Can freeze boards of scores")]},
        ),
        migrations.AddField(
            model_name="ledgerrow",
            name="annulled",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="ratingrow",
            name="annulled",
            field=models.IntegerField(
                default=0, help_text="Games that were rated once and do not count any more."
            ),
        ),
        migrations.AddField(
            model_name="ratingrow",
            name="excluded",
            field=models.BooleanField(
                default=False,
                help_text="Taken off the leaderboard by an admin; the database sets it.",
            ),
        ),
        migrations.AlterField(
            model_name="ledgerrow",
            name="at",
            field=models.BigIntegerField(
                help_text="When the game ended, in milliseconds since the epoch."
            ),
        ),
        migrations.AlterField(
            model_name="ledgerrow",
            name="player",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="rating_changes",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        # An expression cannot be altered, so the column is made anew, and with it its index.
        migrations.RemoveIndex("ratingrow", "rating_place"),
        migrations.RemoveField("ratingrow", "listed"),
        migrations.AddField(
            "ratingrow",
            "listed",
            models.GeneratedField(
                expression=models.ExpressionWrapper(
                    models.Q(eligible=True, excluded=False, sigma__lt=300.0),
                    output_field=models.BooleanField(),
                ),
                output_field=models.BooleanField(),
                db_persist=True,
            ),
        ),
        migrations.AddIndex(
            "ratingrow",
            models.Index("key", "place", name="rating_place", condition=models.Q(listed=True)),
        ),
        migrations.AddIndex(
            model_name="ledgerrow",
            index=models.Index(models.F("key"), models.F("id"), name="ledger_key"),
        ),
        migrations.AddIndex(
            model_name="ledgerrow",
            index=models.Index(
                models.F("id"), condition=models.Q(("annulled", True)), name="ledger_annulled"
            ),
        ),
        migrations.AddConstraint(
            model_name="ratingrow",
            constraint=models.CheckConstraint(
                condition=models.Q(("annulled__gte", 0), ("games__gte", 0)),
                name="rating_games_not_below_0",
            ),
        ),
        migrations.AddField(
            model_name="exclusion",
            name="player",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="exclusions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="seasonline",
            name="player",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="season_lines",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="seasonplan",
            constraint=models.CheckConstraint(
                condition=models.Q(("min_games__gte", 1)), name="season_plan_min_games"
            ),
        ),
        migrations.AddField(
            model_name="season",
            name="plan",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                to="accounts.seasonplan",
            ),
        ),
        migrations.AddField(
            model_name="seasontable",
            name="season",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tables",
                to="accounts.season",
            ),
        ),
        migrations.AddField(
            model_name="seasonline",
            name="table",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="entries",
                to="accounts.seasontable",
            ),
        ),
        migrations.AddField(
            model_name="standingdecision",
            name="by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="standingdecision",
            name="player",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="standing_decisions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="standingdecision",
            name="season",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="decisions",
                to="accounts.season",
            ),
        ),
        migrations.AddField(
            model_name="standingjob",
            name="by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="exclusion",
            constraint=models.UniqueConstraint(fields=("player", "key"), name="exclusion_once"),
        ),
        migrations.AddIndex(
            model_name="season",
            index=models.Index(
                models.OrderBy(models.F("starts_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="season_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="season",
            index=models.Index(
                models.F("ends_at"), condition=models.Q(("closed_at", None)), name="season_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="season",
            constraint=models.CheckConstraint(
                condition=models.Q(("starts_at__gte", 0), ("starts_at__lt", models.F("ends_at"))),
                name="season_span",
            ),
        ),
        migrations.AddConstraint(
            model_name="season",
            constraint=models.CheckConstraint(
                condition=models.Q(("min_games__gte", 1)), name="season_min_games"
            ),
        ),
        migrations.AddConstraint(
            model_name="season",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("closed_at", None), ("closed_at__gte", models.F("ends_at")), _connector="OR"
                ),
                name="season_closed_after_its_end",
            ),
        ),
        migrations.AddConstraint(
            model_name="season",
            constraint=models.UniqueConstraint(
                fields=("plan", "starts_at"), name="season_of_plan_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="seasontable",
            constraint=models.UniqueConstraint(fields=("season", "key"), name="season_table_once"),
        ),
        migrations.AddIndex(
            model_name="seasonline",
            index=models.Index(models.F("player"), models.F("table"), name="season_line_player"),
        ),
        migrations.AddIndex(
            model_name="seasonline",
            index=models.Index(
                models.F("player"),
                models.OrderBy(models.F("id"), descending=True),
                condition=models.Q(("title", ""), _negated=True),
                name="season_titles",
            ),
        ),
        migrations.AddConstraint(
            model_name="seasonline",
            constraint=models.UniqueConstraint(fields=("table", "line"), name="season_line_once"),
        ),
        migrations.AddIndex(
            model_name="standingdecision",
            index=models.Index(models.F("key"), models.F("id"), name="decision_key"),
        ),
        migrations.AddIndex(
            model_name="standingdecision",
            index=models.Index(
                models.F("game_id"),
                condition=models.Q(("game_id", ""), _negated=True),
                name="decision_game",
            ),
        ),
        migrations.AddConstraint(
            model_name="standingdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="standing_decision_reason"
            ),
        ),
        migrations.AddIndex(
            model_name="standingjob",
            index=models.Index(
                models.F("id"),
                condition=models.Q(("state__in", ["waiting", "running"])),
                name="standing_job_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="standingjob",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="standing_job_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="standingjob",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("state__in", ["waiting", "running"])),
                    models.Q(("ended_at__isnull", False), ("state__in", ["done", "failed"])),
                    _connector="OR",
                ),
                name="standing_job_ended_or_not",
            ),
        ),
        migrations.AddIndex(
            "ratingrow",
            models.Index("id", name="rating_excluded", condition=models.Q(excluded=True)),
        ),
        migrations.RunSQL(EXCLUDED, NOT_EXCLUDED),
        migrations.RunSQL([KNOWN_DECISIONS, NOW], [DECISIONS_BACK, NOW]),
        migrations.DeleteModel("ScoreDecision"),
    ]
