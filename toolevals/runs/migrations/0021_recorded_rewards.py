from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0020_unscored_episodes")]

    operations = [
        migrations.AddField(model_name="transcript", name="reward", field=models.FloatField(null=True)),
    ]
