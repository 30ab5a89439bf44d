from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_established'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='indexed',
            field=models.BooleanField(db_default=True, default=True, verbose_name='games shown by search engines'),
        ),
    ]
