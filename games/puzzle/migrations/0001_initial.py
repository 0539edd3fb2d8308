import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Daily",
            fields=[
                ("date", models.DateField(primary_key=True, serialize=False)),
                ("seed", models.BinaryField(max_length=32)),
                ("seed_hash", models.CharField(max_length=64)),
                ("closed_at", models.DateTimeField(null=True)),
                ("frozen_at", models.DateTimeField(null=True)),
            ],
            options={
                "verbose_name": "daily puzzle",
                "ordering": ["-date"],
                "indexes": [
                    models.Index(
                        models.F("date"),
                        condition=models.Q(("frozen_at", None)),
                        name="daily_unfrozen",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("frozen_at", None), ("closed_at__isnull", False), _connector="OR"
                        ),
                        name="daily_closed_first",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                ("key", models.CharField(help_text="What its best is kept under.", max_length=60)),
                ("level", models.CharField(max_length=8)),
                ("board", models.CharField(max_length=8)),
                ("counted", models.BooleanField(default=False)),
                ("seed", models.BinaryField(max_length=32)),
                ("seed_hash", models.CharField(max_length=64)),
                ("state", models.TextField()),
                ("turn", models.IntegerField(default=0)),
                ("version", models.IntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("over", "over (no block fits)"),
                            ("abandoned", "abandoned (another run was started)"),
                            ("closed", "closed (the day ended)"),
                        ],
                        default="running",
                        max_length=9,
                    ),
                ),
                ("revealed", models.BooleanField(default=False)),
                ("score", models.IntegerField(default=0)),
                ("placements", models.IntegerField(default=0)),
                ("squares", models.IntegerField(default=0)),
                ("lines", models.IntegerField(default=0)),
                ("largest_clear", models.SmallIntegerField(default=0)),
                ("longest_streak", models.IntegerField(default=0)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "daily",
                    models.ForeignKey(
                        db_column="date",
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="puzzle.daily",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Best",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=60)),
                ("score", models.IntegerField()),
                ("placements", models.IntegerField()),
                ("finished_at", models.DateTimeField()),
                ("runs", models.IntegerField()),
                (
                    "player",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="puzzle.run",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "bests",
            },
        ),
        migrations.CreateModel(
            name="RunEvent",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id",
                        "version",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("version", models.IntegerField()),
                ("at", models.BigIntegerField(help_text="Milliseconds since the epoch.")),
                ("payload", models.TextField()),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="puzzle.run",
                    ),
                ),
            ],
            options={
                "ordering": ["run", "version"],
            },
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                models.F("player"),
                models.OrderBy(models.F("started_at"), descending=True),
                models.OrderBy(models.F("id"), descending=True),
                name="run_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                models.OrderBy(models.F("started_at"), descending=True),
                models.F("id"),
                name="run_newest_of_all",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                models.F("player"),
                models.F("key"),
                condition=models.Q(("revealed", False)),
                name="run_unrevealed",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                models.F("daily"),
                models.F("player"),
                condition=models.Q(("counted", True), ("revealed", False)),
                name="run_open_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "running")),
                fields=("player", "key", "daily", "counted"),
                name="run_one_running",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("counted", True)),
                fields=("player", "daily"),
                name="run_one_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("daily__isnull", False), ("level", "daily")),
                    models.Q(
                        models.Q(("level", "daily"), _negated=True),
                        ("counted", False),
                        ("daily", None),
                    ),
                    _connector="OR",
                ),
                name="run_date_of_daily",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at", None), ("status", "running")),
                    models.Q(
                        models.Q(("status", "running"), _negated=True),
                        ("finished_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="run_finished_or_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("revealed", False),
                    models.Q(("status", "running"), _negated=True),
                    _connector="OR",
                ),
                name="run_hides_its_seed",
            ),
        ),
        migrations.AddConstraint(
            model_name="best",
            constraint=models.UniqueConstraint(fields=("player", "key"), name="best_once"),
        ),
        migrations.AddConstraint(
            model_name="best",
            constraint=models.CheckConstraint(
                condition=models.Q(("runs__gte", 1)), name="best_of_a_run"
            ),
        ),
    ]
