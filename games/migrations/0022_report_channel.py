from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Of earlier reports, as far as the messages are still there."""
    message, report = apps.get_model('games', 'Message'), apps.get_model('games', 'Report')
    asked = set(report.objects.exclude(message=None).values_list('message', flat=True))
    for number, channel in message.objects.filter(pk__in=asked).values_list('pk', 'channel'):
        report.objects.filter(message=number).update(channel=channel)


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0021_outbox'),
    ]

    operations = [
        migrations.AddField(
            model_name='report',
            name='channel',
            field=models.CharField(blank=True, max_length=24),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
