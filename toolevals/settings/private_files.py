"""Keeps the data folder, with the signing key, to the account that runs the server: others neither list nor read it."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from pathlib import Path


def secret_key(data_dir: Path) -> str:
    """Return the key in `data_dir`, making it at the first call; two processes that race agree on one."""
    path = data_dir / "secret-key"
    data_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        fresh = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text()


FOLDER, FILE = 0o700, 0o600


def keep_private(data_dir: Path) -> None:
    """Make the folders of `data_dir`, readable by their owner only; correct those that are there, and say so.

    A folder with the sticky bit, such as /tmp, is everyone's and stays so: only what is in it is corrected.
    """
    uploads = data_dir / "uploads"
    for folder in (data_dir, uploads, uploads / "arriving"):
        folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    folders = [folder for folder in (data_dir, uploads) if _is_wide(folder)]
    files = [file for file in data_dir.glob("toolevals.sqlite3*") if _is_wide(file)]
    try:
        for path in files:
            path.chmod(FILE)
        for path in folders:
            path.chmod(FOLDER)
    except OSError as error:
        sys.stderr.write(f"Others on this machine may read {error.filename}: {error.strerror}. Correct its mode.\n")
    else:
        if folders:
            sys.stderr.write(f"Others on this machine could read {folders[0]}. It is its owner's alone from now on.\n")


def _is_wide(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        # Of a database that was closed meanwhile.
        return False
    return bool(mode & (stat.S_IRWXG | stat.S_IRWXO)) and not mode & stat.S_ISVTX
