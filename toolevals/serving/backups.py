"""Writes an installation into one file and reads it back: the database, the uploads and the signing key.

The file is a tar, packed by gzip and perhaps encrypted. Its last member is the manifest: what is not whole has none.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import django
from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages
from django.db import Error, connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import make_conninfo

from toolevals.serving.folders import version_number
from toolevals.serving.sealed_files import MAGIC, SealedReader, SealedWriter, SealError
from toolevals.workspace.uploads.folder import FolderUploads, files_below

if TYPE_CHECKING:
    # Its packages are in an extra.
    from toolevals.serving.backup_buckets import BucketPlace

FORMAT = 1
MANIFEST, KEY, UPLOADS = "manifest.json", "secret-key", "uploads"
SQLITE_FILE = "toolevals.sqlite3"
# The member that holds the database, by its kind.
DATABASES = {"sqlite": SQLITE_FILE, "postgresql": "database.pgdump"}
CONNECTION = ("dbname", "user", "host", "port", "service", "passfile")
AT_ONCE = 1024 * 1024
# Of the folder next to what is made, in which it is made.
WORKING = ".toolevals-unfinished"


class BackupError(Exception):
    """A backup can't be made or restored here; the text says why, and what to do."""


class DamagedBackupError(BackupError):
    """The file is no backup, is not whole, or can't be opened with this key."""


@dataclass(frozen=True)
class Manifest:
    """The contents of a backup: the SHA-256 of each member, and the rows of each table."""

    version: str
    made_at: str
    database: str
    migrations: list[list[str]]
    rows: dict[str, int]
    members: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def backup_write(folder: Path | BucketPlace, secret: bytes | None = None) -> tuple[Path | BucketPlace, Manifest]:
    """Back up the installation that Django is set up for into a new file in `folder`; return both once it is verified.

    A file for a bucket is made in the data folder, sent, and read back from the bucket. Raises BackupError, and leaves
    no file then.
    """
    made_at = datetime.now(UTC)
    ending = ".tar.gz.encrypted" if secret else ".tar.gz"
    file = folder / f"toolevals-{made_at:%Y%m%dT%H%M%S-%f}{ending}"
    made_in = folder if isinstance(folder, Path) else settings.DATA_DIR / "outgoing"
    with _disk_errors(folder), working_folder(made_in) as work:
        partial, manifest = _make(work, made_at, secret)
        if isinstance(file, Path):
            _require_same(partial, secret, manifest)
            partial.rename(file)
            _sync(made_in)
        else:
            file.take(partial)
            try:
                _require_same(file, secret, manifest)
            except BackupError:
                file.delete()
                raise
    return file, manifest


def _make(work: Path, made_at: datetime, secret: bytes | None) -> tuple[Path, Manifest]:
    """Write a backup into a folder; return it with what it must be found to hold."""
    manifest = _snapshot(work, made_at.isoformat())
    partial = work / "backup"
    uploads: Any = storages["default"]
    with _writing(partial, secret) as stream, tarfile.open(fileobj=stream, mode="w|") as tar:
        with (work / DATABASES[manifest.database]).open("rb") as database:
            _add_content(tar, DATABASES[manifest.database], database, manifest)
        _add_content(tar, KEY, io.BytesIO(str(settings.SECRET_KEY).encode()), manifest)
        for name in sorted(name for name, _ in uploads.stored()):
            # One may be deleted meanwhile.
            with suppress(FileNotFoundError), uploads.open(name) as upload:
                _add_content(tar, f"{UPLOADS}/{name}", upload, manifest)
        _add_content(tar, MANIFEST, io.BytesIO(json.dumps(asdict(manifest)).encode()))
    return partial, manifest


def _require_same(file: Path | BucketPlace, secret: bytes | None, manifest: Manifest) -> None:
    if backup_read(file, secret) != manifest:
        raise BackupError(f"the backup that was written to {file} does not read back as it was: check the disk")


