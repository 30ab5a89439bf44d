"""A proposed time knows the search it is for; those that stand belong to the game as it is now."""

import django.utils.timezone
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def fill(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    games = apps.get_model("games", "Game").objects.filter(pk=OuterRef("game_id"))
    apps.get_model("games", "Meeting").objects.update(head=Subquery(games.values("head")))


class Migration(migrations.Migration):
    dependencies = [("games", "0035_shares")]
    operations = [
        migrations.AddField("meeting", "head", models.PositiveIntegerField(default=0)),
        migrations.AddField("meeting", "proposed", models.DateTimeField(default=django.utils.timezone.now)),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
