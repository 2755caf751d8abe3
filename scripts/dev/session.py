"""Keeps the steps of a check: what they did, what they counted, and what is said of them at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from scripts.dev.again import run_again
from scripts.dev.environment import ROOT, in_venv, say
from scripts.dev.results import Results, results_in

# The status of tests/servers when PostgreSQL or Redis cannot be had.
NOT_AVAILABLE = 69
# The status of pytest when it came to its end and a test failed.
TESTS_FAILED = 1
# The status of pytest when no test was left.
NO_TESTS = 5
PYTEST = ["-m", "pytest"]


@dataclass
class Session:
    """The outcome of each step so far, with what could not be run and which tests are flaky."""

    steps: list[tuple[str, bool, str]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    results: Results = field(default_factory=Results)
    flaky: dict[str, str] = field(default_factory=dict)

    def step(self, title: str, work: Callable[[], bool]) -> None:
        """Do one step; a later one runs whatever its outcome."""
        say(f"\n--- {title}")
        start = time.monotonic()
        well = work()
        self.steps.append((title, well, f"{time.monotonic() - start:.0f} s"))

    def command(self, title: str, *words: str) -> None:
        """Run one command of the environment as a step."""
        self.step(title, lambda: run(in_venv(*words)) == 0)

    def meanwhile(self, title: str, *words: str, when_idle: bool = False) -> Callable[[], None]:
        """Begin one command of the environment; return a function that waits for it and shows it as a step.

        `when_idle`: on a processor that nothing else wants, where the system has `nice`.
        """
        before = ["nice", "-n", "19"] if when_idle and shutil.which("nice") else []
        begun: Future[tuple[int, str, float]] = POOL.submit(quietly, [*before, *in_venv(*words)])

        def show() -> None:
            say(f"\n--- {title}")
            status, said, seconds = begun.result()
            say(said.rstrip())
            self.steps.append((title, status == 0, f"{seconds:.0f} s, beside others"))

        return show

    def tests(self, title: str, *words: str, servers: bool = False, may_be_none: bool = False) -> None:
        """Run pytest as a step, on real servers if wanted, and keep its counts; `may_be_none` lets it find no test."""
        wrapper = in_venv("-m", "tests.servers") if servers else []
        status = 0

        def work() -> bool:
            nonlocal status
            status, found = pytest_run([*wrapper, *in_venv(*PYTEST)], words)
            failed_before = bool(found.failures)
            self.flaky |= run_again(found, lambda node: passes_alone(wrapper, node))
            self.results.add(found)
            if status == TESTS_FAILED and failed_before and not found.failures:
                return True
            return status in (0, NOT_AVAILABLE) or (may_be_none and status == NO_TESTS)

        self.step(title, work)
        if status == NOT_AVAILABLE:
            self.not_run.append(f"{title}: no server, see above")

    def tests_meanwhile(self, title: str, *words: str, needs: Future[bool]) -> Callable[[], None]:
        """Begin tests that mostly wait; return a function that waits for them and shows and counts them as a step.

        Those that are begun so run one after the other. Where what they need is not there in the end, none run.
        """
        begun = LANE.submit(lambda: pytest_quietly(words) if needs.result() else None)

        def show() -> None:
            ended = begun.result()
            if ended is None:
                return
            say(f"\n--- {title}")
            status, said, seconds, found = ended
            say(said.rstrip())
            failed_before = bool(found.failures)
            self.flaky |= run_again(found, lambda node: passes_alone([], node))
            self.results.add(found)
            well = status == 0 or (status == TESTS_FAILED and failed_before and not found.failures)
            self.steps.append((title, well, f"{seconds:.0f} s, beside others"))

        return show

    def summary(self) -> int:
        """Say how it went and return the exit status."""
        for node, text in self.flaky.items():
            say(f"\n--- flaky: {node} failed, and passed when it ran once more alone. It failed so:\n{text}")
        if self.results.durations:
            say("\n--- Slowest tests")
            for line in self.results.slowest():
                say(line)
        say("\n--- Summary")
        for title, well, seconds in self.steps:
            say(f"{'passed' if well else 'FAILED'}  {title} ({seconds})")
        for failure in self.results.failures:
            say(f"FAILED  {failure.node or failure.name}")
        for node in self.flaky:
            say(f"flaky   {node}")
        for line in [*self.not_run, *(f"{count} tests: {reason}" for reason, count in self.results.skipped.items())]:
            say(f"not run {line}")
        if not self.not_run and not self.results.skipped:
            say("Nothing was left out.")
        say(self.results.line())
        missing = self.not_run and os.environ.get("CI") == "true"
        return 1 if missing or not all(well for _, well, _ in self.steps) else 0


POOL = ThreadPoolExecutor()
# For tests: one run of them at a time.
LANE = ThreadPoolExecutor(1)


def pytest_run(command: Sequence[str], words: Sequence[str]) -> tuple[int, Results]:
    """Run pytest; return its status and what it reports."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status = run([*command, f"--junit-xml={report}", *words])
        return status, results_in(report)


def pytest_quietly(words: Sequence[str]) -> tuple[int, str, float, Results]:
    """Run pytest; return its status, all that it said, its seconds and what it reports."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        status, said, seconds = quietly([*in_venv(*PYTEST), f"--junit-xml={report}", *words])
        return status, said, seconds, results_in(report)


def passes_alone(wrapper: Sequence[str], node: str) -> bool:
    """Run one test in a pytest of its own and return whether it passes."""
    say(f"\n--- once more, alone: {node}")
    status, found = pytest_run([*wrapper, *in_venv(*PYTEST)], [node])
    return status == 0 and found.counts["passed"] == 1


def run(command: Sequence[str]) -> int:
    """Run a command in the project's folder and return its exit status."""
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode


def quietly(command: Sequence[str]) -> tuple[int, str, float]:
    """Run a command in the project's folder; return its exit status, all that it said, and its seconds."""
    start = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, time.monotonic() - start
