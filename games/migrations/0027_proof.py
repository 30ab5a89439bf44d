from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('games', '0026_left_at'),
    ]

    operations = [
        migrations.CreateModel(
            name='Proof',
            fields=[
                ('of', models.CharField(choices=[('live', 'ratings of live games'), ('relaxed', 'ratings of relaxed games'), ('careers', 'careers')], max_length=8, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('differences', models.PositiveIntegerField()),
            ],
            options={
                'verbose_name': 'proof',
                'verbose_name_plural': 'proofs',
            },
        ),
    ]
