"""Tell how sound the gold is, on a project's first page: agreement, coverage, and the labels that are most suspect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.core.cache import cache

from labeling.agreement.cache import FRESH, agreement_counted
from labeling.agreement.filters import Filters as AgreementFilters
from labeling.agreement.report import in_percent
from labeling.agreement.units import Period
from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import tools_to_cover
from labeling.coverage.quotas import quotas_of
from labeling.coverage.table import ToolRow, tool_rows
from labeling.examples.shown_strata import hidden_strata
from labeling.models import Dataset, DatasetVersion
from reports.models import SuspectCount
from reports.suspects.queries import Row, SuspectFilter, page_of
from reports.suspects.services import suspects_counted
from toolevals.grading.metrics.rates import Estimate
from toolevals.presentation.sparks import Spark, Squares, spark, squares
from toolevals.workspace.clock import database_now
from toolevals.workspace.requests import ProjectRequest

MOST_SUSPECTS: Final = 3
MOST_PERIODS: Final = 12
# So many tools fit into the small map of what is covered.
MOST_TOOLS: Final = 24
CELL: Final = 11.0


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """The share of pairs of labels that chose the same tool: over all pairs, and by period with a picture."""

    counted_at: datetime
    same: Estimate
    waiting: int
    periods: tuple[Period, ...]
    spark: Spark | None

    @property
    def percent(self) -> str:
        return in_percent(self.same).value

    @property
    def span(self) -> str:
        return in_percent(self.same).span


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """The number of wanted kinds that are covered, as a map of tools x kinds; `left_out` tools are not drawn.

    The looks of `cells` say whether what is wanted is there, partly or not at all. As of now without `counted_at`.
    """

    counted_at: datetime | None

    full: int
    wanted: int
    tools: int
    kinds: int
    cells: tuple[Squares, ...]
    width: str
    height: str
    left_out: int


@dataclass(frozen=True, slots=True)
class GoldState:
    """The state of a dataset's gold; a part is None where nothing is known yet."""

    dataset: Dataset
    version: DatasetVersion | None
    agreement: AgreementLine | None
    coverage: CoverageMap | None
    suspects: Sequence[Row]
    suspect_count: SuspectCount | None


def gold_state(request: ProjectRequest, dataset: Dataset, version: DatasetVersion | None) -> GoldState:
    """Return what the person who asks may know of a dataset's gold and of the suspects of one of its versions."""
    kept = suspects_counted(version, actor=request.user) if version else None
    suspects: Sequence[Row] = ()
    if version is not None and kept is not None and kept.counted_at is not None:
        suspects = page_of(version, SuspectFilter(state="open"), request.user, request.role).rows[:MOST_SUSPECTS]
    return GoldState(dataset, version, _agreement(request, dataset), _coverage(request, dataset), suspects, kept)


def _agreement(request: ProjectRequest, dataset: Dataset) -> AgreementLine | None:
    """Return the line as of the last minute: counting reads every label."""
    key = f"reports:home-agreement-at:{dataset.pk}"
    line: AgreementLine | None = cache.get(key)
    if line is None and (line := _agreement_line(request, dataset)) is not None:
        cache.set(key, line, timeout=FRESH.total_seconds())
    return line


def _agreement_line(request: ProjectRequest, dataset: Dataset) -> AgreementLine | None:
    counted = agreement_counted(dataset, AgreementFilters(), actor=request.user)
    agreement = counted.agreement
    if agreement is None or agreement.pairs is None or not agreement.pairs.counted:
        return None
    periods = agreement.periods[-MOST_PERIODS:]
    points = [
        (one.same_tool.value, one.same_tool.interval.low, one.same_tool.interval.high)
        for one in periods
        if one.same_tool.value is not None and one.same_tool.interval is not None
    ]
    picture = spark(points, goal=max(value for value, _, _ in points)) if len(points) > 1 else None
    counted_at = counted.counted_at or database_now()
    return AgreementLine(counted_at, agreement.pairs.tool.percent, agreement.pairs.waiting, periods, picture)


def _coverage(request: ProjectRequest, dataset: Dataset) -> CoverageMap | None:
    coverage = coverage_of(dataset, actor=request.user).told(hidden_strata(dataset, request.role))
    counts = coverage.counts
    if counts is None:
        return None
    rows = list(tool_rows(counts, quotas_of(dataset), tools_to_cover(dataset, counts)))
    wanted = [cell for row in rows for cell in row.cells if cell.wanted]
    if not wanted:
        return None
    drawn = rows[:MOST_TOOLS]
    kinds = len(rows[0].cells)
    return CoverageMap(
        coverage.counted_at,
        sum(not cell.lacking for cell in wanted),
        len(wanted),
        len(rows),
        kinds,
        squares(_places(drawn), CELL - 1.5),
        f"{kinds * CELL:g}",
        f"{len(drawn) * CELL:g}",
        len(rows) - len(drawn),
    )


def _places(rows: Sequence[ToolRow]) -> Iterator[tuple[str, float, float]]:
    for down, row in enumerate(rows):
        for right, cell in enumerate(row.cells):
            if cell.wanted:
                look = "cv-none" if not cell.have else "cv-some" if cell.lacking else "cv-ok"
                yield look, right * CELL + 0.5, down * CELL + 0.5
