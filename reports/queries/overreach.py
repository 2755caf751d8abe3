"""Read what a grading's wrong calls cost and give away; kept, because a finished grading does not change."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count

from labeling.models import VersionEntry
from reports.analyses.costs import Cell
from reports.analyses.overreach import CallPrice, Overreach, overreach_of
from reports.filters.case_filters import Filters
from reports.filters.matrix_cells import matrix_counts
from reports.filters.offered import A_DAY, specs_by_name
from toolevals.grading.values import Expectation
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.counts.counted_cases import View
from toolevals.runs.counts.tool_spending import Amount, ToolSpent
from toolevals.runs.models import AlignedPair, Grading, ToolSpending

AT_ONCE: Final = 2000


def grading_overreach(grading: Grading) -> Overreach:
    """Return the cells of the matrix of aligned calls in which there are excess calls."""
    key = f"reports:overreach-3:{grading.pk}"
    overreach: Overreach | None = cache.get(key)
    if overreach is None:
        counts = matrix_counts(grading, Filters(View.ALIGNED))
        needless = any(expected == NONE != actual for expected, actual in counts)
        let_be = _let_be(grading) if needless else {}
        overreach = overreach_of(counts, specs_by_name(grading), let_be, _prices(grading))
        cache.set(key, overreach, timeout=A_DAY)
    return overreach


def _prices(grading: Grading) -> dict[str, CallPrice]:
    """Return the mean of what a call to each tool takes, over the calls whose step says it."""
    rows = ToolSpending.objects.filter(grading=grading).values_list("tool", "calls", "steps", "measured")
    spent = [ToolSpent.from_document(*row) for row in rows]
    return {each.tool: CallPrice(_mean(each.tokens_in, each.tokens_out), _mean(each.cost)) for each in spent}


def _mean(*amounts: Amount) -> float | None:
    means = [each.total / each.known for each in amounts if each.total is not None and each.known]
    return sum(means) if len(means) == len(amounts) else None


def _let_be(grading: Grading) -> Counter[Cell]:
    """Count the calls that no one expected and that the gold lets be, by their cell."""
    pairs = AlignedPair.objects.filter(grading=grading, expected=NONE).exclude(actual=NONE).order_by()
    rows = pairs.values_list("case__transcript__entry__revision", "actual").annotate(count=Count("*"))
    called: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for revision, actual, count in rows.iterator():
        called[revision][actual] += count
    counts: Counter[Cell] = Counter()
    entries, left = VersionEntry.objects.filter(version=grading.dataset_version_id), iter(called)
    # By their ids, some at a time: a database that knows little of new tables may join all of them for each entry.
    while some := list(islice(left, AT_ONCE)):
        golds = entries.filter(revision__in=some)
        for revision, document in golds.values_list("revision", "gold__expectation"):
            expectation = Expectation.from_document(document)
            for actual, count in called[revision].items():
                if expectation.lets_be(actual):
                    counts[NONE, actual] += count
    return counts
