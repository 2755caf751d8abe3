"""Backups of a whole installation: written while it runs, read back, restored, and refused where they are damaged."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.application import LiveApp
from tests.fixtures.prepared import ALONE
from tests.servers.databases import FILE, sqlite_kept
from tests.servers.postgres import PostgresServer
from tests.servers.process import free_port
from toolevals.cli.output import Exit
from toolevals.serving.application import Application
from toolevals.serving.backups import WORKING

pytestmark = pytest.mark.servers
PASSPHRASE = "correct horse battery"
OWNER = ["create-owner", "rae@example.org", "--name", "Rae Example", "--project", "evals"]


def environment(data: Path, database: str = "") -> dict[str, str]:
    """Return what a command on a data folder is started with."""
    here = {"TOOLEVALS_DATA_DIR": str(data), "DATABASE_URL": database, "REDIS_URL": "", "PYTHONPATH": str(ROOT)}
    here |= {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_PASSWORD": PASSPHRASE}
    return os.environ | here | {"TOOLEVALS_BACKUP_PASSPHRASE": PASSPHRASE}


def toolevals(data: Path, *words: str | Path, database: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a data folder."""
    command = [sys.executable, "-m", "toolevals.cli.main", *map(str, words)]
    here = environment(data, database) | more
    return subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, check=False)


def backed_up(data: Path, folder: Path, *words: str | Path, database: str = "") -> Path:
    """Back up a data folder and return the file."""
    done = toolevals(data, "backup", folder, *words, database=database)
    assert done.returncode == Exit.OK, done.stderr
    assert "read back and checked" in done.stdout
    file = max(folder.iterdir())
    assert file.stat().st_mode & 0o777 == 0o600
    return file


