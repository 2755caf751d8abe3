from django.db import migrations, models

KEY_LENGTH = 16


def fill_keys(apps, editor):
    """Write the keys of each trace into its first chunk."""
    joined = "string_agg(span_id, '')" if editor.connection.vendor == "postgresql" else "group_concat(span_id, '')"
    editor.execute(
        f"UPDATE traces_spanchunk SET keys = COALESCE((SELECT {joined} FROM traces_span "
        "WHERE traces_span.trace_id = traces_spanchunk.trace_id), '') "
        "WHERE id IN (SELECT MIN(id) FROM traces_spanchunk GROUP BY trace_id)"
    )


def fill_spans(apps, editor):
    """Make a row of each key."""
    spans, chunks = apps.get_model("traces", "Span"), apps.get_model("traces", "SpanChunk")
    rows = []
    for trace, keys in chunks.objects.order_by("pk").values_list("trace", "keys").iterator(chunk_size=1000):
        rows += [
            spans(trace_id=trace, span_id=keys[at : at + KEY_LENGTH]) for at in range(0, len(keys), KEY_LENGTH)
        ]
        if len(rows) > 5000:
            spans.objects.bulk_create(rows, batch_size=5000)
            rows = []
    spans.objects.bulk_create(rows, batch_size=5000)


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0013_hours_of_traces'),
    ]

    operations = [
        migrations.AddField(
            model_name='spanchunk',
            name='keys',
            field=models.TextField(default=''),
            preserve_default=False,
        ),
        migrations.RunPython(fill_keys, fill_spans),
        migrations.DeleteModel(name='Span'),
    ]
