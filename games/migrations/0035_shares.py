import django.db.models.deletion
from django.db import migrations, models

from games.migrations._append_only import keep_rows


class Migration(migrations.Migration):
    dependencies = [("games", "0033_report_household")]

    operations = [
        migrations.CreateModel(
            name="FairnessLine",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("day", models.DateField()),
                ("digest", models.CharField(max_length=64)),
                ("head", models.CharField(max_length=64)),
            ],
            options={
                "verbose_name": "line of the public list",
                "verbose_name_plural": "lines of the public list",
                "indexes": [models.Index(fields=["day", "number"], name="fairness_day")],
            },
        ),
        keep_rows("games_fairnessline"),
        migrations.AddField("seat", "share", models.BinaryField(max_length=32, null=True)),
        migrations.AddField(
            "game",
            "line",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="games.fairnessline",
            ),
        ),
    ]
