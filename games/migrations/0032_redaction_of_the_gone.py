from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from games.migrations._append_only import KEPT_JSON, PERSONAL

# Lines of one statement: no lock is held for long, and a second run does what the first one did not.
AT_ONCE = 5_000


def redact(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take what is personal out of the lines about people who deleted their accounts before now."""
    if editor.connection.vendor == "postgresql":
        keys = ",".join(PERSONAL)
        without = ", ".join(f'"{one}" = "{one}" - \'{{{keys}}}\'::text[]' for one in KEPT_JSON)
    else:
        paths = ", ".join(f"'$.{key}'" for key in PERSONAL)
        without = ", ".join(f'"{one}" = json_remove("{one}", {paths})' for one in KEPT_JSON)
    statement = (
        f"UPDATE games_act SET words = '', {without} WHERE id > %s AND id <= %s"
        " AND person_id IN (SELECT id FROM accounts_user WHERE deleted_at IS NOT NULL)"
    )
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM games_act")
        (last,) = cursor.fetchone()
        for first in range(0, last or 0, AT_ONCE):
            cursor.execute(statement, [first, first + AT_ONCE])


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("games", "0032_redaction")]

    operations = [migrations.RunPython(redact, migrations.RunPython.noop)]
