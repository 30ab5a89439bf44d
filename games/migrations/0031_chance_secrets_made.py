import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Make room apart for what decides a game's chance; the next steps move it there."""

    dependencies = [("games", "0029_stalled")]

    operations = [
        migrations.CreateModel(
            name="GameSecret",
            fields=[
                (
                    "game",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="games.game",
                    ),
                ),
                ("server_seed", models.BinaryField(max_length=32)),
            ],
        ),
        migrations.CreateModel(
            name="SeatSecret",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "game_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("nonce", models.BinaryField(max_length=16, null=True)),
                (
                    "game",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="games.game",
                    ),
                ),
            ],
        ),
        # The way back adds the column empty, and only then fills it.
        migrations.AlterField("game", "server_seed", models.BinaryField(max_length=32, null=True)),
    ]
