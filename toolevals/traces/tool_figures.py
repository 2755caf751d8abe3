"""Figures of tools in production: counted by the database in one query, put together here.

Durations are counted in classes that are each 1 % wide, so a percentile is right to within 1 %, and millions of calls
cost a few thousand rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from django.db.models import Count, F, IntegerField
from django.db.models.functions import Cast, Floor, Ln, TruncDate

from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import ToolUse
from toolevals.traces.querysets.traces import first_id
from toolevals.workspace.models import Project

# The width of a class of durations.
_RATIO: Final = math.log(1.01)
# Durations begin here: shorter ones count as this long.
_LEAST_MS: Final = 0.001
# What a table can be split by beside tools, and the column that says it.
SPLITS: Final[Mapping[str, str]] = {"version": "agent_version", "agent": "agent", "day": "day"}
PERCENTILES: Final = (50, 95, 99)


@dataclass(slots=True)
class ToolFigures:
    """What became of the calls of one tool, of one part of them where the table is split.

    `checked` counts the calls whose tool was offered with a schema, `misfits` those of them whose arguments do not fit.
    """

    tool: str
    part: str
    calls: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    checked: int = 0
    misfits: int = 0
    durations: Counter[int] = field(default_factory=Counter)
    days: Counter[date] = field(default_factory=Counter)
    failed_days: Counter[date] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        """Calls that came back with an error; an answer that is empty or partial is none."""
        return sum(count for name, count in self.errors.items() if name not in ("empty", "partial"))

    @property
    def error_rate(self) -> float:
        """The share of calls with an error."""
        return self.failed / self.calls

    @property
    def misfit_rate(self) -> float | None:
        """The share of the checked calls whose arguments do not fit; None where none was checked."""
        return self.misfits / self.checked if self.checked else None

    @property
    def by_class(self) -> list[tuple[str, int]]:
        """The classes of errors, the most frequent first."""
        return sorted(self.errors.items(), key=lambda item: (-item[1], item[0]))

    def percentile(self, percent: int) -> float | None:
        """Return the duration in milliseconds that so many percent of the measured calls did not exceed."""
        measured = sum(self.durations.values())
        if not measured:
            return None
        rank, seen = math.ceil(measured * percent / 100), 0
        for step in sorted(self.durations):
            seen += self.durations[step]
            if seen >= rank:
                break
        return math.exp((step + 0.5) * _RATIO)

    @property
    def percentiles(self) -> list[float | None]:
        """The percentiles that the table shows."""
        return [self.percentile(each) for each in PERCENTILES]


def tool_figures(project: Project, wanted: TraceFilter, split: str = "") -> list[ToolFigures]:
    """Return the figures of the calls that a filter is about, the most frequent tool first; parts in their order.

    The filter's times, agent, version and tool count.
    """
    found: dict[tuple[str, str], ToolFigures] = {}
    for row in _counted(project, wanted, split):
        part = str(row["part"] or "") if split else ""
        _add(found.setdefault((row["tool"], part), ToolFigures(row["tool"], part)), row)
    calls = Counter[str]()
    for (tool, _), figures in found.items():
        calls[tool] += figures.calls
    return sorted(found.values(), key=lambda each: (-calls[each.tool], each.tool, each.part))


def _add(figures: ToolFigures, row: Mapping[str, Any]) -> None:
    count: int = row["count"]
    figures.calls += count
    figures.days[row["day"]] += count
    if row["error_class"]:
        figures.errors[row["error_class"]] += count
        if row["error_class"] not in ("empty", "partial"):
            figures.failed_days[row["day"]] += count
    if row["arguments_fit"] is not None:
        figures.checked += count
        figures.misfits += 0 if row["arguments_fit"] else count
    if row["step"] is not None:
        figures.durations[row["step"]] += count


def _counted(project: Project, wanted: TraceFilter, split: str) -> Iterator[dict[str, Any]]:
    since, until = wanted.times
    uses = ToolUse.objects.filter(project=project)
    # As the list of traces is narrowed down, by the ids of traces: the figures and the lists that they open agree.
    uses = uses if since is None else uses.filter(came_at__gte=since, trace__gte=first_id(since))
    uses = uses if until is None else uses.filter(came_at__lt=until)
    equal = {"tool": wanted.tool, "agent": wanted.agent, "agent_version": wanted.version}
    uses = uses.filter(**{column: value for column, value in equal.items() if value})
    uses = uses.annotate(
        day=TruncDate("came_at"),
        step=Cast(Floor(Ln(F("duration_ms") + _LEAST_MS) / _RATIO), IntegerField()),
    )
    columns = ["tool", "error_class", "arguments_fit", "day", "step"]
    if split in SPLITS and split != "day":
        uses = uses.annotate(part=F(SPLITS[split]))
        columns.append("part")
    rows = uses.values(*columns).annotate(count=Count("pk")).order_by()
    return (row | {"part": row["day"]} if split == "day" else row for row in rows.iterator())


@dataclass(frozen=True, slots=True)
class Bar:
    """One day as a bar of a small picture, in percent of its width and height; `failed` is the height of the errors."""

    day: date
    calls: int
    errors: int
    left: float
    width: float
    height: float
    failed: float

    @property
    def top(self) -> float:
        """Where the bar begins, from above."""
        return 100 - self.height

    @property
    def failed_top(self) -> float:
        """Where the errors begin, from above."""
        return 100 - self.failed


def bars(figures: Sequence[ToolFigures]) -> list[Bar]:
    """Return the days of all of these calls as bars, days without a call included."""
    days, failed = Counter[date](), Counter[date]()
    for each in figures:
        days += each.days
        failed += each.failed_days
    if not days:
        return []
    first, last = min(days), max(days)
    count = (last - first).days + 1
    if count > 400:
        return []
    most = max(days.values())
    return [
        Bar(
            day=day,
            calls=days[day],
            errors=failed[day],
            left=round(100 * at / count, 3),
            width=round(80 / count, 3),
            height=round(100 * days[day] / most, 2),
            failed=round(100 * failed[day] / most, 2),
        )
        for at in range(count)
        if (day := date.fromordinal(first.toordinal() + at))
    ]
