from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

REST = (
    "INSERT INTO games_gamesecret (game_id, server_seed) SELECT g.id, g.server_seed FROM games_game g"
    " WHERE NOT EXISTS (SELECT 1 FROM games_gamesecret c WHERE c.game_id = g.id)",
    "INSERT INTO games_seatsecret (game_id, number, nonce) SELECT s.game_id, s.number, s.nonce FROM games_seat s"
    " WHERE NOT EXISTS (SELECT 1 FROM games_seatsecret c WHERE c.game_id = s.game_id AND c.number = s.number)",
)


def move_the_rest(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Move the few games that run, while nothing can change them, in one transaction with the end of the old columns."""
    with editor.connection.cursor() as cursor:
        if editor.connection.vendor == "postgresql":
            cursor.execute("LOCK TABLE games_game, games_seat IN ACCESS EXCLUSIVE MODE")
        for statement in REST:
            cursor.execute(statement)
        if editor.connection.vendor == "postgresql":
            # Checked now: no table is altered while checks of its rows are still to come.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):
    dependencies = [("games", "0031_chance_secrets_moved")]

    operations = [
        migrations.RunPython(move_the_rest, migrations.RunPython.noop),
        migrations.RemoveField("game", "server_seed"),
        migrations.RemoveField("seat", "nonce"),
    ]
