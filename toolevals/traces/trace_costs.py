"""Counts what traces took, and how many repeated a call in a loop: by version, agent, model or day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Sum, Value, When
from django.utils import timezone

from toolevals.traces.filters import TraceFilter
from toolevals.traces.models import SpanVerdict, Trace
from toolevals.traces.querysets.traces import TraceQuerySet, first_id
from toolevals.traces.rule_trends import days_of
from toolevals.workspace.models import Project

# What a table can be split by, and the field of a trace that says it.
SPLITS: Final[Mapping[str, str]] = {"version": "agent_version", "agent": "agent", "model": "model", "day": ""}
LOOPS: Final = "loops"
MOST_ROWS: Final = 500


@dataclass(frozen=True, slots=True)
class CostFigures:
    """Holds what the traces of one part took together.

    `costed` counts the traces whose cost is known: `cost` is the sum of these, in the currency in which costs came, and
    None where there is none. `looped` counts the traces in which the rule on loops failed.
    """

    part: str
    traces: int
    input_tokens: int
    output_tokens: int
    costed: int
    cost: float | None
    looped: int

    @property
    def cost_of_each(self) -> float | None:
        """The mean cost of the traces whose cost is known."""
        return self.cost / self.costed if self.cost is not None and self.costed else None


def cost_figures(project: Project, wanted: TraceFilter, split: str = "") -> list[CostFigures]:
    """Return what the traces took that a filter of `trend_filter` is about, in the order of their parts."""
    if wanted.problems:
        return []
    rows = Trace.objects.in_project(project).summed_up().between(*wanted.times)
    equal = {"agent": wanted.agent, "agent_version": wanted.version}
    rows = rows.filter(**{column: value for column, value in equal.items() if value})
    looped = SpanVerdict.objects.filter(project=project, trace=OuterRef("pk"), rule=LOOPS, status="failed")
    found = (
        _parted(rows, wanted, split)
        .values("part")
        .annotate(
            traces=Count("pk"),
            given=Sum("input_tokens"),
            made=Sum("output_tokens"),
            costed=Count("cost"),
            spent=Sum("cost"),
            looped=Count("pk", filter=Exists(looped)),
        )
        .order_by("part")
    )
    names = ("part", "traces", "given", "made", "costed", "spent", "looped")
    return [
        CostFigures(part, traces, given or 0, made or 0, costed, spent, looped)
        for part, traces, given, made, costed, spent, looped in found.values_list(*names)
    ]


def _parted(rows: TraceQuerySet, wanted: TraceFilter, split: str) -> Any:
    """Add to each trace the `part` that it is in; all are in one where the table is not split."""
    days = days_of(wanted) if split == "day" else []
    if days:
        named = [str(timezone.localdate(each)) for each in days]
        cases = [When(pk__lt=first_id(end), then=Value(name)) for name, end in zip(named, days[1:], strict=False)]
        return rows.annotate(part=Case(*cases, default=Value(named[-1]), output_field=CharField()))
    column = SPLITS.get(split, "")
    return rows.annotate(part=F(column) if column else Value("", output_field=CharField()))
