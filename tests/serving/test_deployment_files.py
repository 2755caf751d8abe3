"""The Procfile and the systemd units: their commands, in a fresh folder, make an installation that is ready."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.process import free_port
from tests.serving.deployed import running, wait_ready

pytestmark = pytest.mark.servers
ROOT = Path(__file__).parents[2]
FILES = ROOT / "docs" / "examples" / "deployment"
BIN, DATA = "/opt/toolevals/.venv/bin/", "/var/lib/toolevals"


@dataclass(frozen=True)
class Commands:
    """Lines for a shell: what is done before, and what keeps running. `environment` is theirs."""

    before: list[str]
    kept: list[str]
    environment: dict[str, str]


def of_procfile() -> Commands:
    """Read the Procfile, with what a platform sets for all of its processes."""
    lines = dict(line.split(": ", 1) for line in (FILES / "Procfile").read_text().splitlines())
    settings = {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": DATA}
    return Commands([lines.pop("release")], list(lines.values()), settings)


def of_units() -> Commands:
    """Read the units, and hold them to one account and one folder."""
    before, kept, environments = [], [], []
    for file in sorted(FILES.glob("*.service")):
        fields = [line.partition("=")[::2] for line in file.read_text().splitlines() if "=" in line[:30]]
        assert {"User": "toolevals", "WorkingDirectory": DATA, "StateDirectory": Path(DATA).name}.items() <= dict(
            fields
        ).items()
        before += [value for name, value in fields if name == "ExecStartPre"]
        kept += [value.replace("%i", "1").replace("%H", "here") for name, value in fields if name == "ExecStart"]
        environments += [
            dict(each.split("=") for each in value.split()) for name, value in fields if name == "Environment"
        ]
    assert (len(before), len(kept)) == (2, 2)
    assert environments[0] == environments[1]
    return Commands(before, kept, environments[0])


@pytest.mark.parametrize("read", [of_procfile, of_units])
def test_the_commands_make_an_installation_that_is_ready(tmp_path, read):
    commands, port = read(), free_port()
    programs, data = tmp_path / "bin", tmp_path / "data"
    programs.mkdir()
    data.mkdir(mode=0o700)
    for name, module in (("django-admin", "django"), ("gunicorn", "gunicorn"), ("celery", "celery")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLEVALS_", "DJANGO_"))}
    environment = inherited | {name: value.replace(DATA, str(data)) for name, value in commands.environment.items()}
    path = f"{programs}:{os.environ['PATH']}"
    environment |= {"PATH": path, "PYTHONPATH": str(ROOT), "PORT": str(port), "DATABASE_URL": "", "REDIS_URL": ""}

    def here(line: str) -> str:
        return line.replace(BIN, "").replace("127.0.0.1:8000", f"127.0.0.1:{port}")

    for line in commands.before:
        subprocess.run(["/bin/sh", "-c", here(line)], cwd=data, env=environment, check=True, stdout=subprocess.PIPE)
    with ExitStack() as stack:
        for line in commands.kept:
            stack.enter_context(running(["/bin/sh", "-c", f"exec {here(line)}"], data, environment))
        wait_ready(port)
