from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0018_probe_checks")]

    operations = [
        migrations.AddField(model_name="transcript", name="reward", field=models.FloatField(null=True)),
    ]
