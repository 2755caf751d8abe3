"""The migrations make the tables that the models describe, and bring over installations from before there was one.

`before_one_migration` holds such an installation with a few rows, as each database writes itself out as SQL. Each app
had many migrations then.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from scripts.dev.environment import ROOT
from tests.servers.databases import FILE, sqlite_kept
from tests.servers.postgres import PostgresServer

APPS = ("labeling", "registry", "reports", "runs", "traces", "workspace")
BEFORE = Path(__file__).with_name("before_one_migration")
# What later migrations drop: columns by table, and tables.
DROPPED = {"runs_packedcases": {"patterns", "outcomes", "kinds"}, "runs_grading": {"verdict_sums"}}
TABLES_DROPPED = {"runs_trialtallies"}
# They list the models, and grow with each new one.
OF_MODELS = {"django_content_type", "auth_permission"}
# What PostgreSQL has in our schema: columns in any order, indexes and constraints. What it writes itself out and reads
# again has casts in other places.
ON_POSTGRESQL = r"""
    SELECT table_name, column_name, data_type, character_maximum_length::text, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT tablename, indexname,
        regexp_replace(indexdef, '::[a-z ]+(\[\])?|[()]', '', 'g'), '', '', ''
    FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT conrelid::regclass::text, conname,
        regexp_replace(pg_get_constraintdef(oid), '::[a-z ]+(\[\])?|[()]', '', 'g'), '', '', ''
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""
Tables = dict[str, list[tuple[Any, ...]]]


def before(database: str) -> str:
    """Return the statements that make the installation."""
    return gzip.decompress((BEFORE / f"{database}.sql.gz").read_bytes()).decode()


def migrate(data: Path, url: str = "") -> subprocess.CompletedProcess[str]:
    """Migrate as an operator does."""
    here = {"DATABASE_URL": url, "TOOLEVALS_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "toolevals.settings"}
    command = [sys.executable, "manage.py", "migrate", "--skip-checks"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | here, capture_output=True, text=True, check=False)


# Django's own tables that have more rows once there are new models.
GROWING = {"auth_permission", "django_content_type"}


def same_rows(rows: Tables, before: Tables) -> bool:
    """Tell whether every row is as before, and none is new."""
    return rows.keys() == before.keys() and all(
        set(kept) <= set(rows[table]) if table in GROWING else kept == rows[table] for table, kept in before.items()
    )


def rows_of(connection: Any, columns: dict[str, str]) -> Tables:
    """Return the rows of tables, by the names of their columns, but for migrations and the last keys."""
    return {
        table: sorted(map(tuple, connection.execute(f'SELECT {_staying(table, names)} FROM "{table}"')), key=repr)
        for table, names in columns.items()
        if table not in {"django_migrations", "sqlite_sequence", *OF_MODELS, *TABLES_DROPPED}
    }


def _staying(table: str, names: str) -> str:
    return ",".join(name for name in names.split(",") if name.strip('"') not in DROPPED.get(table, ()))


def sqlite_columns(connection: sqlite3.Connection) -> dict[str, str]:
    statement = (
        "SELECT tables.name, group_concat('\"' || columns.name || '\"') FROM sqlite_master AS tables, "
        "pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' GROUP BY 1"
    )
    return dict(connection.execute(statement))


def sqlite_schema(path: Path) -> dict[str, list[str]]:
    """Return the parts of the statement that made each table or index: columns may stand in another order."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: sorted(sql.partition(" (")[2].removesuffix(")").split(", ")) for name, sql in made}


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """The SQLite file of an installation from before, in a data folder of its own."""
    tmp_path.chmod(0o700)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(before("sqlite"))
    return tmp_path / FILE


@pytest.mark.django_db
def test_no_migration_is_missing():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_an_installation_from_before_is_brought_over_with_its_rows(installation: Path):
    with closing(sqlite3.connect(installation)) as connection:
        columns = sqlite_columns(connection)
        rows = rows_of(connection, columns)
        assert len(rows["labeling_example"]) == 3
        done = migrate(installation.parent)
        assert done.returncode == 0, done.stderr
        assert same_rows(rows_of(connection, columns), rows)
    assert sqlite_schema(installation) == sqlite_schema(sqlite_kept())
    assert "No migrations to apply" in migrate(installation.parent).stdout


@pytest.mark.servers
def test_one_on_postgresql_is_brought_over_too(postgres_server: PostgresServer, tmp_path: Path):
    url = postgres_server.database_create(f"before_{uuid4().hex}")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(before("postgresql").encode())
    with psycopg.connect(url, autocommit=True) as connection:
        statement = (
            "SELECT table_name, string_agg(format('%I', column_name), ',') "
            "FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1"
        )
        columns: dict[str, str] = dict(connection.execute(statement).fetchall())
        rows = rows_of(connection, columns)
        assert len(rows["labeling_example"]) == 3
        done = migrate(tmp_path, url)
        assert done.returncode == 0, done.stderr
        assert same_rows(rows_of(connection, columns), rows)
        brought_over = set(connection.execute(ON_POSTGRESQL).fetchall())
    with psycopg.connect(postgres_server.database_migrated(f"new_{uuid4().hex}")) as connection:
        assert brought_over == set(connection.execute(ON_POSTGRESQL).fetchall())


@pytest.mark.parametrize("app", APPS)
def test_an_older_installation_is_refused_by_name_and_left_alone(installation: Path, app: str):
    ((_, last),) = MigrationLoader(None).disk_migrations[app, "0001_initial"].replaces
    with closing(sqlite3.connect(installation)) as connection:
        with connection:
            connection.execute("DELETE FROM django_migrations WHERE (app, name) = (?, ?)", (app, last))
        whole = list(connection.iterdump())
        done = migrate(installation.parent)
        assert done.returncode == 1
        assert f"the migration {app}.{last} is missing in it" in done.stderr
        assert "Traceback" not in done.stderr
        assert list(connection.iterdump()) == whole


def test_no_new_migration_has_the_name_of_one_from_before(installation: Path):
    """Installations from before would count it as applied."""
    with closing(sqlite3.connect(installation)) as connection:
        earlier = set(connection.execute("SELECT app, name FROM django_migrations"))
    ours = {key for key in MigrationLoader(None).disk_migrations if key[0] in APPS}
    assert ours & earlier == {(app, "0001_initial") for app in APPS}
