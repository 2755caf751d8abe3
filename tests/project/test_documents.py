"""The documents agree with the code, and no file names a place that exists only on somebody's machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.dev.environment import ROOT
from tests.project.files import lines_matching, project_files

DOCUMENTS = project_files(".md")
# Written in halves, so that this file does not name them either.
PLACES = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "/wo" + "rk/", "/ro" + "ot/"]
TEXT = {".py", ".md", ".toml", ".txt", ".in", ".json", ".jsonl", ".html", ".js", ".css", ".yml", ".yaml", ".sh", ""}
SETTING = re.compile(r"\benv\.\w+\(\s*\"([A-Z_]+)\"")
VARIABLE = re.compile(r"environ(?:\.get\(|\[)\s*\"((?:TOOLEVALS|SWEEP|BATCH)_[A-Z_]+)\"")
LINK = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")


def code(*folders: str) -> str:
    return "\n".join(path.read_text() for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


def test_the_readme_names_both_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "./dev run" in readme
    assert "./dev test" in readme


def test_every_setting_is_described_and_every_described_one_exists() -> None:
    operating = (ROOT / "docs" / "operating.md").read_text()
    table = operating.partition("## Settings")[2].partition("The command line")[0]
    described = set(re.findall(r"^\| `TOOLEVALS_([A-Z_]+)`", table, re.MULTILINE))
    assert described == set(SETTING.findall(code("toolevals/settings")))


def test_every_other_variable_is_described() -> None:
    operating = (ROOT / "docs" / "operating.md").read_text()
    read = set(VARIABLE.findall(code("toolevals", "labeling", "reports", "tests", "benchmarks")))
    assert {name for name in read if f"`{name}`" not in operating} == set()


@pytest.mark.parametrize("place", PLACES)
def test_no_file_names(place: str) -> None:
    paths = [path for path in project_files() if path.suffix in TEXT]
    assert lines_matching(paths, re.escape(place)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    targets = [target for target in LINK.findall(document.read_text()) if "://" not in target]
    assert [target for target in targets if not (document.parent / target).exists()] == []


def test_every_verb_of_dev_is_described() -> None:
    verbs = re.findall(r"\badd\(\"(\w+)\"", (ROOT / "scripts" / "dev" / "__main__.py").read_text())
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert len(verbs) >= 8
    assert [verb for verb in verbs if f"./dev {verb}" not in contributing] == []
