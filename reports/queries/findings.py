"""Read what was found in a grading's cases: counted when it finished, opened to its cases by an index."""

from __future__ import annotations

from reports.analyses.findings import Findings, findings_of
from reports.analyses.layers import WARNING, VerdictCounts, VerdictSums
from reports.filters.case_filters import CaseFilter
from reports.queries.grading import grading_sums, listed_cases
from reports.queries.summing import counted_number
from toolevals.runs.counts.kept_sums import kept_sums
from toolevals.runs.models import FindingCount, Grading


def grading_findings(grading: Grading, verdicts: VerdictCounts, sums: VerdictSums | None = None) -> Findings:
    """Return what was found in a grading's cases."""
    sums = grading_sums(grading) if sums is None else sums
    counts = FindingCount.objects.filter(grading=grading).order_by()
    parts = kept_sums(grading, "findings") if sums else {}
    return findings_of(counts.values_list("family", "kind", "tool", "cases", "count"), verdicts, sums, parts)


def warnings_of(grading: Grading, verdicts: VerdictCounts) -> dict[str, int]:
    """Return the number of passed cases that a layer which only warns failed, by layer; layers without any left out."""
    warnings = {}
    for layer in WARNING:
        if verdicts.get(layer, {}).get("failed"):
            case_filter = CaseFilter(warned=layer)
            counted = counted_number(grading, case_filter)
            warnings[layer] = listed_cases(grading, case_filter).count() if counted is None else counted
    return {layer: count for layer, count in warnings.items() if count}
