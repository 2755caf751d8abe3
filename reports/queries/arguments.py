"""Read rows of wrong arguments: counted when a grading finishes, opened to their cases by an index."""

from __future__ import annotations

from reports.analyses.arguments import ArgumentRow, argument_rows
from reports.filters.case_filters import Filters
from reports.filters.matrix_cells import matrix_counts
from toolevals.runs.counts.counted_cases import View
from toolevals.runs.counts.kept_sums import kept_sums
from toolevals.runs.models import ArgumentCount, Grading


def grading_arguments(grading: Grading, tool: str = "") -> tuple[ArgumentRow, ...]:
    """Return the parameters that are wrong somewhere in a grading, of one tool if it is named."""
    counts = ArgumentCount.objects.filter(grading=grading, **({"tool": tool} if tool else {}))
    rows = counts.values_list("tool", "argument", "kind", "count")
    sums = kept_sums(grading, "arguments")
    return argument_rows(rows, matrix_counts(grading, Filters(View.ALIGNED)), sums)
