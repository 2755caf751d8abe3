"""Measures a commit next to this checkout, in turns: what became slower by more than the noise of the pairs.

The suites of this checkout measure both sides, so that both do the same work.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import exp, log, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Literal

from scripts.dev.environment import ROOT
from toolevals.grading.metrics.rates import student_quantile

# A suite that hangs must not hold the comparison for ever.
SECONDS = 3600
# The share of comparisons of equal versions in which any figure is called slower or faster.
FALSE_ALARMS = 0.05
# What is exact has no noise: a figure that changed by less than this is the same.
LEAST = 1.01
FEWEST_PAIRS = 3
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Change:
    """The factor by which a figure became more costly, from `low` to `high`; above 1 is slower.

    The interval holds for all figures of a comparison together.
    """

    name: str
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def verdict(self) -> Literal["slower", "faster", "not told from noise"]:
        """The direction in which the whole interval lies."""
        if self.low > 1 and self.ratio >= LEAST:
            return "slower"
        return "faster" if self.high < 1 and self.ratio <= 1 / LEAST else "not told from noise"

    def document(self) -> dict[str, Any]:
        """Return the change as it is printed."""
        return asdict(self) | {"verdict": self.verdict}

    def line(self) -> str:
        """Return the change for a terminal."""
        return f"{self.verdict:<20} {self.ratio:6.3f} ({self.low:.3f} to {self.high:.3f})  {self.name}"


@dataclass(frozen=True, slots=True)
class Figure:
    """The values of one row in each pair, as (before, now)."""

    name: str
    better: Better
    values: Sequence[tuple[float, float]]

    @property
    def problem(self) -> str | None:
        """Return why its change cannot be stated, or None."""
        if len(self.values) < FEWEST_PAIRS:
            return f"measured in {len(self.values)} pairs, and {FEWEST_PAIRS} are needed"
        return "a value is not above zero" if any(min(pair) <= 0 for pair in self.values) else None


def changes(figures: Sequence[Figure]) -> list[Change]:
    """Return the changes of the figures that have no problem, the costliest first.

    Each is the mean of the pairs' log ratios, with Student's interval over pairs at a confidence of
    1 - FALSE_ALARMS / figures (Bonferroni), so that all intervals hold together.
    """
    told = [figure for figure in figures if figure.problem is None]
    confidence = 1 - FALSE_ALARMS / max(1, len(told))
    return sorted((_change(figure, confidence) for figure in told), key=lambda change: -change.ratio)


def _change(figure: Figure, confidence: float) -> Change:
    sign = 1 if figure.better == "lower" else -1
    logs = [sign * log(now / before) for before, now in figure.values]
    mean = fmean(logs)
    half = student_quantile(len(logs) - 1, confidence) * stdev(logs) / sqrt(len(logs))
    return Change(figure.name, exp(mean), exp(mean - half), exp(mean + half), len(logs))


def figures_of(
    pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], better: Mapping[str, Better]
) -> list[Figure]:
    """Return a figure for each name that both sides of some pair hold, in the order of `better`.

    A pair is what each side measured: name -> value.
    """
    found = []
    for name, direction in better.items():
        values = [(before[name], now[name]) for before, now in pairs if name in before and name in now]
        if values:
            found.append(Figure(name, direction, values))
    return found


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
        raise RevisionError(f"{revision!r} is not a commit of this repository. Name a branch, a tag or a hash.")
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


@dataclass(slots=True)
class Measured:
    """The measurements of one side in one turn."""

    values: dict[str, float] = field(default_factory=dict)
    better: dict[str, Better] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)


def compare(revision: str, suites: Sequence[str], *, pairs: int, own_suites: bool, as_json: bool) -> int:
    """Measure a commit and this checkout in turns, print each change, and return the exit status.

    1: something became slower, or is not measured any more. 2: nothing could be compared, or there is no such commit.
    """
    # Ended in good order, it leaves no checked-out commit behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with checked_out(revision, own_suites=own_suites) as before:
            now = Tree(ROOT, sys.executable, "this checkout")
            found = []
            for number in range(pairs):
                found.append(_turn(number, before, now, suites))
                if not set(found[0][0].values) & set(found[0][1].values):
                    # Further pairs would take long, and say the same.
                    break
    except RevisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return report(found, as_json=as_json)


def report(found: Sequence[tuple[Measured, Measured]], *, as_json: bool) -> int:
    """Print the changes over these pairs of (before, now), and return the exit status."""
    better: dict[str, Better] = {}
    for before, now in found:
        better |= before.better | now.better
    figures = figures_of([(before.values, now.values) for before, now in found], better)
    stated = changes(figures)
    for change in stated:
        print(json.dumps(change.document()) if as_json else change.line())
    left_out = {figure.name: figure.problem for figure in figures if figure.problem}
    left_out |= {name: "measured on one side alone" for name in better if name not in {each.name for each in figures}}
    broken = {name: text for _, now in found for name, text in now.errors.items()}
    broken_before = {name: text for before, _ in found for name, text in before.errors.items()}
    told = {f"{name}, before": text for name, text in broken_before.items()} | {
        f"{name}, now": text for name, text in broken.items()
    }
    for name, reason in (left_out | told).items():
        document = {"name": name, "verdict": "not compared", "reason": reason}
        print(json.dumps(document) if as_json else f"{document['verdict']:<20} {name}: {reason}")
    gone = [name for name in broken if name not in broken_before]
    if not stated:
        return 2
    return 1 if gone or any(change.verdict == "slower" for change in stated) else 0


def _turn(number: int, before: Tree, now: Tree, suites: Sequence[str]) -> tuple[Measured, Measured]:
    """Measure both once; each goes first in every other turn, so that a drift of the machine falls on both."""
    sys.stderr.write(f"pair {number + 1}\n")
    order = (before, now) if number % 2 == 0 else (now, before)
    found = {tree.commit: measured(tree, suites) for tree in order}
    return found[before.commit], found[now.commit]


def measured(tree: Tree, suites: Sequence[str]) -> Measured:
    """Run suites in a tree, and return what they print."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [tree.python, "-m", "benchmarks", *suites, "--json"],
        cwd=tree.folder,
        env=inherited,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * len(suites),
    )
    try:
        rows = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError as error:
        raise RevisionError(f"a line that a suite printed is no JSON: {error}") from error
    if not rows:
        raise RevisionError(f"{tree.commit} measured nothing: {done.stderr.strip()[-500:]}")
    found = Measured()
    for row in rows:
        title = f"{row['suite']}: {row['name']}"
        if "error" in row:
            found.errors[row["suite"]] = row["error"]
        else:
            found.values[title], found.better[title] = row["value"], row["better"]
    return found


def pairs_asked(text: str) -> int:
    """Return a number of pairs for the command line. Raises ValueError."""
    if (pairs := int(text)) < FEWEST_PAIRS:
        raise ValueError(f"{FEWEST_PAIRS} pairs at least")
    return pairs
