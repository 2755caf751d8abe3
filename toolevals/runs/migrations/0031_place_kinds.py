from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0030_one_key_of_a_pair")]

    operations = [migrations.AddField("packedcases", "kinds", models.BinaryField(null=True))]
