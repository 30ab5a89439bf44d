from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_by_staff")]

    operations = [
        migrations.AddField("user", "established_at", models.DateTimeField(editable=False, null=True)),
    ]
