"""Works out figures of tools in production: what was counted of calls, put together for a table and a picture."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from toolevals.grading.metrics.clustered import ExampleSums, Rate
from toolevals.traces.production.kept_hours import Times
from toolevals.traces.production.tool_counts import NO_ERRORS, ByTrace, ToolCounts, duration_ms, known_rate, tool_counts
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Project

# What a table can be split by beside tools, and the field of the counts that says it.
SPLITS: Final[Mapping[str, str]] = {"version": "version", "agent": "agent", "day": "day"}
PERCENTILES: Final = (50, 95, 99)
# So many rows of a table are drawn.
MOST_MARKS: Final = 12


@dataclass(slots=True)
class ToolFigures:
    """The figures of the calls of one tool, of one part of them where the table is split.

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
    by_trace: ByTrace = field(default_factory=ByTrace)
    # The share of all calls of the part; of nothing else where a filter names the tool.
    share: ExampleSums = field(default_factory=ExampleSums)

    @property
    def errors_known(self) -> Rate:
        """The share of calls with an error, with its interval clustered by trace."""
        return known_rate(self.failed, self.calls, self.by_trace.errors)

    @property
    def misfits_known(self) -> Rate:
        """The share of checked calls whose arguments do not fit, likewise."""
        return known_rate(self.misfits, self.checked, self.by_trace.misfits)

    def add(self, counts: ToolCounts) -> None:
        """Take in what was counted of some of the calls."""
        self.calls += counts.calls
        self.checked += counts.checked
        self.misfits += counts.misfits
        self.errors.update(counts.errors)
        self.durations.update(counts.durations)
        self.days[counts.day] += counts.calls
        self.failed_days[counts.day] += counts.failed
        self.by_trace += counts.by_trace

    @property
    def failed(self) -> int:
        """Calls that came back with an error; an answer that is empty or partial is none."""
        return sum(count for name, count in self.errors.items() if name not in NO_ERRORS)

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
        return duration_ms(step)

    @property
    def percentiles(self) -> list[float | None]:
        """The percentiles that the table shows."""
        return [self.percentile(each) for each in PERCENTILES]


def tool_figures(project: Project, trace_filter: TraceFilter, split: str = "") -> list[ToolFigures]:
    """Return the figures of the calls that a filter is about; its times, agent, version and tool count."""
    return figures_of(counts_of(project, trace_filter, trace_filter.times), split)


def counts_of(project: Project, trace_filter: TraceFilter, times: Times) -> Iterator[ToolCounts]:
    """Yield what was counted between two times of calls of the agent, version and tool that a filter is about."""
    return tool_counts(project, times, tool=trace_filter.tool, agent=trace_filter.agent, version=trace_filter.version)


def figures_of(counted: Iterable[ToolCounts], split: str = "") -> list[ToolFigures]:
    """Return what was counted as figures, the most frequent tool first; parts in their order."""
    found: dict[tuple[str, str], ToolFigures] = {}
    for counts in counted:
        part = str(getattr(counts, SPLITS[split])) if split in SPLITS else ""
        found.setdefault((counts.tool, part), ToolFigures(counts.tool, part)).add(counts)
    calls = Counter[str]()
    all_tools: defaultdict[str, ByTrace] = defaultdict(ByTrace)
    for (tool, part), figures in found.items():
        calls[tool] += figures.calls
        all_tools[part] += figures.by_trace
    for each in found.values():
        each.share = each.by_trace.share_of(all_tools[each.part])
    return sorted(found.values(), key=lambda each: (-calls[each.tool], each.tool, each.part))


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
        """Return where the bar begins, from above."""
        return 100 - self.height

    @property
    def failed_top(self) -> float:
        """Return where the errors begin, from above."""
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


@dataclass(frozen=True, slots=True)
class ErrorMark:
    """The share of errors of one row as a mark, its interval and its value in percent of the width of the picture."""

    figures: ToolFigures
    left: float
    width: float
    at: float


@dataclass(frozen=True, slots=True)
class ErrorMarks:
    """The marks of the first rows of a table on one scale, that runs from nothing to the share `end`."""

    marks: Sequence[ErrorMark] = ()
    end: float = 1.0


def error_marks(figures: Sequence[ToolFigures]) -> ErrorMarks:
    """Return the first rows of a table as marks; none of a row by itself, which there is nothing to compare with."""
    rates = [(each, each.errors_known) for each in figures[:MOST_MARKS]]
    known = [(each, found.interval, found.value or 0.0) for each, found in rates if found.interval is not None]
    if len(known) < 2:
        return ErrorMarks()
    # The scale ends at a whole twentieth.
    end = math.ceil(20 * max(ends.high for _, ends, _ in known)) / 20
    return ErrorMarks(
        [
            ErrorMark(
                each,
                left=round(100 * ends.low / end, 2),
                width=round(100 * (ends.high - ends.low) / end, 2),
                at=round(100 * value / end, 2),
            )
            for each, ends, value in known
        ],
        end,
    )