def rows(database: Path) -> list[str]:
    """Return everything that a database holds."""
    with closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an account and two uploads."""
    data = tmp_path_factory.mktemp("installation") / "data"
    data.mkdir(mode=0o700)
    (data / FILE).write_bytes(sqlite_kept().read_bytes())
    assert toolevals(data, *OWNER).returncode == Exit.OK
    (data / "uploads" / "2026").mkdir()
    (data / "uploads" / "2026" / "rows.jsonl").write_bytes(os.urandom(3_000_000))
    (data / "uploads" / "arriving" / "half").write_text("not yet whole")
    return data


@pytest.mark.parametrize("encrypted", [False, True])
def test_what_is_restored_is_what_was_backed_up(installation: Path, tmp_path: Path, encrypted: bool) -> None:
    file = backed_up(installation, tmp_path / "backups", *(["--encrypt"] if encrypted else []))
    assert (
        (b"SQLite" in gzip.decompress(file.read_bytes())) is True
        if not encrypted
        else b"SQLite" not in file.read_bytes()
    )
    data = tmp_path / "restored"
    done = toolevals(data, "restore-backup", file)
    assert done.returncode == Exit.OK, done.stderr
    assert rows(data / FILE) == rows(installation / FILE)
    for name in ("secret-key", "uploads/2026/rows.jsonl"):
        assert (data / name).read_bytes() == (installation / name).read_bytes()
        assert (data / name).stat().st_mode & 0o777 == 0o600
    assert not (data / "uploads/arriving/half").exists()
    # A second time only where that is asked for; what was there stays beside it.
    again = toolevals(data, "restore-backup", file)
    assert (again.returncode, "is not empty" in again.stderr) == (Exit.CONFIGURATION, True)
    (data / "mine").write_text("kept")
    assert toolevals(data, "restore-backup", file, "--replace").returncode == Exit.OK
    assert [path.read_text() for path in tmp_path.glob("restored.before-*/mine")] == ["kept"]
    assert not (data / "mine").exists()
    assert not (tmp_path / WORKING).exists()


def unpacked(content: bytes) -> bytes:
    """Return what a backup holds: itself where it is encrypted or cannot be unpacked."""
    try:
        return gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return content


def refused(file: Path, folder: Path, *words: str, **more: str) -> str:
    """Return what is said of a backup that can't be restored; check that nothing is left of it."""
    before = sorted(folder.iterdir())
    done = toolevals(folder / "restored", "restore-backup", file, *words, **more)
    assert done.returncode in (Exit.CONFIGURATION, Exit.DATA), done.stderr
    assert done.stderr.startswith("toolevals: ")
    assert "Traceback" not in done.stderr
    assert sorted(folder.iterdir()) == before
    return done.stderr


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_truncated_file_and_a_changed_byte_are_refused(installation: Path, tmp_path: Path, encrypted: bool) -> None:
    whole = backed_up(installation, tmp_path / "backups", *(["--encrypt"] if encrypted else [])).read_bytes()
    (tmp_path / "restores").mkdir()
    chunk = 1024 * 1024 + 16
    for size in (0, 30, 50, len(whole) // 2, 45 + chunk, 45 + 2 * chunk, len(whole) - 1):
        (tmp_path / "short").write_bytes(whole[:size])
        assert "not whole" in refused(tmp_path / "short", tmp_path / "restores")
    for place in (30, 200, len(whole) // 2, len(whole) - 30, len(whole) - 2):
        changed = bytearray(whole)
        changed[place] ^= 4
        (tmp_path / "changed").write_bytes(changed)
        # A changed distance among equal bytes, such as the zeros at the end, still names the same bytes.
        if unpacked(bytes(changed)) != unpacked(whole):
            assert "damaged" in refused(tmp_path / "changed", tmp_path / "restores")
    (tmp_path / "longer").write_bytes(whole + b"more")
    assert "damaged" in refused(tmp_path / "longer", tmp_path / "restores")


def test_a_wrong_key_is_refused_and_a_key_file_opens(installation: Path, tmp_path: Path) -> None:
    key, other = tmp_path / "key", tmp_path / "other"
    key.write_bytes(os.urandom(32))
    other.write_bytes(os.urandom(32))
    file = backed_up(installation, tmp_path / "backups", "--key-file", key)
    (tmp_path / "restores").mkdir()
    assert "not the one" in refused(file, tmp_path / "restores", "--key-file", str(other))
    assert "not the one" in refused(file, tmp_path / "restores")
    assert "no passphrase" in refused(file, tmp_path / "restores", TOOLEVALS_BACKUP_PASSPHRASE="")
    assert toolevals(tmp_path / "restores/made", "restore-backup", file, "--key-file", key).returncode == Exit.OK
    (tmp_path / "tiny").write_text("short")
    short = toolevals(installation, "backup", tmp_path / "backups", "--key-file", tmp_path / "tiny")
    assert (short.returncode, "at least 12 bytes" in short.stderr) == (Exit.CONFIGURATION, True)


def unchanged(manifest: dict[str, object]) -> None:
    """Leave a manifest as it is."""


def rewritten(file: Path, to: Path, change: Callable[[dict[str, object]], None], *more: tarfile.TarInfo) -> Path:
    """Write a backup again with another manifest and more members before it."""
    with tarfile.open(file) as old, tarfile.open(to, "w:gz") as new:
        for member in old:
            part = old.extractfile(member)
            assert part is not None
            content = part.read()
            if member.name == "manifest.json":
                for each in more:
                    new.addfile(each, io.BytesIO(b"x" * each.size))
                manifest = json.loads(content)
                change(manifest)
                content = json.dumps(manifest).encode()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    return to


def test_hostile_newer_and_other_archives_are_refused(installation: Path, tmp_path: Path) -> None:
    file = backed_up(installation, tmp_path / "backups")
    (tmp_path / "restores").mkdir()
    made = tmp_path / "made.tar.gz"
    for name in ("../outside", "/tmp/outside", "uploads/../../outside", "uploads", "uploads//x", "prepared.json"):
        hostile = tarfile.TarInfo(name)
        hostile.size = 4
        rewritten(file, made, unchanged, hostile)
        assert "which no backup does" in refused(made, tmp_path / "restores")
    link = tarfile.TarInfo("uploads/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    rewritten(file, made, unchanged, link)
    assert "which no backup does" in refused(made, tmp_path / "restores")
    more = tarfile.TarInfo("uploads/more")
    more.size = 4
    rewritten(file, made, unchanged, more)
    assert "not those that its manifest lists" in refused(made, tmp_path / "restores")
    rewritten(file, made, lambda manifest: manifest["migrations"].append(["labeling", "0999_next"]))  # type: ignore[attr-defined]
    assert "newer version, 0.1.0, with the migration labeling.0999_next" in refused(made, tmp_path / "restores")
    rewritten(file, made, lambda manifest: manifest.update(format=2, shape="new"))
    assert "of a newer version" in refused(made, tmp_path / "restores")
    rewritten(file, made, lambda manifest: manifest["rows"].update(workspace_user=9))  # type: ignore[attr-defined]
    assert "other numbers of rows" in refused(made, tmp_path / "restores")
    (tmp_path / "text").write_text("no backup")
    assert "is not a backup" in refused(tmp_path / "text", tmp_path / "restores")
    assert "No such file" in refused(tmp_path / "missing", tmp_path / "restores")
    assert "unset TOOLEVALS_DATABASE_URL" in refused(file, tmp_path / "restores", database="sqlite:////tmp/elsewhere")


def killed_while(folder: Path, data: Path, *words: str | Path) -> None:
    """Start a command and kill it once its unfinished files lie in `folder`."""
    command = [sys.executable, "-m", "toolevals.cli.main", *map(str, words)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(data), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    work = folder / WORKING
    deadline = time.monotonic() + 60
    while not any(path.is_file() and path.stat().st_size > 1000 for path in work.rglob("*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert work.exists()


@pytest.fixture
def large(installation: Path, tmp_path: Path) -> Path:
    """A copy of the installation that takes a while."""
    file = backed_up(installation, tmp_path / "of-it")
    assert toolevals(tmp_path / "large", "restore-backup", file).returncode == Exit.OK
    for number in range(4):
        (tmp_path / "large" / "uploads" / str(number)).write_bytes(os.urandom(1_000_000) * 20)
    return tmp_path / "large"


def test_a_killed_backup_and_a_killed_restore_leave_nothing_that_counts(large: Path, tmp_path: Path) -> None:
    killed_while(tmp_path / "backups", large, "backup", tmp_path / "backups")
    assert [path.name for path in (tmp_path / "backups").iterdir()] == [WORKING]
    file = backed_up(large, tmp_path / "backups")
    assert list((tmp_path / "backups").iterdir()) == [file]
    (tmp_path / "restores").mkdir()
    target = tmp_path / "restores" / "data"
    killed_while(tmp_path / "restores", target, "restore-backup", file)
    assert not target.exists()
    assert toolevals(target, "restore-backup", file).returncode == Exit.OK
    assert list((tmp_path / "restores").iterdir()) == [target]
    killed_while(tmp_path / "restores", target, "restore-backup", file, "--replace")
    assert rows(target / FILE) == rows(large / FILE)


def test_a_full_disk_is_said_and_leaves_nothing(large: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "toolevals.cli.main", "backup", str(tmp_path / "backups")]
    # A limit on the size of files: the system refuses as it does on a full disk.
    limited = ["bash", "-c", 'ulimit -f 5000; exec "$@"', "-", *words]
    done = subprocess.run(limited, cwd=ROOT, env=environment(large), capture_output=True, text=True, check=False)
    assert (done.returncode, "cannot read or write" in done.stderr) == (Exit.CONFIGURATION, True), done.stderr
    assert list((tmp_path / "backups").iterdir()) == []


def test_backups_are_kept_as_many_as_asked(installation: Path, tmp_path: Path) -> None:
    files = [backed_up(installation, tmp_path / "backups", "--keep", "2") for _ in range(3)]
    assert sorted((tmp_path / "backups").iterdir()) == files[1:]


def test_labels_of_a_backup_while_people_write_are_whole_or_absent(installation: Path, tmp_path: Path) -> None:
    """Each transaction writes two rows; every backup holds as many of one as of the other."""
    source = tmp_path / "busy"
    assert toolevals(source, "restore-backup", backed_up(installation, tmp_path / "first")).returncode == Exit.OK
    code = (
        "import django; django.setup()\n"
        "from django.db import connection, transaction\n"
        "from labeling.models import Example\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    with transaction.atomic(), connection.cursor() as cursor:\n"
        "        for table in ('one', 'two'):\n"
        "            cursor.execute(f'INSERT INTO {table} VALUES (randomblob(2000))')\n"
    )
    with closing(sqlite3.connect(source / FILE)) as connection:
        connection.executescript("CREATE TABLE one (bytes BLOB); CREATE TABLE two (bytes BLOB);")
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, env=environment(source), stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"ready\n"
        found = []
        for number in range(3):
            file = backed_up(source, tmp_path / f"backups-{number}")
            with tarfile.open(file) as tar:
                manifest = tar.extractfile("manifest.json")
                assert manifest is not None
                counts = json.load(manifest)["rows"]
            assert counts["one"] == counts["two"]
            found.append(counts["one"])
        assert found[0] < found[1] < found[2]
        # And what runs is not replaced.
        done = toolevals(source, "restore-backup", file, "--replace")
        assert (done.returncode, "is running" in done.stderr) == (Exit.CONFIGURATION, True)
        assert writer.poll() is None
        writer.kill()


def test_a_restored_instance_serves_the_same_pages_and_labels(
    live_app_start: Callable[..., LiveApp], tmp_path: Path
) -> None:
    """The application is backed up while it runs, restored beside, and asked for the same."""
    app = live_app_start(sample=True, loaded=False)
    app.application.worker_stop()
    file = backed_up(app.application.data, tmp_path / "backups")
    # It has answered and rests; that it runs is seen all the same.
    done = toolevals(app.application.data, "restore-backup", file, "--replace")
    assert (done.returncode, "is running" in done.stderr) == (Exit.CONFIGURATION, True)
    data = tmp_path / "restored"
    assert toolevals(data, "restore-backup", file).returncode == Exit.OK
    with Application(python=sys.executable, data=data, port=free_port(), environment=ALONE) as restored:
        restored.prepare(sample=False)
        restored.web_start()
        login = app.login("owner")
        pages = []
        for url in (app.url, restored.url):
            with httpx.Client(base_url=url, follow_redirects=True) as client:
                client.get("/sign-in/")
                form = {"email": login["email"], "password": login["password"]}
                form["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
                assert client.post("/sign-in/", data=form, headers={"Referer": url}).status_code == 200
                found = [client.get(f"/p/shop-support/{path}") for path in ("", "datasets/", "runs/", "runs/1/")]
                assert {page.status_code for page in found} == {200}
                pages.append([without_tokens(page.text) for page in found])
        assert pages[0] == pages[1]
    labels = "SELECT * FROM labeling_label ORDER BY id"
    with closing(sqlite3.connect(app.application.data / FILE)) as one, closing(sqlite3.connect(data / FILE)) as other:
        assert one.execute(labels).fetchall() == other.execute(labels).fetchall() != []


def without_tokens(page: str) -> str:
    """Return a page without what differs in each answer."""
    return re.sub(r'(csrfmiddlewaretoken" value="|X-CSRFToken": ?")[^"]+', r"\1", page)


def test_before_an_upgrade_the_database_is_backed_up_and_restore_goes_back(installation: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert toolevals(data, "restore-backup", backed_up(installation, tmp_path / "of-it")).returncode == Exit.OK
    older = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks", "traces", "0002"]
    subprocess.run(older, cwd=ROOT, env=environment(data), check=True)
    before = rows(data / FILE)
    preparation = [sys.executable, "-m", "toolevals.serving.preparation"]

    def prepared(**more: str) -> str:
        here = environment(data) | more
        return subprocess.run(preparation, cwd=ROOT, env=here, capture_output=True, text=True, check=False).stderr

    # What can't be backed up is not upgraded.
    (data / "backups").write_text("in the way")
    assert "was not upgraded" in prepared()
    assert rows(data / FILE) == before
    (data / "backups").unlink()
    said = prepared()
    [file] = (data / "backups").iterdir()
    assert f"toolevals restore-backup {file} --replace" in said
    assert rows(data / FILE) != before
    # A start that upgrades nothing makes none.
    assert prepared() == ""
    assert toolevals(data, "restore-backup", file, "--replace").returncode == Exit.OK
    assert rows(data / FILE) == before
    assert list((data / "backups").iterdir()) == [file]
    assert prepared(TOOLEVALS_UPGRADE_BACKUPS="0") == ""
    assert list((data / "backups").iterdir()) == [file]


def test_postgresql_is_backed_up_and_restored_into_an_empty_database(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    url = postgres_server.database_migrated(f"from_{uuid4().hex}")
    assert toolevals(tmp_path / "data", *OWNER, database=url).returncode == Exit.OK
    file = backed_up(tmp_path / "data", tmp_path / "backups", "--encrypt", database=url)
    (tmp_path / "restores").mkdir()
    assert "PostgreSQL: set TOOLEVALS_DATABASE_URL" in refused(file, tmp_path / "restores")
    assert "is not empty: make a new one" in refused(file, tmp_path / "restores", database=url)
    empty = postgres_server.database_create(f"to_{uuid4().hex}")
    assert "pg_restore is not installed" in refused(file, tmp_path / "restores", database=empty, PATH="/nowhere")
    data = tmp_path / "restores" / "data"
    done = toolevals(data, "restore-backup", file, database=empty)
    assert done.returncode == Exit.OK, done.stderr
    assert (data / "secret-key").read_text() == (tmp_path / "data" / "secret-key").read_text()
    assert not (data / "database.pgdump").exists()
    people = "SELECT * FROM workspace_user"
    with psycopg.connect(url) as one, psycopg.connect(empty) as other:
        assert one.execute(people).fetchall() == other.execute(people).fetchall() != []
    assert toolevals(data, "installation-owners", database=empty).stdout == "rae@example.org\n"
    missing = toolevals(data, "backup", tmp_path / "none", database=url, PATH="/nowhere")
    assert "pg_dump is not installed" in missing.stderr
