from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0009_indexed'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='turn_mail',
            field=models.BooleanField(db_default=True, default=True, verbose_name='mail about relaxed games'),
        ),
    ]
