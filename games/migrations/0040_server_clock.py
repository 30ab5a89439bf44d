"""A process publishes the site's time, and how far that is ahead of the database's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0038_meeting_head")]

    operations = [
        migrations.AddField("server", "clock", models.BigIntegerField(null=True)),
        migrations.AddField("server", "skew", models.BigIntegerField(null=True)),
    ]