def backup_read(file: Path | BucketPlace, secret: bytes | None = None, into: Path | None = None) -> Manifest:
    """Read a whole backup, check each byte and return its manifest; write its members below `into`, a new folder.

    Raises DamagedBackupError.
    """
    try:
        found, content = {}, b""
        with _reading(file, secret) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            for member in tar:
                part = tar.extractfile(member) if member.isreg() else None
                if content or part is None or member.name in found or not _is_ours(member.name):
                    raise DamagedBackupError(f"{file} holds {member.name[:200]!r}, which no backup does")
                if member.name == MANIFEST:
                    content = part.read()
                else:
                    found[member.name] = _extract(part, into and into / member.name)
            while stream.read(AT_ONCE):
                pass
        listed = json.loads(content)
        if listed["format"] != FORMAT:
            raise DamagedBackupError(f"{file} is of a newer version, {listed['version']}: install that first")
        manifest = Manifest(**listed)
    except SealError:
        words = "the passphrase or key file is not the one it was encrypted with, or the file is damaged or not whole"
        raise DamagedBackupError(f"cannot open {file}: {words}") from None
    except (
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        ValueError,
        KeyError,
        TypeError,
        NotADirectoryError,
    ) as error:
        raise DamagedBackupError(f"{file} is not a backup, is damaged or not whole") from error
    if manifest.members != found or not {KEY, DATABASES.get(manifest.database)} <= found.keys():
        raise DamagedBackupError(f"{file} is damaged: its members are not those that its manifest lists")
    return manifest


def is_encrypted(file: Path | BucketPlace) -> bool:
    """Tell whether a backup needs a key. Raises BackupError where it can't be read."""
    with _disk_errors(file), file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


def backup_restore(
    file: Path | BucketPlace, data: Path, secret: bytes | None = None, *, replace: bool = False
) -> tuple[Manifest, Path | None]:
    """Restore a backup as the data folder `data`; return its manifest and where the folder lies that was there before.

    Sets Django up on the new folder. PostgreSQL must be empty. Raises BackupError; then all is as it was.
    """
    if not replace and data.exists() and any(data.iterdir()):
        raise BackupError(f"{data} is not empty: name another folder with --data, or use --replace")
    if os.path.ismount(data):
        raise BackupError(
            f"{data} is where a disk is mounted, and can't be replaced: name a folder below it with --data"
        )
    os.umask(0o077)
    with _disk_errors(data), working_folder(data.parent) as work:
        made = work / "data"
        made.mkdir(mode=0o700)
        manifest = backup_read(file, secret, made)
        if (data / SQLITE_FILE).exists() and sqlite_in_use(data / SQLITE_FILE):
            raise BackupError(f"the application is running on {data}: stop it first")
        _prepare(manifest, made)
        _sync(made)
        before = None
        if data.exists():
            before = data.with_name(f"{data.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S-%f}")
            data.rename(before)
        made.rename(data)
        _sync(data.parent)
        # Those that were made before upgrades stay where they were.
        if before and (before / "backups").exists():
            (before / "backups").rename(data / "backups")
    return manifest, before


def backups_prune(folder: Path | BucketPlace, keep: int) -> None:
    """Delete all but the newest backups of a folder. Raises BackupError."""
    with _disk_errors(folder):
        if isinstance(folder, Path):
            for old in sorted(folder.glob("toolevals-*.tar.gz*"))[:-keep]:
                old.unlink()
        else:
            for older in folder.backups()[:-keep]:
                older.delete()


def unfinished_parts(folder: BucketPlace) -> int:
    """Delete parts in a bucket of backups that were killed more than a day ago; return how many younger ones there are.

    Raises BackupError.
    """
    with _disk_errors(folder):
        return folder.unfinished((datetime.now(UTC) - timedelta(days=1)).timestamp())


