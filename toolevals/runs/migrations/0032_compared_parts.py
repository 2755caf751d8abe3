from django.db import migrations, models


class Migration(migrations.Migration):
    """Forget `kinds`, whose form is another now: a run from before is worked out again when it is compared."""

    dependencies = [("runs", "0031_place_kinds")]

    operations = [
        migrations.RemoveField("packedcases", "kinds"),
        migrations.AddField("packedcases", "kinds", models.BinaryField(null=True)),
        migrations.AddField("packedcases", "outcomes", models.BinaryField(null=True)),
    ]
