from django.db import migrations

MAKE = "CREATE INDEX trace_words ON traces_trace USING gin (to_tsvector('simple', text))"


def on_postgresql(statement):
    """Return what runs a statement there; on SQLite words are looked for in the newest traces first, without it."""

    def run(apps, editor):
        if editor.connection.vendor == "postgresql":
            editor.execute(statement)

    return run


class Migration(migrations.Migration):

    dependencies = [
        ('traces', '0001_initial'),
    ]

    operations = [
        migrations.RunPython(on_postgresql(MAKE), on_postgresql("DROP INDEX trace_words")),
    ]
