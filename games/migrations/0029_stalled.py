from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0028_case_live")]

    operations = [
        migrations.AddField(model_name="server", name="turned", field=models.BigIntegerField(null=True)),
        migrations.AddField(
            model_name="game", name="stalled_ms", field=models.BigIntegerField(db_default=0, default=0)
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                models.F("ended"),
                condition=models.Q(("ranked", True), ("stalled_ms__gt", 60_000)),
                name="game_stalled",
            ),
        ),
    ]
