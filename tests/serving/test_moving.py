"""Moving from SQLite to PostgreSQL: every row of the sample, compared here by its own means; killed and begun again."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.prepared import prepared_copy, prepared_root
from tests.servers.databases import FILE, sqlite_kept
from tests.servers.postgres import PostgresServer
from toolevals.cli.output import Exit

pytestmark = pytest.mark.servers
PLAIN = """
SELECT table_name, array_agg(format('"%s"', column_name)) FROM information_schema.columns
WHERE table_schema = 'public' AND table_name <> 'django_migrations' AND data_type IN (
    'text', 'character varying', 'smallint', 'integer', 'bigint', 'double precision'
) GROUP BY table_name
"""


def command(data: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return a command on a data folder and its environment."""
    here = {"TOOLEVALS_DATA_DIR": str(data), "DATABASE_URL": "", "REDIS_URL": ""}
    here |= {"DJANGO_SETTINGS_MODULE": "toolevals.settings"}
    return [sys.executable, "-m", "toolevals.cli.main", *words], os.environ | here


def moved(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the verb."""
    line, here = command(data, "migrate-database", *words)
    return subprocess.run(line, cwd=ROOT, env=here, capture_output=True, text=True, check=False)


def counts(url: str) -> dict[str, int]:
    """Return the rows of each table of PostgreSQL."""
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        count = psycopg.sql.SQL("SELECT count(*) FROM {}").format
        return {name: connection.execute(count(psycopg.sql.Identifier(name))).fetchone()[0] for (name,) in names}  # type: ignore[index]


@pytest.fixture
def data(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A data folder with the sample project."""
    prepared_copy(prepared_root(tmp_path_factory), tmp_path / "data", sample=True)
    return tmp_path / "data"


def test_every_row_of_the_sample_is_moved_once(data: Path, postgres_server: PostgresServer) -> None:
    url = postgres_server.database_create(f"moved_{uuid4().hex}")
    before = (data / FILE).read_bytes()
    # Killed in the middle: the tables are there, without a row of ours.
    line, here = command(data, "migrate-database", url)
    with subprocess.Popen(line, cwd=ROOT, env=here, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr
        assert any(b"labeling_label" in said for said in process.stderr)
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 30
    while counts(url)["workspace_user"] or counts(url)["labeling_label"]:
        assert time.monotonic() < deadline
    # Whoever has SQLite open keeps it from being moved.
    with closing(sqlite3.connect(data / FILE)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("SELECT count(*) FROM workspace_user")
        assert "is running" in moved(data, url).stderr
    done = moved(data, url)
    assert done.returncode == Exit.OK, done.stderr[-3000:]
    assert counts(url)["labeling_label"] > 0
    with closing(sqlite3.connect(data / FILE)) as source, psycopg.connect(url) as target:
        for table, columns in target.execute(PLAIN).fetchall():
            # Read by the drivers themselves: these types are the same on both.
            query = f"SELECT {', '.join(columns)} FROM {table}"
            theirs, ours = (sorted(map(repr, each.execute(query).fetchall())) for each in (target, source))
            assert theirs == ours, table
    assert (data / FILE).read_bytes()[100:] == before[100:]
    # New rows get new numbers.
    line, here = command(data, "create-owner", "new@example.org", "--name", "New", "--project", "next")
    here |= {"TOOLEVALS_DATABASE_URL": url, "TOOLEVALS_PASSWORD": "correct horse battery"}
    assert subprocess.run(line, cwd=ROOT, env=here, check=False).returncode == Exit.OK
    # A second time nothing doubles.
    after = counts(url)
    again = moved(data, url)
    assert (again.returncode, "is not empty" in again.stderr) == (Exit.CONFIGURATION, True)
    assert counts(url) == after


def test_a_row_that_postgresql_does_not_take_leaves_nothing(tmp_path: Path, postgres_server: PostgresServer) -> None:
    url = postgres_server.database_create(f"moved_{uuid4().hex}")
    data = tmp_path / "small"
    data.mkdir(mode=0o700)
    shutil.copy(sqlite_kept(), data / FILE)
    line, here = command(data, "create-owner", "new@example.org", "--name", "New", "--project", "next")
    here |= {"TOOLEVALS_PASSWORD": "correct horse battery"}
    assert subprocess.run(line, cwd=ROOT, env=here, check=False).returncode == Exit.OK
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("UPDATE workspace_project SET name = printf('%.500c', 'x')")
    done = moved(data, url)
    assert (done.returncode, "does not take a row of workspace_project" in done.stderr) == (Exit.CONFIGURATION, True)
    assert counts(url)["workspace_user"] == 0
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        connection.execute("UPDATE workspace_project SET name = 'x'")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM workspace_user")
    done = moved(data, url)
    assert (done.returncode, "names another that is missing" in done.stderr) == (Exit.CONFIGURATION, True)
    assert counts(url)["workspace_project"] == 0


def test_what_cannot_be_moved_is_said(tmp_path: Path, data: Path) -> None:
    assert "name the URL" in moved(data).stderr
    assert "there is no" in moved(tmp_path / "none", "postgresql://127.0.0.1:1/none").stderr
    assert "nothing was moved" in moved(data, "postgresql://127.0.0.1:1/none").stderr
    assert "not a PostgreSQL" in moved(data, f"sqlite:///{tmp_path}/other").stderr