def sqlite_in_use(database: Path) -> bool:
    """Tell whether another process has an SQLite database open: only alone can one leave the write-ahead log."""
    with closing(sqlite3.connect(database, timeout=0)) as connection:
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            return True
        except sqlite3.DatabaseError:
            return False  # It is no database.
    return False


@contextmanager
def working_folder(parent: Path) -> Iterator[Path]:
    """Give an empty folder for one process at a time, and remove it: what a killed process left goes before."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    work = parent / WORKING
    lock = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except BlockingIOError:
        raise BackupError(f"another process backs up or restores in {parent}: wait until it has ended") from None
    finally:
        os.close(lock)


def _prepare(manifest: Manifest, made: Path) -> None:
    """Check that this version can take what was extracted, and fill PostgreSQL with it. Raises BackupError."""
    os.environ["TOOLEVALS_DATA_DIR"] = str(made)
    django.setup()
    if newer := sorted({(app, name) for app, name in manifest.migrations} - _known(MigrationLoader(None))):
        words = f"a newer version, {manifest.version}, with the migration {'.'.join(newer[0])}"
        raise BackupError(f"the backup is of {words}: install that version first")
    is_here = connection.vendor == manifest.database
    if manifest.database == "sqlite" and not (is_here and connection.settings_dict["NAME"] == str(made / SQLITE_FILE)):
        raise BackupError("the backup is of SQLite: unset TOOLEVALS_DATABASE_URL")
    if not is_here:
        raise BackupError("the backup is of PostgreSQL: set TOOLEVALS_DATABASE_URL to an empty database")
    if manifest.database == "postgresql" and connection.introspection.table_names():
        raise BackupError("the PostgreSQL database is not empty: make a new one and set TOOLEVALS_DATABASE_URL to it")
    _uploads_send(manifest, made / UPLOADS)
    dump = made / DATABASES[manifest.database]
    if manifest.database == "postgresql":
        _postgresql_program(
            "pg_restore",
            "--single-transaction",
            "--exit-on-error",
            "--no-owner",
            "--no-privileges",
            "--no-comments",
            str(dump),
        )
        dump.unlink()
        rows = _postgresql_rows()
    else:
        rows = _sqlite_rows(dump)
    if rows != manifest.rows:
        raise BackupError("the tables that were restored have other numbers of rows than the backup's manifest says")


def _uploads_send(manifest: Manifest, folder: Path) -> None:
    """Send the uploads that were extracted to the bucket that keeps them, if any does, and read each back."""
    uploads = storages["default"]
    if isinstance(uploads, FolderUploads):
        return
    for path, _ in files_below(folder):
        name = path.relative_to(folder).as_posix()
        with path.open("rb") as file:
            uploads.save(name, File(file))
        with uploads.open(name) as stored:
            if _extract(stored, None) != manifest.members[f"{UPLOADS}/{name}"]:
                raise BackupError(f"the upload {name} was sent to the bucket and does not read back as it was")
        path.unlink()


def _snapshot(work: Path, made_at: str) -> Manifest:
    """Copy the database as it is at one moment; return a manifest without members."""
    loader = MigrationLoader(connection)
    to = work / DATABASES[connection.vendor]
    rows = _sqlite_copy(to) if connection.vendor == "sqlite" else _postgresql_dump(to)
    migrations = sorted([app, name] for app, name in _known(loader) & loader.applied_migrations.keys())
    return Manifest(version_number(), made_at, connection.vendor, migrations, rows)


def _known(loader: MigrationLoader) -> set[tuple[str, str]]:
    """Return the migrations that this version has or has replaced."""
    return {*loader.disk_migrations}.union(*(each.replaces for each in loader.disk_migrations.values()))


def _sqlite_copy(to: Path) -> dict[str, int]:
    with closing(sqlite3.connect(settings.DATABASES["default"]["NAME"])) as live, closing(sqlite3.connect(to)) as copy:
        # In one step, as one reader: who writes meanwhile waits for nothing.
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        if copy.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise BackupError("SQLite finds the database damaged: restore an earlier backup")
    return _sqlite_rows(to)


def _sqlite_rows(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        counted = 'SELECT count(*) FROM "{}"'
        return {name: connection.execute(counted.format(name)).fetchone()[0] for (name,) in names.fetchall()}


def _postgresql_dump(to: Path) -> dict[str, int]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        [[snapshot]] = cursor.fetchall()
        _postgresql_program(
            "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={to}"
        )
        return _postgresql_rows()


def _postgresql_rows() -> dict[str, int]:
    with connection.cursor() as cursor:
        rows = {}
        for name in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608
            [[rows[name]]] = cursor.fetchall()
        return rows


def _postgresql_program(name: str, *words: str) -> None:
    """Run a program of PostgreSQL's on the database. Raises BackupError."""
    given = connection.get_connection_params()
    # What the programs know as well, of what our driver is told.
    known = {key: given[key] for key in given if key in CONNECTION or key.startswith("ssl")}
    environment = os.environ | ({"PGPASSWORD": given["password"]} if given.get("password") else {})
    command = [name, f"--dbname={make_conninfo(**known)}", *words]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise BackupError(f"{name} is not installed: install PostgreSQL's client programs") from None
    if done.returncode:
        raise BackupError(f"{name} failed: {done.stderr.strip()[-1000:]}")


