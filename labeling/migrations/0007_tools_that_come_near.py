"""The tools that a request without a call comes near; gold without a call is read anew."""

from django.db import migrations, models


def read_anew(apps, schema_editor):
    rows = apps.get_model("labeling", "GoldTool").objects
    rows.filter(gold__in=rows.filter(part="expected", tool="(none)").values("gold")).delete()


class Migration(migrations.Migration):
    dependencies = [("labeling", "0006_shown_strata")]

    operations = [
        migrations.AlterField(
            model_name="goldtool",
            name="part",
            field=models.CharField(
                choices=[
                    ("expected", "Expected"),
                    ("answered", "Answered"),
                    ("near", "Near"),
                    ("estimated", "Estimated"),
                ],
                max_length=10,
            ),
        ),
        migrations.RunPython(read_anew, migrations.RunPython.noop),
    ]
