from django.db import migrations


class Migration(migrations.Migration):
    """Who shares an address is looked up by it; the table is allauth's, and has no index for that."""

    dependencies = [
        ('accounts', '0005_found_fast'),
        ('usersessions', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL(
            'CREATE INDEX IF NOT EXISTS session_of_address ON usersessions_usersession (ip)',
            'DROP INDEX IF EXISTS session_of_address',
        ),
    ]