def _add_content(tar: tarfile.TarFile, name: str, file: BinaryIO, manifest: Manifest | None = None) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = file.seek(0, os.SEEK_END), 0o600
    file.seek(0)
    hashed = _Hashed(file)
    tar.addfile(info, hashed)  # type: ignore[arg-type]
    if manifest:
        manifest.members[name] = hashed.sha256.hexdigest()


class _Hashed:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.sha256 = file, hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def _extract(part: IO[bytes], to: Path | None) -> str:
    """Write a member to a new file, or nowhere; return its SHA-256."""
    hashed = _Hashed(part)
    with ExitStack() as stack:
        file: IO[bytes] | None = None
        if to:
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = stack.enter_context(os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"))
        while data := hashed.read(AT_ONCE):
            if file:
                file.write(data)
        if file:
            file.flush()
            os.fsync(file.fileno())
    return hashed.sha256.hexdigest()


def _is_ours(name: str) -> bool:
    """Tell whether a member has one of our names: none leads out of the folder."""
    path = PurePosixPath(name)
    is_upload = len(path.parts) > 1 and path.parts[0] == UPLOADS and ".." not in path.parts and str(path) == name
    return is_upload or name in (MANIFEST, KEY, *DATABASES.values())


@contextmanager
def _writing(path: Path, secret: bytes | None) -> Iterator[gzip.GzipFile]:
    """Give a stream into a new file, which is whole and on the disk at the end."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        sealed = SealedWriter(file, secret) if secret else None
        with gzip.GzipFile("", "wb", 1, sealed or file, mtime=0) as packed:
            yield packed
        if sealed:
            sealed.finish()
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _reading(path: Path | BucketPlace, secret: bytes | None) -> Iterator[gzip.GzipFile]:
    if is_encrypted(path) and not secret:
        raise DamagedBackupError(f"{path} is encrypted: name its key file with --key-file, or give its passphrase")
    with path.open("rb") as file:
        opened: IO[bytes] = file
        if secret and is_encrypted(path):
            opened = io.BufferedReader(SealedReader(file, secret), AT_ONCE)  # type: ignore[type-var]
        with gzip.GzipFile("", "rb", fileobj=opened) as packed:
            yield packed


@contextmanager
def _disk_errors(path: Path | BucketPlace) -> Iterator[None]:
    """Turn what the disk refuses into a sentence."""
    try:
        yield
    except OSError as error:
        raise BackupError(f"cannot read or write {error.filename or path}: {error.strerror or error}") from error
    except (sqlite3.Error, Error) as error:
        raise BackupError(f"the database can't be read or written: {error}") from error


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
