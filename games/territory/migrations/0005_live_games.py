from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("territory", "0004_leaving"),
    ]

    operations = [
        migrations.AddField(
            model_name="game",
            name="strength",
            field=models.IntegerField(
                help_text="The players' mean rating at the start, if it is listed as now playing.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                models.OrderBy(models.F("strength"), descending=True),
                models.F("id"),
                condition=models.Q(("status", "started"), ("strength__isnull", False)),
                name="game_live",
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                models.F("variant"),
                models.OrderBy(models.F("strength"), descending=True),
                models.F("id"),
                condition=models.Q(("status", "started"), ("strength__isnull", False)),
                name="game_live_variant",
            ),
        ),
    ]
