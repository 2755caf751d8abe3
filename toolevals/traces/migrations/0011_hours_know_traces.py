from django.db import migrations


def count_again(apps, editor):
    """Have all hours counted again, now with the sums over traces; until then whoever reads them counts them."""
    apps.get_model("traces", "ToolHour").objects.update(counts=None)


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0010_judges_of_traces'),
    ]

    operations = [
        migrations.RunPython(count_again, migrations.RunPython.noop),
    ]
