from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def uphold_what_was_acted_on(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Until now a report had the outcome of its whole case."""
    apps.get_model("games", "Report").objects.filter(verdict="acted").update(verdict="upheld")


def act_on_what_was_upheld(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("games", "Report").objects.filter(verdict="upheld").update(verdict="acted")


class Migration(migrations.Migration):
    dependencies = [("games", "0015_careers")]

    operations = [
        migrations.AlterField(
            model_name="report",
            name="verdict",
            field=models.CharField(
                blank=True,
                choices=[
                    ("upheld", "It was so"),
                    ("unfounded", "Nothing was found"),
                    ("abusive", "Reported falsely on purpose"),
                ],
                max_length=10,
                verbose_name="verdict",
            ),
        ),
        migrations.RunPython(uphold_what_was_acted_on, act_on_what_was_upheld),
    ]
