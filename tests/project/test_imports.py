"""Who may import whom. The layers themselves are import-linter's, in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from scripts.dev.environment import ROOT

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


def test_the_import_rules_name_every_room() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    named = " ".join(contracts[0]["layers"])
    rooms = [path.parent for path in (ROOT / "toolevals").glob("*/__init__.py") if path.parent.name != "settings"]
    assert [room.name for room in rooms if f"toolevals.{room.name}" not in named] == []


def test_the_project_package_stays_empty() -> None:
    assert (ROOT / "toolevals" / "__init__.py").read_text() == ""
