"""The wheel: its base install is the core and the commands that need no server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.dev.environment import ROOT
from tests.project.files import project_files

SERVER = ["django", "celery", "rest_framework", "redis", "psycopg", "whitenoise"]
WITHOUT_SERVER = f"""
import sys
sys.modules.update(dict.fromkeys({SERVER!r}))  # importing any of them fails, as where they are not installed
import toolevals.grading.documents
from toolevals.cli.main import main
sys.exit(main(["--help"]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy of the project's files with what is installed already."""
    folder = tmp_path_factory.mktemp("wheel")
    for path in project_files():
        target = folder / "source" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    build = [
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--wheel-dir",
        str(folder),
    ]
    subprocess.run([sys.executable, *build, str(folder / "source")], check=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_holds_the_code_and_its_data(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    rooms = [path for path in project_files(".py", ".json") if path.is_relative_to(ROOT / "toolevals")]
    assert {str(path.relative_to(ROOT)) for path in rooms} <= names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"toolevals", "labeling", "reports"}


def test_the_base_install_serves_the_command_without_the_server(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER],
        cwd=tmp_path,
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "usage: toolevals" in result.stdout
