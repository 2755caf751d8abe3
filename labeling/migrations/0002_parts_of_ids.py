from typing import Any

from django.db import DatabaseError, migrations, transaction

# As `ExampleQuerySet.named_like` compares.
STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX example_id_parts ON labeling_example USING gin (upper(external_id) gin_trgm_ops)",
)


def index_make(apps: Any, schema_editor: Any) -> None:
    """Index the parts of ids where the database is PostgreSQL and lets us; else they are found without it, slower."""
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            for statement in STATEMENTS:
                cursor.execute(statement)
    except DatabaseError:
        return


def index_drop(apps: Any, schema_editor: Any) -> None:
    """Drop the index; the extension stays, for others may use it."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS example_id_parts")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0001_initial")]

    operations = [migrations.RunPython(index_make, index_drop)]
