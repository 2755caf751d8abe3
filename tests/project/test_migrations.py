"""The migrations make the tables that the models describe."""

from __future__ import annotations

from django.core.management import call_command


def test_no_migration_is_missing(db):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
