"""Counting what pytest reports, over several runs of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET


@dataclass
class Results:
    """Numbers of tests by outcome, seconds, and the reasons for skipping with how often each was given."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, other: Results) -> None:
        """Add the results of another run."""
        self.counts += other.counts
        self.skipped += other.skipped
        self.seconds += other.seconds

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
            results.counts[outcome(case)] += 1
            results.skipped.update(skip.get("message", "") for skip in case.iter("skipped"))
    return results


def outcome(case: ET.Element) -> str:
    """Return what became of one test."""
    for tag, name in (("failure", "failed"), ("error", "errors"), ("skipped", "skipped")):
        if case.find(tag) is not None:
            return name
    return "passed"
