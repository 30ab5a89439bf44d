import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_who_appealed(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Until now whoever an act was done to was the only one to appeal."""
    appeals = apps.get_model("games", "Appeal")
    people = apps.get_model(settings.AUTH_USER_MODEL)
    for appeal in appeals.objects.select_related("act"):
        if people.objects.filter(pk=appeal.act.person_id).exists():
            appeal.person_id = appeal.act.person_id
            appeal.save(update_fields=["person"])
        else:
            appeal.delete()


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("games", "0013_history_filters"),
    ]

    operations = [
        migrations.AddField(
            model_name="appeal",
            name="person",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="appeals",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(name_who_appealed, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="appeal",
            name="person",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="appeals", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AlterField(
            model_name="appeal",
            name="act",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="appeals", to="games.act"
            ),
        ),
        migrations.AddConstraint(
            model_name="appeal",
            constraint=models.UniqueConstraint(fields=("act", "person"), name="one_appeal_a_person"),
        ),
    ]
