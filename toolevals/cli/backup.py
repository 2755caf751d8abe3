"""Runs `toolevals backup`, `restore-backup` and `migrate-database`: a whole installation as one file and back."""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from toolevals.cli.accounts import load_server, require_tables
from toolevals.cli.output import CommandError, Exit, note, say
from toolevals.cli.verbs import Verbs
from toolevals.serving.folders import data_folder

if TYPE_CHECKING:
    # Its packages are in an extra.
    from toolevals.serving.backup_buckets import BucketPlace

VARIABLE = "TOOLEVALS_BACKUP_PASSPHRASE"
DATABASE = "TOOLEVALS_DATABASE_URL"
SHORTEST = 12


def add_parser(verbs: Verbs) -> None:
    """Add the verbs."""
    parser = verbs.add_parser("backup")
    parser.add_argument("folder", metavar="DIR", help="folder for the new file, or s3://bucket/prefix")
    parser.add_argument("--keep", type=_count, metavar="N", help="afterwards keep the newest N backups of DIR only")
    _add_key(parser).add_argument("--encrypt", action="store_true", help=f"ask for a passphrase ({VARIABLE})")
    parser.set_defaults(run=backup)
    parser = verbs.add_parser("restore-backup")
    parser.add_argument("file", metavar="FILE", help="file, or s3://bucket/prefix/file")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"the data folder to make ({data_folder()})")
    parser.add_argument("--replace", action="store_true", help="replace the data folder; the old one is renamed")
    _add_key(parser)
    parser.set_defaults(run=restore)
    parser = verbs.add_parser("migrate-database")
    parser.add_argument("url", nargs="?", metavar="URL", help=f"of an empty PostgreSQL database ({DATABASE})")
    parser.add_argument("--data", type=Path, metavar="DIR", help=f"the data folder with SQLite ({data_folder()})")
    parser.set_defaults(run=migrate_database)


