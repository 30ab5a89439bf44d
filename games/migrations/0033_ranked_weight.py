from django.db import migrations, models

RATED = [
    ("rated", "rated"),
    ("void", "not rated: the game was void"),
    ("short", "not rated: not one full round with a trade was played"),
    ("fault", "not rated: the server was away for more than a minute"),
    ("repeat", "not rated: the same players had met too often that day"),
    ("company", "not rated: not everybody has an account"),
    ("parked", "not rated yet: somebody has to look at it"),
]


class Migration(migrations.Migration):
    dependencies = [("games", "0032_redaction_of_the_gone")]

    operations = [
        migrations.AlterField("game", "rated", models.CharField(blank=True, choices=RATED, max_length=8)),
        migrations.AddField("game", "traded", models.BooleanField(default=True)),
        migrations.AddField("game", "weight", models.PositiveSmallIntegerField(default=100)),
        migrations.AlterField(
            "game",
            "rated",
            models.CharField(
                blank=True,
                max_length=8,
                choices=[
                    ("rated", "rated"),
                    ("void", "not rated: the game was void"),
                    ("short", "not rated: not one full round with a trade was played"),
                    ("fault", "not rated: the server was away for more than a minute"),
                    ("repeat", "not rated: the same players had met too often that day"),
                    ("company", "not rated: not everybody has an account"),
                    ("parked", "not rated yet: somebody has to look at it"),
                ],
            ),
        ),
    ]
