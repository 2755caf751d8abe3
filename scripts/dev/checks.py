"""`./dev test`, `./dev check`, `./dev fmt`: everything that says whether the project is sound."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.dev import chromium, debian, locks
from scripts.dev.environment import ROOT, DevError, ensure, in_venv, say
from scripts.dev.results import Results, results_in

PYTHON_PATHS = ["toolevals", "labeling", "reports", "tests", "scripts", "benchmarks", "manage.py"]
# The status of tests/servers when PostgreSQL or Redis cannot be had.
NOT_AVAILABLE = 69
PARALLEL = ["-n", "2"]
# The tests of a file share their servers.
BY_FILE = [*PARALLEL, "--dist", "loadfile"]
IN_PROCESS = "not servers and not browser"


@dataclass
class Session:
    """What has been done so far: each step with its outcome, and what could not be run."""

    steps: list[tuple[str, bool, str]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    results: Results = field(default_factory=Results)

    def step(self, title: str, work: Callable[[], bool]) -> None:
        """Do one step; a later one runs whatever its outcome."""
        say(f"\n--- {title}")
        start = time.monotonic()
        well = work()
        self.steps.append((title, well, f"{time.monotonic() - start:.0f} s"))

    def command(self, title: str, *words: str) -> None:
        """Run one command of the environment as a step."""
        self.step(title, lambda: run(in_venv(*words)) == 0)

    def tests(self, title: str, *words: str, servers: bool = False) -> None:
        """Run pytest as a step, on real servers if wanted, and keep its counts."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            wrapper = in_venv("-m", "tests.servers") if servers else []
            command = [*wrapper, *in_venv("-m", "pytest", f"--junit-xml={report}", *words)]
            status = 0

            def work() -> bool:
                nonlocal status
                status = run(command)
                return status in (0, NOT_AVAILABLE)

            self.step(title, work)
            if status == NOT_AVAILABLE:
                self.not_run.append(f"{title}: no server, see above")
            self.results.add(results_in(report))

    def summary(self) -> int:
        """Say how it went and return the exit status."""
        say("\n--- Summary")
        for title, well, seconds in self.steps:
            say(f"{'passed' if well else 'FAILED'}  {title} ({seconds})")
        for line in [*self.not_run, *(f"{count} tests: {reason}" for reason, count in self.results.skipped.items())]:
            say(f"not run {line}")
        if not self.not_run and not self.results.skipped:
            say("Nothing was left out.")
        say(self.results.line())
        missing = self.not_run and os.environ.get("CI") == "true"
        return 1 if missing or not all(well for _, well, _ in self.steps) else 0


def test(_: argparse.Namespace) -> int:
    """Run everything."""
    ensure("dev")
    session = Session()
    session.step("requirement files follow from pyproject.toml", locks_fresh)
    static_checks(session)
    if shutil.which("bwrap") is None:
        debian.install("bubblewrap")
    session.tests("tests on SQLite", *PARALLEL, "-m", IN_PROCESS)
    session.tests("tests on PostgreSQL and Redis", *PARALLEL, "-m", f"database and {IN_PROCESS}", servers=True)
    session.tests("tests with servers and workers", *BY_FILE, "-m", "servers and not browser")
    if chromium.available() or chromium.install():
        session.tests("tests in a browser", *BY_FILE, "-m", "browser")
    else:
        session.not_run.append("tests in a browser: no Chromium, and it could not be installed; see above")
    return session.summary()


def check(_: argparse.Namespace) -> int:
    """Run what is quick."""
    ensure("dev")
    session = Session()
    static_checks(session)
    session.tests("unit tests", *PARALLEL, "-m", f"not database and {IN_PROCESS}")
    return session.summary()


def fmt(_: argparse.Namespace) -> int:
    """Format the code."""
    ensure("dev")
    return run(in_venv("-m", "ruff", "format", ".")) or run(in_venv("-m", "ruff", "check", "--fix", "."))


def static_checks(session: Session) -> None:
    """Run what reads the code without running it."""
    session.command("format", "-m", "ruff", "format", "--check", ".")
    session.command("lint", "-m", "ruff", "check", ".")
    session.command("types", "-m", "mypy", *PYTHON_PATHS)
    session.command("import rules", "-c", "from importlinter.cli import lint_imports_command as run; run()")


def locks_fresh() -> bool:
    """Return whether the requirement files follow from pyproject.toml, and name those that do not."""
    try:
        stale = locks.stale()
    except DevError as error:
        say(str(error))
        return False
    for name in stale:
        say(f"requirements/{name}.txt does not follow from its source any more: run ./dev lock")
    return not stale


def run(command: Sequence[str]) -> int:
    """Run a command in the project's folder and return its exit status."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
