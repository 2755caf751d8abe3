"""Makes the migrated SQLite database that tests copy."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tests.servers.kept import alone, forget_old, kept_file, kept_folder
from tests.servers.postgres import database_migrate

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
