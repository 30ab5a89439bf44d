import json
from datetime import UTC, datetime

from django.db import migrations, models
from django.db.models import F

CONDUCT = {'player': 'left', 'clock': 'missed', 'staff': 'removed'}


def say_who_has_left(apps, schema_editor):
    """Who left games that are over counts from their ends, as it did; who left one that runs counts from now on."""
    seats = apps.get_model('games', 'Seat').objects
    seats.filter(conduct__in=CONDUCT.values(), left_at=None).update(left_at=F('ended'))
    lines = apps.get_model('games', 'Event').objects.filter(game__ended=None, game__left__gt=0)
    for line in lines.filter(body__contains='"abandoned"').select_related('game'):
        event = json.loads(line.body)
        if event['type'] == 'abandoned':
            left_at = datetime.fromtimestamp((line.game.started_ms + line.at) / 1000, UTC)
            seat = seats.filter(game=line.game, number=event['seat'])
            seat.update(conduct=CONDUCT[event['by']], left_at=left_at)


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0025_at_table'),
    ]

    operations = [
        migrations.AddField(
            model_name='seat',
            name='left_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='seat',
            index=models.Index(models.F('user'), models.F('left_at'), condition=models.Q(('left_at__isnull', False)), name='seats_left'),
        ),
        migrations.RunPython(say_who_has_left, migrations.RunPython.noop),
    ]
