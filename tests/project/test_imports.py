"""Test who may import whom. The layers themselves are import-linter's, in pyproject.toml."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from scripts.dev.environment import ROOT

PACKAGES: Final = ("toolevals", "labeling", "reports", "benchmarks", "scripts")
# Querysets name the models whose managers they are, and so does what keeps rows from blind readers.
NAMING_MODELS: Final = ("querysets", "blindness")

# The form of an error, which whoever refuses a program's request answers.
SHARED_ANSWERS: Final = frozenset({"toolevals.workspace.api.problems"})

# What runs by itself in a sandbox, or before there is an environment.
ALONE: Final = (
    "toolevals/agents/code/driver.py",
    "toolevals/agents/code/leaderboard_turns.py",
    "toolevals/agents/code/states.py",
    "toolevals/agents/code/user_namespace.py",
    "toolevals/sample/data/simulator/simulator.py",
)

CORE = """
import importlib, pkgutil, sys
import toolevals.grading
for module in pkgutil.walk_packages(toolevals.grading.__path__, "toolevals.grading."):
    importlib.import_module(module.name)
print(*sorted({"django", "celery", "rest_framework", "redis", "httpx"} & set(sys.modules)))
"""


def test_the_core_loads_neither_django_nor_celery() -> None:
    result = subprocess.run([sys.executable, "-c", CORE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


@pytest.mark.parametrize("path", ALONE)
def test_what_runs_alone_imports_the_standard_library_alone(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert named
    assert sorted(name for name in named if name.partition(".")[0] not in sys.stdlib_module_names) == []


def test_the_import_rules_name_every_room() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    named = " ".join(contracts[0]["layers"])
    rooms = [path.parent for path in (ROOT / "toolevals").glob("*/__init__.py") if path.parent.name != "settings"]
    assert [room.name for room in rooms if f"toolevals.{room.name}" not in named] == []


def test_the_project_package_stays_empty() -> None:
    assert (ROOT / "toolevals" / "__init__.py").read_text() == ""


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports for types count too: what needs each other's types is one idea cut in two places."""
    imports = {module: set(_imported(path, known)) for known in [_modules()] for module, path in known.items()}
    assert _circles(imports) == []


def test_a_circle_is_found() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]


def test_rest_views_and_page_views_do_not_import_each_other() -> None:
    """Both read a request, call the same functions and answer: what both need belongs into queries, tables or rooms."""
    imports = {module: set(_imported(path, known)) for known in [_modules()] for module, path in known.items()}
    assert _between_views(imports) == []


def test_an_import_between_rest_and_pages_is_found() -> None:
    imports = {
        "reports.api.case": {"reports.cases.views", "reports.run.api"},
        "labeling.label.views": {"labeling.api.views.label", "labeling.label.scope"},
        "labeling.urls": {"labeling.api.urls", "labeling.label.views"},
    }
    assert _between_views(imports) == [
        "labeling.label.views imports labeling.api.views.label",
        "reports.api.case imports reports.cases.views",
    ]


def _between_views(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the imports of page views by REST modules, and of REST modules by page views, in words."""
    return sorted(
        f"{module} imports {target}"
        for module, targets in imports.items()
        for target in targets
        if {_side(module), _side(target)} == {"pages", "rest"} and target not in SHARED_ANSWERS
    )


def _side(module: str) -> str:
    """Return the side that a module answers requests on: "rest", "pages" or "" for neither."""
    names = module.split(".")
    return "rest" if "api" in names else "pages" if "views" in names else ""


def _modules() -> dict[str, Path]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    parts = {path: path.relative_to(ROOT).with_suffix("").parts for path in paths}
    return {".".join(names[:-1] if names[-1] == "__init__" else names): path for path, names in parts.items()}


def _imported(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of this project that a file imports, in whatever function or for whatever purpose."""
    names_models = any(part in NAMING_MODELS for part in path.with_suffix("").parts)
    for node in _statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        else:
            assert not node.level, f"{path} imports by a relative name"
            module = node.module or ""
            if names_models and "models" in module.split("."):
                continue
            for alias in node.names:
                name = f"{module}.{alias.name}"
                if name in known:
                    yield name
                elif module in known and known[module] != path:
                    yield module


@cache
def _statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Return a file's imports, wherever in it they are."""
    return [
        node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Import | ast.ImportFrom)
    ]


def _circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other: take away, again and again, what nobody or nothing needs."""
    left = {module: targets & imports.keys() for module, targets in imports.items()}
    while True:
        wanted = set().union(*left.values())
        ends = {module for module, targets in left.items() if not targets or module not in wanted}
        if not ends:
            break
        left = {module: targets - ends for module, targets in left.items() if module not in ends}
    return [sorted(left)] if left else []
