from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0033_ranked_weight")]

    operations = [
        migrations.AddField("report", "household", models.CharField(blank=True, max_length=16)),
    ]
