"""Migrate as Django does, but no database that is older than the initial migrations know."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


class Command(migrate.Command):
    """Refuse a database from before the initial migrations that had not all of those that they replace."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        applied = MigrationRecorder(connections[options["database"]]).applied_migrations()
        for key, migration in sorted(MigrationLoader(None).disk_migrations.items()):
            for app, name in migration.replaces:
                if key in applied and (app, name) not in applied:
                    raise CommandError(
                        f"The database is older than this version can read: the migration {app}.{name} is missing in "
                        "it. Nothing has been changed. Run `python manage.py migrate` of the last version that has "
                        "this migration, then of this one: docs/operating.md, “A database from before 0.1.0”."
                    )
        return super().handle(*args, **options)
