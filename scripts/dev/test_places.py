"""Says in which files the tests of a stage are, so that its processes load no others."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from scripts.dev.environment import ROOT

# The core takes plain values, and so do what shows them: their tests need nothing that must be started.
CORE = ("tests/grading", "tests/presentation")
SLOW_LANE = "tests/slow_lane"
# Marks of tests that start something. The file of such a test writes the mark out.
STARTING = ("servers", "browser")


def files_starting(root: Path = ROOT) -> list[str]:
    """Return the files whose tests may start servers or a browser."""
    files = sorted((root / "tests").rglob("test_*.py"))
    return [str(path.relative_to(root)) for path in files if any(writes(path, mark) for mark in STARTING)]


@cache
def writes(path: Path, mark: str) -> bool:
    """Return whether a file writes out a mark."""
    return f"mark.{mark}" in path.read_text()


def misplaced(node: str, path: Path, marks: Collection[str]) -> str:
    """Say why no stage would run a test that is where it is; "" where one does."""
    file = node.partition("::")[0]
    if file.startswith(tuple(f"{folder}/" for folder in CORE)) and not {"database", *STARTING}.isdisjoint(marks):
        return f"{node}: a test in {' or '.join(CORE)} starts nothing and uses no database"
    if "slow_lane" in marks and not file.startswith(f"{SLOW_LANE}/"):
        return f"{node}: a test with the mark slow_lane is in {SLOW_LANE}"
    for mark in STARTING:
        if mark in marks and not writes(path, mark):
            return f"{node}: its file writes out pytest.mark.{mark}"
    return ""
