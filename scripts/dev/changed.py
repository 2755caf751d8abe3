"""Finds the tests of what was changed, for a check to begin with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from scripts.dev.environment import ROOT

# More are left to `./dev test`: a check is short.
MOST_FILES = 20
# Where the tests of a folder are that has none of its own name.
TESTED_BY = {"scripts": "project", "benchmarks": "project"}


def changed_tests(root: Path = ROOT) -> list[str]:
    """Return the test files of what is changed and not committed, or else of the last commit, at most MOST_FILES.

    They are those that were changed themselves, then those that are named after a module that was. Nothing outside of
    a repository.
    """
    names = _names(root, "diff", "HEAD") + _names(root, "ls-files", "--others", "--exclude-standard")
    names = names or _names(root, "diff", "HEAD~1", "HEAD")
    python = [Path(name) for name in dict.fromkeys(names) if name.endswith(".py")]
    own = [path for path in python if path.name.startswith("test_") and (root / path).exists()]
    found = [*own, *(test for path in python if "tests" not in path.parts for test in _named_after(root, path))]
    return [str(path) for path in dict.fromkeys(found)][:MOST_FILES]


def _named_after(root: Path, path: Path) -> Iterable[Path]:
    """Yield the test files of a module: those of its folder, or else of its room, that begin with its name.

    Where there are none, as of a feature's `services.py`, those that begin with its folder's.
    """
    parts = path.parent.parts[1:] if path.parts[0] == "toolevals" else path.parent.parts
    if not parts:
        return
    room = TESTED_BY.get(parts[0], parts[0])
    for folder in (Path("tests", room, *parts[1:]), Path("tests", room)):
        exact = sorted((root / folder).glob(f"**/test_{path.stem}.py"))
        if found := exact or sorted((root / folder).glob(f"**/test_{path.stem}_*.py")):
            yield from (test.relative_to(root) for test in found)
            return
    yield from (test.relative_to(root) for test in sorted((root / "tests" / room).glob(f"**/test_{parts[-1]}*.py")))


def _names(root: Path, *words: str) -> list[str]:
    command = ["git", *words, *(["--name-only"] if words[0] == "diff" else [])]
    told = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return told.stdout.splitlines() if told.returncode == 0 else []
