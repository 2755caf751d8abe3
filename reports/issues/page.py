"""Prepare the page of an issue: the sentence that it opens with, its charts and the check of a fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from reports.issues.figures import FixCheck, Share, Touched, VersionCount, fix_check, is_version
from reports.issues.models import Issue, IssueState
from toolevals.presentation.numbers import percent
from toolevals.traces.production.version_counts import Version


@dataclass(frozen=True, slots=True)
class Point:
    """One agent, or one of its versions in production: its share, and the address of what is counted there."""

    name: str
    link: str
    share: Share
    is_since: bool


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A point in the chart, with the places of its rate and interval in a drawing that is 100 high."""

    point: Point
    x: float
    y: float
    high: float
    low: float


@dataclass(frozen=True, slots=True)
class Chart:
    """The shares of the newest agents, from 0 to `top`."""

    bars: Sequence[ChartBar]
    top: float
    width: int


def points_of_runs(issue: Issue, counts: Sequence[VersionCount]) -> list[Point]:
    """Return the agents of an issue, each with the run in which to look."""
    slug, fixed = issue.project.slug, issue.fixed_from
    return [
        Point(
            each.name,
            reverse("reports:run", args=[slug, each.run]),
            each.share,
            fixed is not None and each.first_run >= fixed,
        )
        for each in counts
    ]


def points_of_production(issue: Issue, versions: Mapping[Version, Share]) -> list[Point]:
    """Return the versions of an issue in production, each with its traces."""
    fixed = issue.fixed_in
    return [
        Point(
            f"{agent} {version}".strip() or "no version",
            f"?{urlencode({'agent': agent, 'version': version})}#tr-h",
            share,
            fixed is not None and is_version(fixed, agent, version),
        )
        for (agent, version), share in versions.items()
    ]


def chart_of(points: Sequence[Point]) -> Chart | None:
    """Return the chart of points; None where nothing is counted."""
    counted = [each for each in points if each.share.cases]
    if not counted:
        return None
    top = min(1.0, max(max(each.share.interval.high for each in counted) * 1.05, 0.05))
    step = 80
    bars = [
        ChartBar(
            each,
            step * place + step / 2,
            100 - 100 * (each.share.rate or 0.0) / top,
            100 - 100 * min(each.share.interval.high, top) / top,
            100 - 100 * each.share.interval.low / top,
        )
        for place, each in enumerate(counted)
    ]
    return Chart(bars, top, step * len(bars))


def check_of(issue: Issue) -> FixCheck | None:
    """Return what the runs since a fix say; None where none was made."""
    return None if issue.fixed_from is None else fix_check(issue, issue.fixed_in, issue.fixed_from)


def sentence(issue: Issue, check: FixCheck | None, counts: Sequence[VersionCount], touched: Touched) -> str:
    """Return the sentence that the page opens with."""
    if check is not None:
        agent = issue.fixed_in.name if issue.fixed_in else f"run {issue.fixed_from}"
        of = "graded cases" if check.of == "cases" else check.of
        was = f"after {check.before.seen:,} of {check.before.cases:,} before"
        if issue.state == IssueState.REGRESSED:
            more = f" Of its traces in production, {check.traces:,} fail so." if check.traces else ""
            return f"Came back: {check.since.seen:,} of {check.since.cases:,} {of} since {agent}, {was}.{more}"
        if issue.state == IssueState.FIXED:
            since = f"{check.since.seen:,}" if check.since.seen else "none"
            return f"Fixed in {agent}: {since} in {check.since.cases:,} {of} since, {was}."
    said = []
    if seen := sum(each.share.seen for each in counts):
        cases = sum(each.share.cases for each in counts)
        said.append(
            f"in {seen:,} of {cases:,} graded cases of the datasets where it was seen, {percent(seen / cases)} %"
        )
    if touched.traces:
        said.append(f"in {touched.traces:,} trace{'s' * (touched.traces != 1)} of production")
    if not said:
        return "In no case of the newest gradings, and in no trace that is kept."
    whole = ("Accepted: " if issue.state == IssueState.ACCEPTED else "") + ", and ".join(said)
    return f"{whole[:1].upper()}{whole[1:]}."
