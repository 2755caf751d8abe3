from datetime import UTC

from django.db import migrations
from django.db.models.functions import TruncHour


def make_hours(apps, editor):
    """Make a row for each hour with calls, to be counted; until then they are counted by whoever reads them."""
    use, hour = apps.get_model("traces", "ToolUse"), apps.get_model("traces", "ToolHour")
    found = use.objects.order_by().values_list("project", TruncHour("came_at", tzinfo=UTC)).distinct()
    hour.objects.bulk_create([hour(project_id=project, hour=at) for project, at in found], batch_size=1000)


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0007_growth'),
    ]

    operations = [
        migrations.RunPython(make_hours, migrations.RunPython.noop),
    ]
