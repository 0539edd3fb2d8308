import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Game",
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
                ("variant", models.CharField(max_length=16)),
                ("pool", models.CharField(blank=True, max_length=40)),
                ("rated", models.BooleanField()),
                ("clock_kind", models.CharField(max_length=16)),
                ("initial_ms", models.BigIntegerField()),
                ("increment_ms", models.BigIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("started", "Started"),
                            ("finished", "Finished"),
                            ("aborted", "Aborted"),
                        ],
                        default="started",
                        max_length=8,
                    ),
                ),
                ("termination", models.CharField(blank=True, max_length=12)),
                ("version", models.IntegerField()),
                ("created_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("settled_at", models.DateTimeField(null=True)),
                ("wake_at", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("wake_at"),
                        condition=models.Q(("status", "started")),
                        name="game_wake",
                    ),
                    models.Index(
                        models.F("finished_at"),
                        condition=models.Q(
                            ("settled_at", None), models.Q(("status", "started"), _negated=True)
                        ),
                        name="game_unsettled",
                    ),
                    models.Index(
                        models.OrderBy(models.F("created_at"), descending=True),
                        models.F("id"),
                        name="game_newest",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "game_id",
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
                    "game",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="territory.game",
                    ),
                ),
            ],
            options={
                "ordering": ["game", "version"],
            },
        ),
        migrations.CreateModel(
            name="Engagement",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="engagements",
                        to="territory.game",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("index", models.SmallIntegerField()),
                ("level", models.CharField(blank=True, max_length=16)),
                ("points", models.SmallIntegerField(null=True)),
                ("rank", models.SmallIntegerField(null=True)),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seats",
                        to="territory.game",
                    ),
                ),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["game", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("game", "index"), name="seat_once")
                ],
            },
        ),
        # Room on each page for the new version of a row that changes on every move (HOT updates).
        migrations.RunSQL(
            "ALTER TABLE territory_game SET (fillfactor = 50)", migrations.RunSQL.noop
        ),
    ]
