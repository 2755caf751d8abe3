"""The commands of Dockerfile and compose.yaml, outside a container: as another user, who writes to the volumes alone.

Not run is what changes the machine, the one RUN that installs a package of Debian and adds a user; and what is
PostgreSQL's and Redis's own, but for the command that starts Redis.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from scripts.dev.environment import ROOT
from tests.project.installed import source_copy
from tests.servers import PostgresServer
from tests.servers.postgres import postgres_programs
from tests.servers.process import free_port, unprivileged
from tests.servers.redis import redis_executable
from tests.serving.containers import checked_by, compose, image, image_environment, own_services, stages
from tests.serving.deployed import PATIENCE_SECONDS, running, wait_ready

pytestmark = pytest.mark.servers


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    made = Path(tempfile.mkdtemp(prefix="toolevals-image-"))
    made.chmod(0o755)
    yield made
    subprocess.run(["find", made, "-type", "d", "-exec", "chmod", "u+w", "{}", "+"], check=True)
    shutil.rmtree(made)


@pytest.fixture
def here(folder: Path, postgres_server: PostgresServer) -> Callable[[str], str]:
    """Return what is said in a container as it is said here: with this folder, and with servers on free ports."""
    database = postgres_server.database_migrated(f"compose_{uuid4().hex}")
    replaced = {
        "/opt/toolevals": f"{folder}/opt/toolevals", "/wheels": f"{folder}/wheels", "/backups": f"{folder}/backups",
        "/var/lib/toolevals": f"{folder}/data", "postgresql://toolevals@postgres:5432/toolevals": database,
        "redis:6379": f"127.0.0.1:{free_port()}", ":8000": f":{free_port()}", "$PATH": os.environ["PATH"],
    }  # fmt: skip

    def said(text: str) -> str:
        for there, instead in replaced.items():
            text = text.replace(there, instead)
        return text

    return said


def image_build(folder: Path, here: Callable[[str], str]) -> None:
    """Do what the first stage of the Dockerfile does, in `folder`, and take the right to write away."""
    source_copy(folder / "context")
    for name in ("tests", "benchmarks"):
        assert name in (ROOT / ".dockerignore").read_text().splitlines()
        shutil.rmtree(folder / "context" / name)
    subprocess.run([sys.executable, "-m", "venv", folder / "python"], check=True)
    quiet = {"PIP_QUIET": "1", "UV_QUIET": "1"}
    environment = os.environ | quiet | {"PATH": f"{folder / 'python' / 'bin'}:{os.environ['PATH']}"}
    work = folder / "source"
    work.mkdir()
    done = []
    for name, rest in stages()[0][1:]:
        done.append(name)
        if name == "COPY":
            what, to = rest.split()
            shutil.copytree(folder / "context" / what, work / to, dirs_exist_ok=True, copy_function=linked)
        elif name == "RUN":
            subprocess.run(["/bin/sh", "-c", here(rest)], cwd=work, env=environment, check=True)
    assert done == ["WORKDIR", "COPY", "RUN", "RUN", "COPY", "RUN"]
    # Files may be links to those of a cache: the folders alone are changed.
    subprocess.run(["find", folder / "opt", "-type", "d", "-exec", "chmod", "a-w", "{}", "+"], check=True)


def linked(file: str, to: str) -> None:
    """Stand for a copy. What is there already is the same."""
    if not Path(to).exists():
        os.link(file, to)


def test_the_image_is_built_and_every_service_does_its_work(folder: Path, here: Callable[[str], str]) -> None:
    image_build(folder, here)
    port, broker = (int(here(text).rpartition(":")[2]) for text in (":8000", "redis:6379"))
    programs = f"{redis_executable().parent}:{postgres_programs(folder)}"
    nobody = unprivileged()
    for name in ("data", "backups"):
        (folder / name).mkdir(mode=0o700)
        if nobody:
            os.chown(folder / name, nobody["user"], nobody["group"])
    image_says = {name: here(value) for name, value in image_environment().items()}
    outer = {"HOME": str(folder / "data"), "HOSTNAME": os.uname().nodename, "LANG": "C.UTF-8"}

    def run(service: dict[str, Any], words: list[str], how: Callable[..., Any], **options: Any) -> Any:
        given = {name: here(value) for name, value in service.get("environment", {}).items()}
        environment = outer | image_says | given
        environment["PATH"] += f":{programs}"
        return how([here(word) for word in words], cwd=folder / "data", env=environment, **nobody, **options)

    def keep(service: dict[str, Any], words: list[str], status: int = 0) -> None:
        def start(words: list[str], cwd: Path, env: dict[str, str], **options: Any) -> None:
            stack.enter_context(running(words, cwd, env, status, **options))

        run(service, words, start)

    services, own = compose()["services"], own_services()
    with ExitStack() as stack:
        keep(services["redis"], [*services["redis"]["command"], "--port", str(broker)])
        run(own["migrate"], own["migrate"]["command"], subprocess.run, check=True, stdout=subprocess.PIPE)
        for name, service in own.items():
            if name not in ("migrate", "backup"):
                keep(service, service.get("command") or image("CMD").words)
        wait_ready(port)
        keep(own["backup"], own["backup"]["command"], status=-15)
        for service in own.values():
            words = checked_by(service)
            deadline = time.monotonic() + PATIENCE_SECONDS
            while words and run(service, words, subprocess.run, check=False, stdout=subprocess.PIPE).returncode:
                assert time.monotonic() < deadline, words
                time.sleep(1)
    (backup,) = (folder / "backups").iterdir()
    assert backup.stat().st_mode & 0o777 == 0o600
    # What the page says to do is done but for `psql` and `createdb`, to a database of another name.
    page = (ROOT / "docs" / "deployment.md").read_text()
    (line,) = re.findall(r"^docker compose run --rm --no-deps backup (.*)$", page, re.MULTILINE)
    database, _, name = here("postgresql://toolevals@postgres:5432/toolevals").rpartition("/")
    with psycopg.connect(f"{database}/postgres", autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                *map(psycopg.sql.Identifier, (name, f"{name}_before"))
            )
        )
        connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))
    run(own["backup"], line.replace("NAME", backup.name).split(), subprocess.run, check=True, stdout=subprocess.PIPE)
    with psycopg.connect(f"{database}/{name}") as connection:
        assert connection.execute("SELECT 1 FROM django_migrations").rowcount > 0
