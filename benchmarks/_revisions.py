"""Checks out another commit of this repository for as long as it is measured."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.dev.environment import ROOT

# What an environment is installed from.
REQUIREMENTS = Path("requirements") / "dev.txt"
_MAKE = "from scripts.dev.environment import ensure; ensure('dev')"


class RevisionError(Exception):
    """A commit cannot be measured; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder with the files of a commit, and the Python that runs them."""

    folder: Path
    python: str
    commit: str


def commit_of(revision: str, root: Path = ROOT) -> str:
    """Return the full name of a commit. Raises RevisionError."""
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    found = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RevisionError(f"{revision!r} is no commit of this repository. Name a branch, a tag or a hash.")
    return found.stdout.strip()


@contextmanager
def checked_out(revision: str, *, own_suites: bool, root: Path = ROOT) -> Iterator[Tree]:
    """Yield the files of a commit in a temporary folder, which is removed at the end. Raises RevisionError.

    Unless `own_suites`, its measurements are those of this checkout, so that both do the same work. It runs in the
    environment of this process where its requirements are the same, else in one of its own.
    """
    commit = commit_of(revision, root)
    with tempfile.TemporaryDirectory(prefix="toolevals-compare-") as parent:
        folder = Path(parent) / "tree"
        _git(root, "worktree", "add", "--detach", "--quiet", str(folder), commit)
        try:
            if not own_suites:
                shutil.rmtree(folder / "benchmarks", ignore_errors=True)
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(root / "benchmarks", folder / "benchmarks", ignore=ignored)
            yield Tree(folder, _python_of(folder, root), commit)
        finally:
            _git(root, "worktree", "remove", "--force", str(folder))


def _python_of(folder: Path, root: Path) -> str:
    theirs = folder / REQUIREMENTS
    if theirs.exists() and theirs.read_bytes() == (root / REQUIREMENTS).read_bytes():
        return sys.executable
    sys.stderr.write("Its requirements differ: making an environment of its own.\n")
    if subprocess.run([sys.executable, "-c", _MAKE], cwd=folder, stdout=sys.stderr, check=False).returncode:
        raise RevisionError("The environment of that commit could not be made: see above.")
    return str(folder / ".venv" / "bin" / "python")


def _git(root: Path, *words: str) -> None:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RevisionError(f"git {words[0]} {words[1]}: {done.stderr.strip()[-500:]}")
