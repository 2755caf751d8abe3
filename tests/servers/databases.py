"""Makes the migrated databases that tests copy, before tests need them: `python -m tests.servers.databases KIND`.

Several stages begin at the same time, and each would go through all migrations by itself. KIND is `sqlite` or
`postgresql`. Where no PostgreSQL can be had, the stage that needs it says so.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from tests.servers.kept import alone, forget_old, kept_file, kept_folder
from tests.servers.postgres import database_migrate, kept_cluster, postgres_programs
from tests.servers.process import UnavailableError

FILE = "toolevals.sqlite3"


def sqlite_kept() -> Path:
    """Return the migrated SQLite database; the first process that needs it makes it."""
    kept = kept_file()
    with alone(kept_folder() / "sqlite.lock"):
        if not kept.exists():
            making = kept.with_suffix(".making")
            with tempfile.TemporaryDirectory() as data:
                database_migrate("", data)
                making.unlink(missing_ok=True)
                with closing(sqlite3.connect(Path(data) / FILE)) as made, closing(sqlite3.connect(making)) as copy:
                    made.backup(copy)
            making.rename(kept)
            forget_old("*.sqlite3")
    return kept


def postgresql_kept() -> None:
    """Make the migrated cluster that is kept, unless it is there or no PostgreSQL can be had."""
    with tempfile.TemporaryDirectory() as folder, suppress(UnavailableError):
        Path(folder).chmod(0o755)
        kept_cluster(postgres_programs(Path(folder)))


if __name__ == "__main__":
    {"sqlite": sqlite_kept, "postgresql": postgresql_kept}[sys.argv[1]]()
