import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Exists, Max, OuterRef, Subquery


def say_who_was_beaten(apps, schema_editor):
    """The lines that there are say it too; the careers are counted by the jobs that count them anyway."""
    lines = apps.get_model('games', 'RatingEvent').objects.order_by()
    others = lines.filter(game=OuterRef('game'), generation=OuterRef('generation')).exclude(player=OuterRef('player'))
    best = others.values('game').annotate(best=Max('before')).values('best')
    won = apps.get_model('games', 'Seat').objects.filter(
        game=OuterRef('game'), user=OuterRef('player'), place=1, game__listed=True
    )
    lines.filter(Exists(won)).update(beaten=Subquery(best))


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0014_appeals'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Career',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('games', models.PositiveIntegerField(default=0)),
                ('won', models.PositiveIntegerField(default=0)),
                ('most_points', models.PositiveSmallIntegerField(default=0)),
                ('completed', models.PositiveIntegerField(default=0)),
                ('uniques', models.PositiveIntegerField(default=0)),
                ('finished', models.PositiveIntegerField(default=0)),
                ('left', models.PositiveIntegerField(default=0)),
                ('missed', models.PositiveIntegerField(default=0)),
                ('removed', models.PositiveIntegerField(default=0)),
                ('garage', models.PositiveIntegerField(default=0)),
                ('office', models.PositiveIntegerField(default=0)),
                ('safe', models.PositiveIntegerField(default=0)),
                ('bags', models.PositiveIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'career',
                'verbose_name_plural': 'careers',
            },
        ),
        migrations.CreateModel(
            name='Opponent',
            fields=[
                ('pk', models.CompositePrimaryKey('user_id', 'opponent_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opponent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('games', models.PositiveIntegerField(default=0)),
                ('ahead', models.PositiveIntegerField(default=0)),
                ('behind', models.PositiveIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'opponent',
                'verbose_name_plural': 'opponents',
                'indexes': [models.Index(fields=['user', '-games', 'opponent'], name='opponents_by_games')],
            },
        ),
        migrations.AddField(
            model_name='game',
            name='counted',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='ratingevent',
            name='beaten',
            field=models.DecimalField(decimal_places=2, max_digits=7, null=True),
        ),
        migrations.RunPython(say_who_was_beaten, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='game',
            index=models.Index(models.F('id'), condition=models.Q(('counted', False), ('ended__isnull', False)), name='game_to_count'),
        ),
        migrations.AddIndex(
            model_name='ratingevent',
            index=models.Index(condition=models.Q(('beaten__isnull', False)), fields=['player', 'pace', '-beaten', '-finish_seq'], name='best_wins'),
        ),
    ]
