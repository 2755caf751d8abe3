"""The wheel and the source archive: built, installed into an environment of their own, and used as a stranger does."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from playwright.sync_api import Page, expect

from scripts.dev.environment import ROOT, UV_ENVIRONMENT
from tests.fixtures.prepared import prepared_root
from tests.project.files import project_files
from tests.project.installed import PASSWORD, Built, Installed, Machine

SERVER = ["django", "celery", "rest_framework", "redis", "psycopg", "whitenoise"]
WITHOUT_SERVER = f"""
import sys
sys.modules.update(dict.fromkeys({SERVER!r}))  # importing any of them fails, as where they are not installed
import toolevals.grading.values.documents
from toolevals.cli.main import main
sys.exit(max(main(words) for words in (["--help"], ["grade", "-"], ["gate", "rows.jsonl"])))
"""
# Of an environment without the server: 45.0 MB when this was written. And of processor time for a list of the verbs.
MOST_BYTES, HELP_SECONDS = 45_000_000, 0.2
ROW = {
    "id": "ex-1",
    "input": {"messages": [{"role": "user", "content": "What is the state of order A-1?"}]},
    "expected_tool": "get_order_status",
    "expected_args": {"order_id": "A-1"},
}
CALL = {"tool_calls": [{"name": "get_order_status", "arguments": '{"order_id": "A-1"}'}]}
ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOL = {"name": "get_order_status", "description": "When the state of an order is asked for", "parameters": ORDER}


def test_the_wheel_holds_all_that_runs_and_says_what_it_is(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read("toolevals-0.1.0.dist-info/METADATA").decode()
    own = [path.relative_to(ROOT) for path in project_files()]
    rooms = {str(path) for path in own if path.parts[0] in ("toolevals", "labeling", "reports")}
    pages = {f"toolevals/{path}" for path in own if path.parts[0] in ("templates", "static")}
    # Decisions are for those who change the code, and pictures for the README: the source archive has them.
    read = (path for path in own if path.parts[0] == "docs" and path.parts[1] not in {"decisions", "pictures"})
    documents = {f"toolevals-0.1.0.data/data/share/doc/toolevals/{path}" for path in read}
    zipped = {name for name in names if name.startswith("toolevals/static/") and name.endswith(".gz")}
    assert "toolevals/static/vendor/plotly/plotly.min.js.gz" in zipped
    names |= {name.removesuffix(".gz") for name in zipped}
    assert rooms | pages | documents <= names
    assert not any("/docs/decisions/" in name for name in names)
    tops = {name.partition("/")[0].partition("-")[0] for name in names}
    assert tops == {"toolevals", "labeling", "reports"}
    assert {"toolevals/static/vendor/htmx/htmx.min.js", "toolevals/py.typed"} <= names
    licences = {name for name in names if "/licenses/" in name}
    vendored = {path.relative_to(ROOT) for path in (ROOT / "static").rglob("*LICENSE")}
    assert {f"toolevals-0.1.0.dist-info/licenses/{path}" for path in [Path("LICENSE"), *vendored]} <= licences
    assert "License-Expression: Apache-2.0" in metadata
    assert 'Requires-Dist: django<5.3,>=5.2; extra == "server"' in metadata
    with tarfile.open(built.sdist) as sdist:
        packed = {name.partition("/")[2] for name in sdist.getnames()}
        times = {(entry.mtime, entry.uid) for entry in sdist}
    assert {str(path) for path in own} - {".gitattributes", ".gitignore"} <= packed
    assert len(times) == 1


def test_the_wheel_lists_what_an_installation_is_made_of(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        said = wheel.read("toolevals-0.1.0.dist-info/sboms/bom.cdx.json").decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(said) is None
    listed = {part["purl"] for part in json.loads(said)["components"]}
    locked = [line.split()[0] for line in (ROOT / "requirements" / "run.txt").read_text().splitlines() if "==" in line]
    assert {f"pkg:pypi/{pin.replace('==', '@')}" for pin in locked} == {each for each in listed if ":pypi/" in each}
    scripts = {path.parent.name for path in (ROOT / "static" / "vendor").glob("*/*LICENSE")}
    named = {each.removeprefix("pkg:npm/").partition("@")[0].removesuffix(".org") for each in listed if ":npm/" in each}
    assert {name for name in scripts if name != "plotly"} <= {name.partition("/")[2] or name for name in named}
    assert any(each.startswith("pkg:npm/%40plotly/d3@") for each in listed)
    assert not any("/axe-core@" in each for each in listed)


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
    assert "Gate passed." in result.stdout


def test_the_base_install_is_light(built: Built, tmp_path: Path) -> None:
    """Count the bytes of the wheel and of what it needs, with bytecode, without pip."""
    with zipfile.ZipFile(built.wheel) as wheel:
        wheel.extractall(tmp_path)
        metadata = wheel.read("toolevals-0.1.0.dist-info/METADATA").decode()
    needed = [
        line.partition(":")[2] for line in metadata.splitlines() if re.match(r"Requires-Dist:(?!.*extra ==)", line)
    ]
    for part in closure(needed).values():
        for file in part.files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                target = tmp_path / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target)
    environment = {"PATH": os.defpath}
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(tmp_path)], env=environment, check=True)
    size = sum(path.lstat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size < MOST_BYTES, f"{size / 1e6:.3f} MB"


def closure(needed: list[str]) -> dict[str, Distribution]:
    """Return the installed distributions that these requirements ask for, and those that they ask for, by name."""
    found: dict[str, Distribution] = {}
    while needed:
        wanted = Requirement(needed.pop())
        if wanted.name not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found[wanted.name] = distribution(wanted.name)
            needed += found[wanted.name].requires or []
    return found


def test_asking_for_help_is_quick() -> None:
    """Processor time of another process, which a busy machine does not lengthen much: the least of several."""
    took = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "toolevals.cli.main", "--help"], cwd=ROOT, check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(took) < HELP_SECONDS


def test_the_release_workflow_can_be_read() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    for step in steps:
        if "run" in step:
            subprocess.run(["/bin/sh", "-n", "-c", step["run"]], check=True)


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
        page.get_by_role("button", name="Create").click()
        token = page.locator(".secret code").inner_text()
        assert "Rae Example, adjudicator of the project shop" in toolevals("login", url, input=f"{token}\n")
        toolevals("import", "tools", "tools.json", "--registry", "shop")
        asked = ("import", "jsonl", "-", "--dataset", "core", "--tools", "shop", "--freeze", "first")
        assert "core version 1: 1 examples" in toolevals(*asked, input=json.dumps(ROW))
        assert f"{url}/p/shop/runs/1/" in toolevals("run", "core", "--baseline")
        assert "Gate passed." in toolevals("gate", "--run", "1", "--threshold", "outcome=1")
        toolevals("gate", "--run", "1", "--baseline", "2", "--fail-on-regression", status=4)
        page.goto(f"{url}/p/shop/runs/1/matrix/")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        # The stylesheet came too: the page is not in the browser's own font.
        assert "Inter" in page.evaluate("getComputedStyle(document.body).fontFamily")
    kept = toolevals.home / ".config" / "toolevals" / "servers.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert token in kept.read_text()


@pytest.mark.servers
def test_it_serves_where_nothing_is_installed(
    built: Built, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Run it by `uvx --from`. `pipx run --spec` is not run: it makes the same environment."""
    machine = Machine(tmp_path, prepared_root(tmp_path_factory))
    programs = Path(sys.prefix) / "bin"
    asked = subprocess.run([programs / "uv", "cache", "dir"], stdout=subprocess.PIPE, text=True, check=True)
    machine.environment |= UV_ENVIRONMENT | {
        "UV_CACHE_DIR": asked.stdout.strip(),
        "UV_CONSTRAINT": str(ROOT / "requirements" / "run.txt"),
        "UV_PYTHON": sys.executable,
    }
    words = [str(programs / "uvx"), "--quiet", "--from", f"{built.wheel}[server]", "toolevals"]
    first = subprocess.run([*words, "--version"], env=machine.environment, capture_output=True, text=True, check=False)
    if "error sending request" in first.stderr:
        pytest.skip("there is no package index to be reached")
    assert (first.returncode, first.stderr) == (0, "")
    line = shlex.join(words)
    with machine.serving(f"{line} serve --no-sample 2>errors.txt") as (url, said):
        with urlopen(f"{url}/sign-in/", timeout=60) as answer:
            assert b"<form" in answer.read()
        assert said.count(url) == 1
    assert (machine.home / "errors.txt").read_text() == ""
