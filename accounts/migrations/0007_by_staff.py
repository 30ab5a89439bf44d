from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def no_names(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Which moderator acted stands in the log of acts, and not in the history of whom it was done to."""
    done = ['suspended', 'lifted', 'muted', 'unmuted', 'barred', 'unbarred', 'role', 'renamed']
    apps.get_model('accounts', 'Trace').objects.filter(what__in=done).exclude(by='').update(by='staff')


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_found_by_address'),
    ]

    operations = [
        migrations.RunPython(no_names, migrations.RunPython.noop),
    ]
