from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from games.migrations._append_only import no_triggers, redactable_triggers, triggers


def let_personal_words_go(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    vendor = editor.connection.vendor
    for statement in (*no_triggers(vendor, "games_act"), *redactable_triggers(vendor)):
        editor.execute(statement, params=None)


def keep_every_word(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    vendor = editor.connection.vendor
    for statement in (*no_triggers(vendor, "games_act"), *triggers(vendor, "games_act")):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("games", "0031_chance_secrets_only")]

    operations = [migrations.RunPython(let_personal_words_go, keep_every_word)]
