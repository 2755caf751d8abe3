"""Reads what pytest reports with `--junit-xml`, over several runs of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

SLOWEST = 10


@dataclass(frozen=True)
class Failure:
    """A test that failed or broke: its traceback, pytest's own id of it, and the marks that a second run looks at."""

    outcome: str
    name: str
    text: str
    node: str = ""
    in_browser: bool = False
    once: bool = False


@dataclass
class Results:
    """Numbers of tests by outcome, seconds, what failed, how long each test took, and why tests were skipped."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    durations: list[tuple[float, str]] = field(default_factory=list)

    def add(self, other: Results) -> None:
        """Add the results of another run."""
        self.counts += other.counts
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.failures += other.failures
        self.durations += other.durations

    def passed_again(self, node: str) -> str:
        """Count a test as passed that failed and then passed alone, and return its first traceback."""
        here = [failure for failure in self.failures if failure.node == node]
        self.failures = [failure for failure in self.failures if failure.node != node]
        self.counts -= Counter(failure.outcome for failure in here)
        self.counts["passed"] += 1
        return "\n".join(failure.text for failure in here)

    def slowest(self) -> Iterable[str]:
        """Return one line for each of the slowest tests."""
        return (f"{seconds:7.2f}s {name}" for seconds, name in sorted(self.durations, reverse=True)[:SLOWEST])

    def line(self) -> str:
        """Return a summary in pytest's own words."""
        said = [
            f"{self.counts[name]} {name}" for name in ("failed", "passed", "skipped", "errors") if self.counts[name]
        ]
        return f"{', '.join(said) or 'no tests ran'} in {self.seconds:.2f}s"


def results_in(report: Path) -> Results:
    """Read the report that pytest writes with `--junit-xml`; a missing one counts nothing."""
    results = Results()
    if not report.exists():
        return results
    for suite in ET.parse(report).getroot().iter("testsuite"):  # noqa: S314 - written by our own pytest
        results.seconds += float(suite.get("time", 0))
        for case in suite.iter("testcase"):
            _count(case, results)
    return results


def _count(case: ET.Element, results: Results) -> None:
    told = outcome(case)
    results.counts[told] += 1
    results.skipped.update(skip.get("message", "") for skip in case.iter("skipped"))
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    results.durations.append((float(case.get("time", 0)), name))
    if told in ("failed", "errors"):
        texts = [part.text or "" for tag in ("failure", "error") for part in case.iter(tag)]
        said = {each.get("name"): each.get("value", "") for each in case.iter("property")}
        marks = (said.get("marks") or "").split()
        node = said.get("node") or ""
        results.failures.append(Failure(told, name, "\n".join(texts), node, "browser" in marks, "once" in marks))


def outcome(case: ET.Element) -> str:
    """Return what became of one test."""
    for tag, name in (("failure", "failed"), ("error", "errors"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return name
    return "passed"
