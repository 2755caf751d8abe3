"""The wheel and the source archive: built, installed into an environment of their own, and used as a stranger does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from playwright.sync_api import Page, expect

from scripts.dev.build import archives
from scripts.dev.environment import ROOT
from tests.fixtures.prepared import prepared_copy, prepared_root
from tests.project.files import project_files
from tests.servers.process import free_port
from toolevals.serving.preparation import NAME as PREPARATION

SERVER = ["django", "celery", "rest_framework", "redis", "psycopg", "whitenoise"]
WITHOUT_SERVER = f"""
import sys
sys.modules.update(dict.fromkeys({SERVER!r}))  # importing any of them fails, as where they are not installed
import toolevals.grading.documents
from toolevals.cli.main import main
sys.exit(max(main(words) for words in (["--help"], ["grade", "-"], ["gate", "rows.jsonl"])))
"""
ROW = {
    "id": "ex-1",
    "input": {"messages": [{"role": "user", "content": "What is the state of order A-1?"}]},
    "expected_tool": "get_order_status",
    "expected_args": {"order_id": "A-1"},
}
CALL = {"tool_calls": [{"name": "get_order_status", "arguments": '{"order_id": "A-1"}'}]}
ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOL = {"name": "get_order_status", "description": "When the state of an order is asked for", "parameters": ORDER}
PASSWORD = "correct horse battery"


class Built(NamedTuple):
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both, built from a copy of the project's files with what is installed already."""
    folder = tmp_path_factory.mktemp("wheel")
    vendored = [path for name in ("static", "sample") for path in (ROOT / "toolevals" / name).rglob("*")]
    for path in {*project_files(), *(path for path in vendored if path.is_file())}:
        target = folder / "source" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return Built(*archives(folder / "source", folder / "dist"))


def test_the_wheel_holds_all_that_runs_and_says_what_it_is(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read("toolevals-0.1.0.dist-info/METADATA").decode()
    own = [path.relative_to(ROOT) for path in project_files()]
    rooms = {str(path) for path in own if path.parts[0] in ("toolevals", "labeling", "reports")}
    documents = {f"toolevals-0.1.0.data/data/share/doc/toolevals/{path}" for path in own if path.match("docs/**/*.md")}
    assert rooms | documents <= names
    tops = {name.partition("/")[0].partition("-")[0] for name in names}
    assert tops == {"toolevals", "labeling", "reports"}
    assert {"toolevals/static/vendor/htmx/htmx.min.js", "toolevals/py.typed"} <= names
    licences = {name for name in names if "/licenses/" in name}
    vendored = {path.relative_to(ROOT) for path in (ROOT / "toolevals" / "static").rglob("*LICENSE")}
    assert {f"toolevals-0.1.0.dist-info/licenses/{path}" for path in [Path("LICENSE"), *vendored]} <= licences
    assert "License-Expression: Apache-2.0" in metadata
    assert 'Requires-Dist: django<5.3,>=5.2; extra == "server"' in metadata
    with tarfile.open(built.sdist) as sdist:
        packed = {name.partition("/")[2] for name in sdist.getnames()}
        times = {(entry.mtime, entry.uid) for entry in sdist}
    assert {str(path) for path in own} - {".gitattributes", ".gitignore"} <= packed
    assert len(times) == 1


def test_the_base_install_grades_and_gates_without_the_server(built: Built, tmp_path: Path) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        wheel.extractall(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW | CALL))
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER],
        cwd=tmp_path,
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path)},
        input=json.dumps(ROW | CALL),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "usage: toolevals" in result.stdout
    assert "The gate is passed." in result.stdout


def test_the_release_workflow_can_be_read() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    for step in steps:
        if "run" in step:
            subprocess.run(["/bin/sh", "-n", "-c", step["run"]], check=True)


class Installed:
    """The command of an environment that holds the wheel, away from any checkout."""

    def __init__(self, folder: Path, wheel: Path, prepared: Path) -> None:
        self.home = folder / "home"
        self.data = self.home / ".local" / "share" / "toolevals"
        # Applying every migration takes a minute. It is not known here what was applied: the wheel looks for itself.
        prepared_copy(prepared, self.data, sample=False)
        (self.data / PREPARATION).unlink()
        shutil.rmtree(self.data / "static")
        python = folder / "environment" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python.parent.parent)], check=True)
        where = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        packages = Path(subprocess.run([python, *where], capture_output=True, text=True, check=True).stdout.strip())
        install = ["-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
        subprocess.run([sys.executable, *install], check=True)
        # What the wheel depends on is the suite's own.
        (packages / "suite.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        self.command = python.with_name("toolevals")
        self.environment = {
            "PATH": f"{self.command.parent}:{os.defpath}",
            "HOME": str(self.home),
            "TOOLEVALS_PASSWORD": PASSWORD,
        }

    def __call__(self, *words: str, status: int = 0, **options: Any) -> str:
        """Run the command, whose exit status must be this, and return all that it prints."""
        done = subprocess.run(
            [self.command, *words], cwd=self.home, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip
        assert done.returncode == status, done.stdout
        said: str = done.stdout
        return said

    @contextmanager
    def serving(self) -> Iterator[tuple[str, str]]:
        """Serve, and give the address and what was printed until it was there; stop as Ctrl-C does."""
        port = free_port()
        process = subprocess.Popen(
            [self.command, "serve", "--no-sample", "--port", str(port)],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            said = ""
            assert process.stdout is not None
            for line in process.stdout:
                said += line
                if line.startswith("The command line is"):
                    break
            yield f"http://127.0.0.1:{port}", said
        finally:
            process.terminate()
            rest = process.communicate(timeout=60)[0]
        assert "Stopping" in rest
        assert process.returncode == 0


@pytest.mark.servers
@pytest.mark.browser
def test_an_installation_serves_pages_runs_and_gates(
    built: Built, page: Page, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    toolevals = Installed(tmp_path, built.wheel, prepared_root(tmp_path_factory))
    assert toolevals("--version").startswith(f"toolevals 0.1.0 from {tmp_path}")
    (toolevals.home / "tools.json").write_text(json.dumps([{"type": "function", "function": TOOL}]))
    with toolevals.serving() as (url, said):
        assert f"with its data in {toolevals.data}." in said
        assert f"The command line is {toolevals.command}." in said
        toolevals("create-owner", "rae@example.org", "--name", "Rae Example", "--project", "shop")
        page.goto(f"{url}/sign-in/?next=/p/shop/tokens/")
        page.get_by_label("E-mail").fill("rae@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_label("Name").fill("here")
        page.get_by_role("button", name="Make").click()
        token = page.locator(".secret code").inner_text()
        assert "Rae Example, adjudicator of the project shop" in toolevals("login", url, input=f"{token}\n")
        toolevals("import", "tools", "tools.json", "--registry", "shop")
        asked = ("import", "jsonl", "-", "--dataset", "core", "--tools", "shop", "--freeze", "first")
        assert "core version 1: 1 examples" in toolevals(*asked, input=json.dumps(ROW))
        assert f"{url}/p/shop/runs/1/" in toolevals("run", "core", "--baseline")
        assert "The gate is passed." in toolevals("gate", "--run", "1", "--threshold", "outcome=1")
        toolevals("gate", "--run", "1", "--baseline", "2", "--fail-on-regression", status=4)
        page.goto(f"{url}/p/shop/runs/1/matrix/")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        # The stylesheet came too: the page is not in the browser's own font.
        assert "Inter" in page.evaluate("getComputedStyle(document.body).fontFamily")
    kept = toolevals.home / ".config" / "toolevals" / "servers.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert token in kept.read_text()
