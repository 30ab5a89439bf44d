from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def weigh_anew(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Until now a game that ran once counted for good: all that is open is weighed at the next occasion."""
    apps.get_model("games", "Case").objects.filter(decided=None).update(live=True)


class Migration(migrations.Migration):
    dependencies = [("games", "0027_proof")]

    operations = [
        migrations.AddField(model_name="case", name="live", field=models.BooleanField(default=False)),
        migrations.RunPython(weigh_anew, migrations.RunPython.noop),
    ]