def _add_key(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--key-file", type=Path, metavar="FILE", help="file whose bytes encrypt the backup")
    return group


def _count(word: str) -> int:
    if int(word) < 1:
        raise ValueError
    return int(word)


def backup(arguments: argparse.Namespace) -> int:
    """Write a backup of this installation, which may be running."""
    load_server()
    from toolevals.serving.backups import BackupError, backup_write, backups_prune, unfinished_parts

    require_tables()
    folder = _place(arguments.folder)
    secret = _secret(arguments.key_file, twice=True) if arguments.key_file or arguments.encrypt else None
    try:
        unfinished = 0 if isinstance(folder, Path) else unfinished_parts(folder)
        file, manifest = backup_write(folder, secret)
        if arguments.keep:
            backups_prune(folder, arguments.keep)
    except BackupError as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    if unfinished:
        note(
            f"{unfinished} backups to {folder} are under way or were killed: after a day, a backup deletes their parts."
        )
    uploads = sum(name.startswith("uploads/") for name in manifest.members)
    rows = f"{sum(manifest.rows.values()):,} rows of {len(manifest.rows)} tables"
    say(f"{file}: {rows}, {uploads:,} uploads, {_size(file):,} bytes, read back and checked.")
    if not secret:
        note("It is not encrypted, and holds the key that decrypts secrets: store it as safely as passwords.")
    return Exit.OK


def restore(arguments: argparse.Namespace) -> int:
    """Make a data folder, and the rows of an empty PostgreSQL, from a backup."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured

        from toolevals.serving.backups import BackupError, DamagedBackupError, backup_restore, is_encrypted
    except ImportError as error:
        raise CommandError(Exit.CONFIGURATION, "this verb needs the server: install toolevals[server]") from error
    data, file = (arguments.data or data_folder()).resolve(), _place(arguments.file)
    try:
        secret = _secret(arguments.key_file, twice=False) if is_encrypted(file) else None
        manifest, before = backup_restore(file, data, secret, replace=arguments.replace)
    except DamagedBackupError as error:
        raise CommandError(Exit.DATA, str(error)) from error
    except (BackupError, ImproperlyConfigured) as error:
        raise CommandError(Exit.CONFIGURATION, str(error)) from error
    say(f"{data} is as it was at {manifest.made_at[:19]} UTC: {sum(manifest.rows.values()):,} rows.")
    if before:
        say(f"What was there before is in {before}. Delete it when you no longer need it.")
    if os.environ.get("TOOLEVALS_SECRET_KEY", "") not in ("", (data / "secret-key").read_text()):
        note(
            "TOOLEVALS_SECRET_KEY differs from the backup's key: "
            f"add the one in {data / 'secret-key'} to TOOLEVALS_SECRET_KEY_FALLBACKS."
        )
    return Exit.OK


def migrate_database(arguments: argparse.Namespace) -> int:
    """Copy SQLite's rows to PostgreSQL and compare them; the SQLite database stays as it is."""
    url = arguments.url or os.environ.get(DATABASE, "")
    data = (arguments.data or data_folder()).resolve()
    file = data / "toolevals.sqlite3"
    if not url or not file.exists():
        words = f"there is no {file}: name the data folder with --data" if url else f"name the URL or set {DATABASE}"
        raise CommandError(Exit.CONFIGURATION, words)
    os.environ |= {DATABASE: url, "TOOLEVALS_DATA_DIR": str(data)}
    load_server()
    from django.db import Error

    from toolevals.serving.backups import sqlite_in_use
    from toolevals.serving.moving import MoveError, database_move

    if sqlite_in_use(file):
        raise CommandError(Exit.CONFIGURATION, f"the application is running on {data}: stop it first")
    try:
        rows = database_move(file, note)
    except (MoveError, Error) as error:
        raise CommandError(Exit.CONFIGURATION, f"nothing was moved: {error}") from error
    say(f"{sum(rows.values()):,} rows of {len(rows)} tables are in PostgreSQL, each table compared with SQLite's.")
    say(f"Start the application with {DATABASE} from now on. {file} is as it was; uploads stay in {data}.")
    return Exit.OK


def _place(word: str) -> Path | BucketPlace:
    """Return the folder or file that an argument names. Raises CommandError."""
    if not word.startswith("s3://"):
        return Path(word).resolve()
    try:
        from toolevals.serving.backup_buckets import BucketPlace
    except ImportError as error:
        raise CommandError(Exit.CONFIGURATION, "s3:// needs more packages: pip install 'toolevals[s3]'") from error
    place = BucketPlace.of(word)
    if not place.bucket:
        raise CommandError(Exit.CONFIGURATION, f"{word} names no bucket: write s3://bucket/prefix")
    return place


def _size(file: Path | BucketPlace) -> int:
    return file.stat().st_size if isinstance(file, Path) else file.size()


def _secret(key_file: Path | None, *, twice: bool) -> bytes:
    """Return the bytes of a key file, or of the passphrase. Raises CommandError."""
    try:
        secret = key_file.read_bytes() if key_file else _passphrase(twice=twice).encode()
    except OSError as error:
        raise CommandError(Exit.CONFIGURATION, f"cannot read {key_file}: {error.strerror}") from error
    if len(secret) < SHORTEST:
        raise CommandError(Exit.CONFIGURATION, f"a passphrase or key file has at least {SHORTEST} bytes")
    return secret


def _passphrase(*, twice: bool) -> str:
    if given := os.environ.get(VARIABLE, ""):
        return given
    if not sys.stdin.isatty():
        raise CommandError(
            Exit.CONFIGURATION, f"no passphrase: set {VARIABLE}, use --key-file, or run this in a terminal"
        )
    given = getpass.getpass("Passphrase of the backup: ")
    if twice and given != getpass.getpass("Again: "):
        raise CommandError(Exit.CONFIGURATION, "the two passphrases differ")
    return given
