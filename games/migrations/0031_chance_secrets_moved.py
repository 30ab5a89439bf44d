from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Games of one statement: no lock is held for long, and what is done stays done.
AT_ONCE = 5_000

THERE = (
    "INSERT INTO games_gamesecret (game_id, server_seed) SELECT id, server_seed FROM games_game"
    " WHERE id > %s AND id <= %s AND ended IS NOT NULL ON CONFLICT DO NOTHING",
    "INSERT INTO games_seatsecret (game_id, number, nonce) SELECT s.game_id, s.number, s.nonce FROM games_seat s"
    " JOIN games_game g ON g.id = s.game_id WHERE g.id > %s AND g.id <= %s AND g.ended IS NOT NULL"
    " ON CONFLICT DO NOTHING",
)
BACK = (
    "UPDATE games_game SET server_seed = (SELECT c.server_seed FROM games_gamesecret c WHERE c.game_id = games_game.id)"
    " WHERE id > %s AND id <= %s",
    "UPDATE games_seat SET nonce = (SELECT c.nonce FROM games_seatsecret c"
    " WHERE c.game_id = games_seat.game_id AND c.number = games_seat.number) WHERE game_id > %s AND game_id <= %s",
)


def in_portions(editor: BaseDatabaseSchemaEditor, statements: tuple[str, ...]) -> None:
    """Run each statement for all games, so many ids at a time; a second run does what the first one did not."""
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM games_game")
        (last,) = cursor.fetchone()
        for first in range(0, last or 0, AT_ONCE):
            for statement in statements:
                cursor.execute(statement, [first, first + AT_ONCE])


def move(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Move what no longer changes: the games that have ended."""
    in_portions(editor, THERE)


def move_back(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    in_portions(editor, BACK)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("games", "0031_chance_secrets_made")]

    operations = [migrations.RunPython(move, move_back)]
