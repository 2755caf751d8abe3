"""Prepare the page of an issue: the sentence that it opens with, its chart and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.issues.figures import FixCheck, VersionCount, fix_check
from reports.issues.models import Issue, IssueState
from toolevals.presentation.numbers import percent


@dataclass(frozen=True, slots=True)
class ChartBar:
    """One agent in the chart: its count, and the places of its rate and interval in a drawing that is 100 high."""

    count: VersionCount
    x: float
    y: float
    high: float
    low: float
    is_since: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """The shares of the newest agents, from 0 to `top`."""

    bars: Sequence[ChartBar]
    top: float
    width: int


def chart_of(issue: Issue, counts: Sequence[VersionCount]) -> Chart | None:
    """Return the chart of an issue; None without a graded case."""
    graded = [each for each in counts if each.share.cases]
    if not graded:
        return None
    top = min(1.0, max(max(each.share.interval.high for each in graded) * 1.05, 0.05))
    step = 80
    bars = [
        ChartBar(
            each,
            step * place + step / 2,
            100 - 100 * (each.share.rate or 0.0) / top,
            100 - 100 * min(each.share.interval.high, top) / top,
            100 - 100 * each.share.interval.low / top,
            issue.fixed_from is not None and each.first_run >= issue.fixed_from,
        )
        for place, each in enumerate(graded)
    ]
    return Chart(bars, top, step * len(bars))


def check_of(issue: Issue) -> FixCheck | None:
    """Return what the runs since a fix say; None where none was made."""
    return None if issue.fixed_from is None else fix_check(issue, issue.fixed_from)


def sentence(issue: Issue, check: FixCheck | None, counts: Sequence[VersionCount]) -> str:
    """Return the sentence that the page opens with."""
    if check is not None:
        agent = issue.fixed_in.name if issue.fixed_in else f"run {issue.fixed_from}"
        was = f"after {check.before.seen:,} of {check.before.cases:,} before"
        if issue.state == IssueState.REGRESSED:
            return f"Came back: {check.since.seen:,} of {check.since.cases:,} graded cases since {agent}, {was}."
        if issue.state == IssueState.FIXED:
            since = f"{check.since.seen:,}" if check.since.seen else "none"
            return f"Fixed in {agent}: {since} in {check.since.cases:,} graded cases since, {was}."
    seen, cases = sum(each.share.seen for each in counts), sum(each.share.cases for each in counts)
    if not seen:
        return "In no case of the newest gradings."
    start = "Accepted: in" if issue.state == IssueState.ACCEPTED else "In"
    return f"{start} {seen:,} of {cases:,} graded cases of the datasets where it was seen, {percent(seen / cases)} %."
