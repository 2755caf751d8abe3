"""New installations make their tables at once, and get those that installations have which went step by step."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

APPS = ("labeling", "registry", "reports", "runs", "traces", "workspace")
# An installation of some time ago.
HALF_WAY = [("labeling", "0010_spare_labels"), ("runs", "0020_unscored_episodes"), ("traces", "0008_hours_of_calls")]
# Digests of the steps and of the tables that they led to: going through them takes half a minute. After a change of a
# migration, of Django or of SQLite each run goes through them, until one with `STEPS_WRITE=1` has kept the outcome.
KEPT = Path(__file__).with_name("tables_of_steps.json")


def tables() -> dict[str, Any]:
    """Return what the database says of each table of ours: columns, indexes, and constraints, by name."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith(APPS):
                columns = connection.introspection.get_table_description(cursor, table)
                constraints = connection.introspection.get_constraints(cursor, table)
                found[table] = {
                    "columns": sorted([column.name, column.type_code, column.null_ok] for column in columns),
                    "constraints": sorted(
                        # On SQLite references have no names: Django counts them.
                        json.dumps([name.rstrip("0123456789"), kept], sort_keys=True, default=str)
                        for name, kept in constraints.items()
                    ),
                }
    return found


def write_tables_of_steps() -> None:
    """Migrate an empty database to what it was some time ago, then as anybody does; write out its tables."""
    django.setup()
    from django.core.management import call_command
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate(HALF_WAY)
    call_command("migrate", interactive=False, verbosity=0)
    sys.stdout.write(json.dumps(tables()))


def tables_of_steps(data: Path) -> dict[str, Any]:
    """Go through the steps in a process of its own, and return the tables to which they lead."""
    command = [sys.executable, "-c", f"from {__name__} import write_tables_of_steps; write_tables_of_steps()"]
    settings = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": str(data)}
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def steps() -> str:
    """Return a digest of what decides to which tables the steps lead."""
    digest = sha256(f"{django.__version__} {sqlite3.sqlite_version}".encode())
    for app, name in sorted(MigrationLoader(None, replace_migrations=False).graph.nodes):
        module = import_module(f"{MigrationLoader.migrations_module(app)[0]}.{name}")
        digest.update(Path(str(module.__file__)).read_bytes())
    return digest.hexdigest()


def digest_of(found: dict[str, Any]) -> str:
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


@pytest.mark.django_db
def test_an_installation_that_went_step_by_step_has_the_same_tables(tmp_path: Path):
    at_once = json.loads(json.dumps(tables()))
    here = {"steps": steps(), "tables": digest_of(at_once)}
    # Where anything is another than it was, the steps themselves say which tables are right.
    if here != json.loads(KEPT.read_text()):
        assert at_once == tables_of_steps(tmp_path)
    if os.environ.get("STEPS_WRITE"):
        KEPT.write_text(json.dumps(here, indent=2) + "\n")


def test_both_ways_end_in_the_same_models():
    at_once = MigrationLoader(None).project_state()
    step_by_step = MigrationLoader(None, replace_migrations=False).project_state()
    assert at_once.models == step_by_step.models


def test_a_new_installation_goes_through_few_migrations():
    graph = MigrationLoader(None).graph
    assert not [name for app, name in graph.nodes if app in APPS and name == "0001_initial"]
