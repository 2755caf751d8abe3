from datetime import UTC, datetime, timedelta

from django.db import migrations, models

import toolevals.workspace.fields

HOUR = timedelta(hours=1)


def make_hours(apps, editor):
    """Have all hours counted again, now with costs and verdicts, and those with traces that called nothing too.

    Until then they are counted by whoever reads them.
    """
    traces, hours = apps.get_model("traces", "Trace"), apps.get_model("traces", "TraceHour")
    hours.objects.update(calls=None)
    kept = set(hours.objects.values_list("project", "hour"))
    found = set()
    for project, pk in traces.objects.filter(settled__gt=0).values_list("project", "pk").iterator(chunk_size=5000):
        # The first 48 bits are the milliseconds at which a trace came.
        moment = datetime.fromtimestamp((pk.int >> 80) // 1000, UTC)
        found.add((project, moment.replace(minute=0, second=0, microsecond=0)))
    missing = [hours(project_id=project, hour=hour) for project, hour in sorted(found - kept, key=str)]
    hours.objects.bulk_create(missing, batch_size=1000)


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0012_days_of_questions'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='toolhour', name='tool_hour_of_a_project'),
        migrations.RemoveIndex(model_name='toolhour', name='tool_hour_to_count'),
        migrations.RenameModel(old_name='ToolHour', new_name='TraceHour'),
        migrations.RenameField(model_name='tracehour', old_name='counts', new_name='calls'),
        migrations.AddField(
            model_name='tracehour',
            name='costs',
            field=toolevals.workspace.fields.DocumentField(null=True),
        ),
        migrations.AddField(
            model_name='tracehour',
            name='verdicts',
            field=toolevals.workspace.fields.DocumentField(null=True),
        ),
        migrations.AddIndex(
            model_name='tracehour',
            index=models.Index(condition=models.Q(('calls__isnull', True)), fields=['hour'], name='trace_hour_to_count'),
        ),
        migrations.AddConstraint(
            model_name='tracehour',
            constraint=models.UniqueConstraint(fields=('project', 'hour'), name='trace_hour_of_a_project'),
        ),
        migrations.RunPython(make_hours, migrations.RunPython.noop),
    ]
