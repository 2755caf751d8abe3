"""Makes a data folder ready, and tells what it was made ready for, so that a later start need not do it again.

`python -m toolevals.serving.preparation [--static] [--sample]` prints the sample's logins. Standard input may hold the
logins that were printed before.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from toolevals.serving.folders import PACKAGES, pages_folder

NAME = "prepared.json"


@dataclass(frozen=True)
class Preparation:
    """Hashes of what decides the database's tables and the static files; the sample's logins, None when not loaded."""

    tables: str = ""
    static: str = ""
    logins: str | None = None

    @classmethod
    def of(cls, data: Path) -> Preparation:
        """Return what a data folder was made ready for."""
        try:
            return cls(**json.loads((data / NAME).read_text()))
        except (OSError, ValueError, TypeError):
            return cls()

    def keep(self, data: Path) -> None:
        """Write it down in the data folder, for its owner's eyes alone: the sample's password is in it."""
        new = data / f"{NAME}.new"
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(self), file)
        new.replace(data / NAME)


def tables_state() -> str:
    """Return a hash over every migration of ours, and the version of the framework, which has migrations too."""
    rooms = (PACKAGES / room for room in ("toolevals", "labeling", "reports"))
    return state((path for room in rooms for path in room.rglob("migrations/*.py")), "django")


def static_state() -> str:
    """Return a hash over every static file, and over how they are stored."""
    stored = PACKAGES / "toolevals" / "settings" / "static_files.py"
    files = (path for path in (pages_folder() / "static").rglob("*") if path.is_file())
    return state([stored, *files], "django", "whitenoise", "brotli")


def state(paths: Iterable[Path], *packages: str) -> str:
    """Return a hash over the files' names and contents, and over the versions of other packages."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(f"{path.relative_to(PACKAGES)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    for package in packages:
        found.update(f"{package} {version(package)}\n".encode())
    return found.hexdigest()


def main() -> None:
    """Migrate, after a backup of SQLite; collect the static files and load the sample where that is asked for."""
    import django
    from django.core.management import call_command
    from django.core.management.base import CommandError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    django.setup()
    with ThreadPoolExecutor() as beside:
        # Static files are compressed for seconds, without the database.
        static = beside.submit(_static_collect) if "--static" in sys.argv else None
        try:
            upgrade_backup()
            call_command("migrate", interactive=False, verbosity=0)
        except CommandError as error:
            sys.exit(str(error))
        if "--sample" in sys.argv:
            call_command("load_sample", print_logins=True, known_logins=sys.stdin.read())
        if static is not None:
            static.result()


def upgrade_backup() -> None:
    """Back up an SQLite database that an older version made, and say where. Raises CommandError: it stays as it was."""
    from django.conf import settings
    from django.core.management.base import CommandError
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from toolevals.serving.backups import BackupError, backup_write, backups_prune

    executor = MigrationExecutor(connection)
    is_older = executor.loader.applied_migrations and executor.migration_plan(executor.loader.graph.leaf_nodes())
    if connection.vendor != "sqlite" or not settings.UPGRADE_BACKUPS or not is_older:
        return
    folder = settings.DATA_DIR / "backups"
    try:
        file, _ = backup_write(folder)
    except BackupError as error:
        words = "Free some space, or set TOOLEVALS_UPGRADE_BACKUPS=0 to upgrade without a backup."
        raise CommandError(
            f"The database was not upgraded, because it could not be backed up: {error}. {words}"
        ) from error
    backups_prune(folder, settings.UPGRADE_BACKUPS)
    sys.stderr.write(f"Before the upgrade of the database it was backed up: {file}\n")
    sys.stderr.write(f"To go back, install the version before, and run: toolevals restore-backup {file} --replace\n")


def _static_collect() -> None:
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, clear=True, verbosity=0)


if __name__ == "__main__":
    main()
