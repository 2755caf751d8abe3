"""Databases that were migrated once and are kept for later test runs: making the tables takes seconds.

They stay beside the environment's packages, under a name that any change of a migration changes.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from scripts.dev.environment import ROOT

# Databases of other branches that stay, too.
KEPT = 5


def fingerprint() -> str:
    """Return a word for the text of all migrations, and of what makes their tables at once."""
    said = hashlib.sha256(version("django").encode())
    files = [
        file for app in ("labeling", "reports", "toolevals") for file in sorted((ROOT / app).rglob("migrations/*.py"))
    ]
    for file in (*files, ROOT / "toolevals/workspace/create_models.py"):
        said.update(f"{file.relative_to(ROOT)} ".encode() + file.read_bytes())
    return said.hexdigest()[:16]


def kept_folder() -> Path:
    """Return where migrated databases stay: in the virtual environment, else where temporary files are."""
    in_environment = Path(sys.prefix) if sys.prefix != sys.base_prefix else Path(tempfile.gettempdir())
    folder = in_environment / "migrated"
    folder.mkdir(exist_ok=True)
    return folder


def kept_file() -> Path:
    """Return where the migrated SQLite database stays. It is there once tests have run on SQLite."""
    return kept_folder() / f"{fingerprint()}.sqlite3"


def forget_old(pattern: str) -> None:
    """Remove all but the newest of the kept databases whose names match."""
    for old in sorted(kept_folder().glob(pattern), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old) if old.is_dir() else old.unlink()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold a lock among the processes of a test run."""
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
